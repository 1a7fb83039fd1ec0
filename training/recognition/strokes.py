"""Files of pen strokes in, drawings out: read, smoothed, scaled.

A normalised drawing lies about the origin with its longest side 1, y down, in points about `SPACING` apart.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .arrays import AnyPoints, Points
from .labels import LETTERS

SPACING = 0.03
# omniglot-gurmukhi: drawings that its SOURCE.md lists as defective.
DEFECTIVE = {"1172_07", "1196_11", "1196_20"}


@dataclass
class Drawing:
    """One character as somebody drew it."""

    label: str
    origin: int  # the drawer's number in omniglot-gurmukhi, from 1; 0 for other sources
    strokes: list[Points]


def resample(points: npt.ArrayLike, spacing: float) -> Points:
    """The same polyline (n, 2) in points evenly spaced by at most `spacing`, its unit; at least two points."""
    line = np.asarray(points, np.float32)
    steps = np.hypot(*np.diff(line, axis=0).T) if len(line) > 1 else np.zeros(0)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    if along[-1] < 1e-6:
        return np.repeat(line[:1], 2, 0)
    n = max(2, int(np.ceil(along[-1] / spacing)) + 1)
    at = np.linspace(0, along[-1], n)
    return np.stack([np.interp(at, along, line[:, k]) for k in (0, 1)], 1).astype(np.float32)


def smoothed(points: Points, rounds: int) -> Points:
    """The line (n, 2) smoothed `rounds` times with the weights 1/4, 1/2, 1/4; both ends stay."""
    points = points.copy()
    for _ in range(rounds):
        if len(points) > 2:
            points[1:-1] = 0.25 * points[:-2] + 0.5 * points[1:-1] + 0.25 * points[2:]
    return points


def catmull_rom(points: npt.ArrayLike, per_span: int = 12) -> Points:
    """A uniform Catmull-Rom spline through all points (n, 2), `per_span` points from each to the next.

    Catmull and Rom, A class of local interpolating splines, 1974. A line that ends where it began is closed smoothly.
    """
    p = np.asarray(points, np.float32)
    if len(p) < 3:
        return p
    closed = np.allclose(p[0], p[-1])
    before, after = (p[-2], p[1]) if closed else (2 * p[0] - p[1], 2 * p[-1] - p[-2])
    q = np.concatenate([[before], p, [after]])
    t = np.linspace(0, 1, per_span, endpoint=False)[:, None]
    spans = []
    for a, b, c, d in zip(q[:-3], q[1:-2], q[2:-1], q[3:], strict=True):
        spans.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))
    return np.concatenate([*spans, p[-1:]])


def normalised(strokes: Sequence[npt.ArrayLike | AnyPoints], smoothing: int = 0) -> list[Points]:
    """Strokes of any unit scaled to a longest side of 1 about the origin, resampled, smoothed so many times."""
    everything = np.concatenate([np.asarray(s, np.float32) for s in strokes])
    low, high = everything.min(0), everything.max(0)
    scale = 1.0 / max((high - low).max(), 1e-6)
    middle = (low + high) / 2
    out = []
    for stroke in strokes:
        points = resample((np.asarray(stroke, np.float32) - middle) * scale, SPACING)
        out.append(smoothed(points, smoothing))
    return out


def omniglot(data: Path, characters: Collection[str] = LETTERS) -> list[Drawing]:
    """The drawings of these characters in `omniglot-gurmukhi`, whose classes 02 and 36 are one letter.

    `data`: the folder of the public data.
    """
    drawings = []
    path = data / "handwriting/omniglot-gurmukhi/gurmukhi_strokes.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["strokes"] is None or row["id"] in DEFECTIVE or row["char"] not in characters:
            continue
        strokes = [s for s in row["strokes"] if len(s) > 0]
        drawings.append(Drawing(row["char"], row["drawer"], normalised(strokes, smoothing=3)))
    return drawings


def templates() -> list[Drawing]:
    """The drawings of `templates.json`, which were written for this project."""
    text = Path(__file__).with_name("templates.json").read_text(encoding="utf-8")
    rows = json.loads(text)["templates"]
    return [Drawing(label, 0, normalised([catmull_rom(s) for s in strokes], smoothing=1)) for label, strokes in rows]
