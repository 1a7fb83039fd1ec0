"""Digit and alphabet recognition: training pictures, training, export and evaluation."""
