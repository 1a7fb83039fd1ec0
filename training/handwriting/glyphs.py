"""The glyph table: every glyph's class, headline spans and strokes, read from `strokes.txt`.

Lengths are in body heights. y = 0 is the headline, y = 1 the baseline, y points down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from recognition.arrays import AnyPoints, Float64

MODEL = "handwriting-pa"
STROKES, POINTS = 5, 48  # of the model's output; a glyph uses as many strokes as it has
CLASSES = ("letter", "digit", "mark", "sign", "above", "below")
FINE = 0.01  # distance between the points of a stroke read here
DOT = 0.034  # radius of the small turn of the pen that makes a dot


@dataclass
class Glyph:
    """One glyph as it is taught."""

    text: str  # in NFC
    kind: str  # one of CLASSES
    head: Float64  # (2, 2): x0, x1 of each headline span; absent where x0 >= x1
    strokes: list[Float64]  # of (n, 2), in points FINE apart


def curve(points: Float64, corners: Sequence[bool]) -> Float64:
    """A smooth line through the points (n, 2) that turns sharply at corners (n); in points FINE apart."""
    breaks = [0, *[k for k, c in enumerate(corners) if c and 0 < k < len(points) - 1], len(points) - 1]
    parts = [spline(points[a : b + 1]) for a, b in pairwise(breaks)]
    return even(np.concatenate([parts[0], *[p[1:] for p in parts[1:]]]))


def spline(points: npt.ArrayLike | AnyPoints, per_span: int = 16) -> Float64:
    """A centripetal Catmull-Rom spline through the points (n, 2), `per_span` points from each to the next.

    Barry and Goldman's recursion (A recursive evaluation algorithm for a class of Catmull-Rom splines, 1988). Two
    points give a straight line; a line that ends where it began is closed smoothly.
    """
    p = np.asarray(points, float)
    closed = len(p) > 3 and np.allclose(p[0], p[-1])
    before, after = (p[-2], p[1]) if closed else (2 * p[0] - p[1], 2 * p[-1] - p[-2])
    q = np.concatenate([[before], p, [after]])
    out = [p[:1], *[span(q[k : k + 4], per_span) for k in range(len(q) - 3)]]
    return np.concatenate(out)


def span(q: Float64, n: int) -> Float64:
    """`n` points of the spline from the second to the third of four points (4, 2), without the second itself."""
    t = np.cumsum([0.0, *[max(np.hypot(*(v - u)), 1e-6) ** 0.5 for u, v in pairwise(q)]])
    s = np.linspace(t[1], t[2], n + 1)[1:, None]

    def mix(u: Float64, v: Float64, i: int, j: int) -> Float64:
        return ((t[j] - s) * u + (s - t[i]) * v) / (t[j] - t[i])

    ab, bc, cd = mix(q[0], q[1], 0, 1), mix(q[1], q[2], 1, 2), mix(q[2], q[3], 2, 3)
    return mix(mix(ab, bc, 0, 2), mix(bc, cd, 1, 3), 1, 2)


def even(points: npt.ArrayLike | AnyPoints, n: int | None = None, spacing: float = FINE) -> Float64:
    """The same line (m, 2) in `n` evenly spaced points; without `n` in points `spacing` apart, at least 8."""
    line = np.asarray(points, float)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    if n is None:
        n = max(8, round(float(along[-1] / spacing)) + 1)
    at = np.linspace(0, along[-1], n)
    return np.stack([np.interp(at, along, line[:, k]) for k in (0, 1)], 1)


def stroke(text: str) -> Float64:
    """A stroke (n, 2) from its notation in `strokes.txt`, hundredths of a body height."""
    if text.startswith("@"):
        centre = np.array([float(v) for v in text[1:].split(",")]) / 100
        turn = np.linspace(0, 2.6 * np.pi, 40)
        radius = DOT * np.clip(np.linspace(1.15, 0.2, 40), 0, 1)
        return even(centre + radius[:, None] * np.stack([np.cos(turn - 2), np.sin(turn - 2)], 1))
    words = text.split()
    points = np.array([[float(v) for v in w.rstrip("!").split(",")] for w in words]) / 100
    return curve(points, [w.endswith("!") for w in words])


def glyph(line: str) -> Glyph:
    """The glyph of a line of `strokes.txt`; ValueError where its class or number of strokes is not allowed."""
    text, kind, spans, drawn = (part.strip() for part in line.split(" | "))
    strokes = [stroke(part.strip()) for part in drawn.split(" / ")]
    if kind not in CLASSES or len(strokes) > STROKES:
        raise ValueError(f"{text}: class {kind}, {len(strokes)} strokes")
    head = np.array([[1.0, 0.0], [1.0, 0.0]])
    if spans != "-":
        for k, ends in enumerate(spans.split()):
            head[k] = [float(v) / 100 for v in ends.split(":")]
    if kind in ("letter", "digit", "mark"):
        left = min(s[:, 0].min() for s in strokes)
        strokes = [s - [left, 0] for s in strokes]
        head -= left
    return Glyph(text, kind, head, strokes)


def table() -> list[Glyph]:
    """All glyphs, in the order of the model's ids; ValueError where one is there twice."""
    lines = Path(__file__).with_name("strokes.txt").read_text("utf-8").splitlines()
    glyphs = [glyph(line) for line in lines if line and not line.startswith("# ")]
    if len({g.text for g in glyphs}) < len(glyphs):
        raise ValueError("a glyph is in strokes.txt twice")
    return glyphs
