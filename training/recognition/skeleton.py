"""A glyph's mask in, the pen strokes of its centre line out.

The thinning is Zhang and Suen's (A fast parallel algorithm for thinning digital patterns, CACM 27, 1984).
"""

from typing import TypeAlias

import numpy as np

from .arrays import AnyPoints, Bool, Float64, Points
from .strokes import normalised

Pixel: TypeAlias = tuple[int, int]  # y, x


def thin(mask: Bool) -> Bool:
    """The centre line, one pixel wide, of a boolean mask (height, width); the same shape."""
    image = np.pad(mask.astype(np.uint8), 1)
    while True:
        n_before = image.sum()
        for odd in (False, True):
            p = [
                np.roll(image, shift, (0, 1))
                for shift in [(1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1)]
            ]
            total = sum(p)
            turns = sum((p[k] == 0) & (p[(k + 1) % 8] == 1) for k in range(8))
            if odd:
                rule = (p[0] * p[2] * p[6] == 0) & (p[0] * p[4] * p[6] == 0)
            else:
                rule = (p[0] * p[2] * p[4] == 0) & (p[2] * p[4] * p[6] == 0)
            image[(image == 1) & (total >= 2) & (total <= 6) & (turns == 1) & rule] = 0
        if image.sum() == n_before:
            return image[1:-1, 1:-1].astype(bool)


class Line:
    """A centre line as a graph: pixels, and the neighbours that a pen could go on to."""

    def __init__(self, line: Bool) -> None:
        self.pixels: set[Pixel] = {(y, x) for y, x in np.argwhere(line).tolist()}
        self.degree: dict[Pixel, int] = {p: len(self.near(p)) for p in self.pixels}
        self.used: set[frozenset[Pixel]] = set()

    def near(self, p: Pixel) -> list[Pixel]:
        """The pixel's neighbours: straight ones first, then slanted ones that no straight one leads to."""
        y, x = p
        straight = [q for q in ((y, x + 1), (y + 1, x), (y, x - 1), (y - 1, x)) if q in self.pixels]
        slant = [
            q
            for q in ((y + 1, x + 1), (y + 1, x - 1), (y - 1, x - 1), (y - 1, x + 1))
            if q in self.pixels and not any(abs(q[0] - s[0]) + abs(q[1] - s[1]) == 1 for s in straight)
        ]
        return straight + slant

    def walk(self, start: Pixel, step: Pixel) -> list[Pixel]:
        """The way from `start` over `step` to the next end or junction; its steps are marked as used."""
        path = [start, step]
        self.used.add(frozenset((start, step)))
        while self.degree[path[-1]] == 2:
            ahead = [q for q in self.near(path[-1]) if frozenset((path[-1], q)) not in self.used]
            if not ahead:
                break
            self.used.add(frozenset((path[-1], ahead[0])))
            path.append(ahead[0])
        return path


def trace(line: Bool, shortest: float) -> list[Float64]:
    """Strokes (n, 2) of x, y in pixels along a centre line (height, width).

    A branch with one free end and fewer than `shortest` pixels is a spur of the thinning and is dropped.
    """
    graph = Line(line)
    degree, strokes = graph.degree, []
    nodes = [p for p in graph.pixels if degree[p] != 2]
    for start in sorted(nodes) + sorted(graph.pixels):
        for step in graph.near(start):
            if frozenset((start, step)) in graph.used:
                continue
            path = graph.walk(start, step)
            spur = len(path) < shortest and (degree[path[0]] == 1) != (degree[path[-1]] == 1)
            if not spur:
                strokes.append([[x, y] for y, x in path])
    strokes += [[[x, y], [x + 1, y]] for (y, x) in graph.pixels if degree[(y, x)] == 0]
    return merged([np.array(s, float) for s in strokes if len(s) > 1])


def merged(strokes: list[Float64]) -> list[Float64]:
    """Strokes that run straight on through a junction joined into one, the straightest pair first."""
    while True:
        best: tuple[float, int, int, Float64] | None = None
        for i, a in enumerate(strokes):
            for j, b in enumerate(strokes):
                if i >= j:
                    continue
                for x, y in ((a, b), (a[::-1], b), (a, b[::-1]), (a[::-1], b[::-1])):
                    if np.abs(x[-1] - y[0]).max() > 2.5:
                        continue
                    cosine = going_on(x, y)
                    if cosine > 0.8 and (best is None or cosine > best[0]):
                        best = (cosine, i, j, np.concatenate([x, y]))
        if best is None:
            return strokes
        _, i, j, both = best
        strokes = [s for k, s in enumerate(strokes) if k not in (i, j)] + [both]


def going_on(x: AnyPoints, y: AnyPoints) -> float:
    """Cosine of the angle between the end of line `x` and the beginning of line `y`, each over at most 12 points."""
    u, v = x[-1] - x[-min(12, len(x))], y[min(11, len(y) - 1)] - y[0]
    return float(u @ v / (np.hypot(*u) * np.hypot(*v) + 1e-6))


def strokes_of(mask: Bool, stroke_pixels: float) -> list[Points] | None:
    """Normalised strokes of a glyph (height, width) whose strokes are about so many pixels wide; None without ink."""
    found = trace(thin(mask), shortest=1.2 * stroke_pixels + 3)
    return normalised(found, smoothing=3) if found else None
