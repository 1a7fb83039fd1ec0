"""The model's sizes, and the cosines that it displaces strokes by. Needs NumPy alone."""

import numpy as np
from recognition.arrays import Float64

from .glyphs import POINTS

STYLE, VARIATION, MODES = 16, 24, 20  # numbers of a writer, numbers of one drawing, cosines along a stroke


def cosines(points: int = POINTS, modes: int = MODES) -> Float64:
    """Orthonormal rows (modes, points), the discrete cosine transform's (type II): displacements along a stroke."""
    at = (np.arange(points) + 0.5) / points
    rows = np.cos(np.pi * np.arange(modes)[:, None] * at) * np.sqrt(2 / points)
    rows[0] /= np.sqrt(2)
    return rows


COSINES = cosines()
