"""Numbers about a line of pen positions. Needs NumPy alone."""

import numpy as np
from recognition.arrays import AnyPoints, Float32, Float64


def length(points: AnyPoints) -> float:
    """The length of a line (n, 2), in its unit."""
    total: float = np.hypot(*np.diff(points, axis=0).T).sum()
    return total


def geometry(points: Float64) -> Float32:
    """Features (n, 7) of evenly spaced points (n, 2) in body heights, from which a pen's speed is predicted.

    The angle in radians that the line turns by over 0.06, 0.15 and 0.3 body heights to each side; how near the
    beginning and the end are, 1 there and 1/e at 0.2 body heights; the share of the line that is done; the log of its
    length.
    """
    n, total = len(points), length(points)
    step = total / (n - 1)
    rows = []
    for reach in (0.06, 0.15, 0.3):
        k = max(1, min(round(float(reach / step)), n // 3))
        padded = np.concatenate([np.repeat(points[:1], k, 0), points, np.repeat(points[-1:], k, 0)])
        back, ahead = points - padded[:n], padded[2 * k :] - points
        cosine = (back * ahead).sum(1) / (np.hypot(*back.T) * np.hypot(*ahead.T) + 1e-6)
        cosine[:k] = cosine[n - k :] = 1.0
        rows.append(np.arccos(np.clip(cosine, -1, 1)))
    along = np.linspace(0, total, n)
    rows += [np.exp(-along / 0.2), np.exp(-(total - along) / 0.2), along / total, np.full(n, np.log(total))]
    return np.stack(rows, 1).astype(np.float32)
