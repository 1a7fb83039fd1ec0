"""Recordings and their features on disk: what is synthesised, what people said, and the batches of a training."""
