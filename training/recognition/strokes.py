"""Pen strokes: read, smooth, normalise.

A drawing is a list of strokes; a stroke is a float array (n, 2) of x, y with y down, in a box whose
longest side is 1, centred on the origin, points about 0.03 apart.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .labels import LETTERS

SPACING = 0.03
# omniglot-gurmukhi: drawings its SOURCE.md lists as defective.
DEFECTIVE = {"1172_07", "1196_11", "1196_20"}


@dataclass
class Drawing:
    label: str
    origin: int  # the drawer's number, or 0 when it is nobody's in omniglot-gurmukhi
    strokes: list


def resample(points, spacing):
    """The same polyline with evenly spaced points."""
    points = np.asarray(points, np.float32)
    steps = np.hypot(*np.diff(points, axis=0).T) if len(points) > 1 else np.zeros(0)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    if along[-1] < 1e-6:
        return np.repeat(points[:1], 2, 0)
    n = max(2, int(np.ceil(along[-1] / spacing)) + 1)
    at = np.linspace(0, along[-1], n)
    return np.stack([np.interp(at, along, points[:, k]) for k in (0, 1)], 1).astype(np.float32)


def smoothed(points, rounds):
    """Binomial smoothing that keeps both ends."""
    points = points.copy()
    for _ in range(rounds):
        if len(points) > 2:
            points[1:-1] = 0.25 * points[:-2] + 0.5 * points[1:-1] + 0.25 * points[2:]
    return points


def catmull_rom(points, per_span=12):
    """A curve through all points (centripetal would differ little at these spacings)."""
    p = np.asarray(points, np.float32)
    if len(p) < 3:
        return p
    closed = np.allclose(p[0], p[-1])
    before, after = (p[-2], p[1]) if closed else (2 * p[0] - p[1], 2 * p[-1] - p[-2])
    q = np.concatenate([[before], p, [after]])
    t = np.linspace(0, 1, per_span, endpoint=False)[:, None]
    spans = []
    for a, b, c, d in zip(q[:-3], q[1:-2], q[2:-1], q[3:]):
        spans.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))
    return np.concatenate(spans + [p[-1:]])


def normalised(strokes, smoothing=0):
    """Scaled to a longest side of 1 about the origin, resampled, smoothed."""
    everything = np.concatenate([np.asarray(s, np.float32) for s in strokes])
    low, high = everything.min(0), everything.max(0)
    scale = 1.0 / max((high - low).max(), 1e-6)
    middle = (low + high) / 2
    out = []
    for stroke in strokes:
        points = resample((np.asarray(stroke, np.float32) - middle) * scale, SPACING)
        out.append(smoothed(points, smoothing))
    return out


def omniglot(data: Path, characters=LETTERS):
    """The drawings of these characters in `omniglot-gurmukhi`; classes 02 and 36 are one letter."""
    drawings = []
    path = data / "handwriting/omniglot-gurmukhi/gurmukhi_strokes.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["strokes"] is None or row["id"] in DEFECTIVE or row["char"] not in characters:
            continue
        strokes = [s for s in row["strokes"] if len(s) > 0]
        drawings.append(Drawing(row["char"], row["drawer"], normalised(strokes, smoothing=3)))
    return drawings


def templates():
    """The strokes written by hand for this project."""
    text = Path(__file__).with_name("templates.json").read_text(encoding="utf-8")
    rows = json.loads(text)["templates"]
    return [Drawing(label, 0, normalised([catmull_rom(s) for s in strokes], smoothing=1)) for label, strokes in rows]
