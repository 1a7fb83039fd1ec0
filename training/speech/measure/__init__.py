"""Measurements: the service, checkpoints, other programs."""
