"""Digit and alphabet recognition: makes its training images, trains, exports and evaluates."""
