"""Texts: what is spoken, the letters that a network writes, and error rates."""
