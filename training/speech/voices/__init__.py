"""Synthesisers: text in, samples out."""
