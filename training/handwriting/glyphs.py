"""The glyph table: every glyph's class, headline spans and strokes, read from strokes.txt.

Unit: body heights, y = 0 the headline, y = 1 the baseline, y down.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

STROKES, POINTS = 5, 48  # of the model's output; a glyph uses as many strokes as it has
CLASSES = ("letter", "digit", "mark", "sign", "above", "below")
FINE = 0.01  # distance between the points of a stroke read here
DOT = 0.034  # radius of a dot's little turn of the pen


@dataclass
class Glyph:
    text: str
    kind: str
    head: np.ndarray  # (2, 2): x0, x1; absent where x0 >= x1
    strokes: list  # of (n, 2), finely and evenly spaced


def curve(points, corners):
    """A curve through the points, broken at corners; evenly spaced points."""
    breaks = [0, *[k for k, c in enumerate(corners) if c and 0 < k < len(points) - 1], len(points) - 1]
    parts = [spline(points[a : b + 1]) for a, b in zip(breaks[:-1], breaks[1:])]
    return even(np.concatenate([parts[0], *[p[1:] for p in parts[1:]]]))


def spline(points, per_span=16):
    """Centripetal Catmull-Rom; a straight line for two points."""
    p = np.asarray(points, float)
    closed = len(p) > 3 and np.allclose(p[0], p[-1])
    before, after = (p[-2], p[1]) if closed else (2 * p[0] - p[1], 2 * p[-1] - p[-2])
    q = np.concatenate([[before], p, [after]])
    out = [p[:1]]
    for a, b, c, d in zip(q[:-3], q[1:-2], q[2:-1], q[3:]):
        t = np.cumsum([0.0, *[max(np.hypot(*(v - u)), 1e-6) ** 0.5 for u, v in ((a, b), (b, c), (c, d))]])
        s = np.linspace(t[1], t[2], per_span + 1)[1:, None]

        def mix(u, v, i, j):
            return ((t[j] - s) * u + (s - t[i]) * v) / (t[j] - t[i])

        ab, bc, cd = mix(a, b, 0, 1), mix(b, c, 1, 2), mix(c, d, 2, 3)
        out.append(mix(mix(ab, bc, 0, 2), mix(bc, cd, 1, 3), 1, 2))
    return np.concatenate(out)


def even(points, n=None, spacing=FINE):
    """The same line with n (or evenly spaced) points."""
    points = np.asarray(points, float)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    if n is None:
        n = max(8, int(round(along[-1] / spacing)) + 1)
    at = np.linspace(0, along[-1], n)
    return np.stack([np.interp(at, along, points[:, k]) for k in (0, 1)], 1)


def stroke(text):
    if text.startswith("@"):
        centre = np.array([float(v) for v in text[1:].split(",")]) / 100
        turn = np.linspace(0, 2.6 * np.pi, 40)
        radius = DOT * np.clip(np.linspace(1.15, 0.2, 40), 0, 1)
        return even(centre + radius[:, None] * np.stack([np.cos(turn - 2), np.sin(turn - 2)], 1))
    words = text.split()
    points = np.array([[float(v) for v in w.rstrip("!").split(",")] for w in words]) / 100
    return curve(points, [w.endswith("!") for w in words])


def table():
    """All glyphs, in the order of their ids."""
    glyphs = []
    for line in Path(__file__).with_name("strokes.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("# "):
            continue
        text, kind, spans, drawn = (part.strip() for part in line.split(" | "))
        strokes = [stroke(part.strip()) for part in drawn.split(" / ")]
        head = np.array([[1.0, 0.0], [1.0, 0.0]])
        if spans != "-":
            for k, span in enumerate(spans.split()):
                head[k] = [float(v) / 100 for v in span.split(":")]
        if kind in ("letter", "digit", "mark"):
            left = min(s[:, 0].min() for s in strokes)
            strokes = [s - [left, 0] for s in strokes]
            head -= left
        assert kind in CLASSES and len(strokes) <= STROKES, text
        glyphs.append(Glyph(text, kind, head, strokes))
    assert len({g.text for g in glyphs}) == len(glyphs)
    return glyphs
