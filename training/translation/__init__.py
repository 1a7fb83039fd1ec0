"""Trains, exports and measures the bundled Panjabi <-> English translator."""
