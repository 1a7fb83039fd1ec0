"""Numbers about a drawing that do not depend on how its ink is divided into strokes. Needs NumPy alone.

Lines are (n, 2) in body heights, y down, with y = 0 at the headline.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from recognition.arrays import AnyPoints, Float32, Float64

SIMPLE = 0.02  # body heights, about a pixel of the source


def simplified(points: npt.ArrayLike | AnyPoints, within: float = SIMPLE) -> Float64:
    """The corners (k, 2) of a polyline that stays `within` of the line: Ramer, 1972; Douglas and Peucker, 1973."""
    line = np.asarray(points, float)
    if len(line) < 3:
        return line
    way = line[-1] - line[0]
    apart = line - line[0]
    if np.hypot(*way) > 1e-6:
        away = np.abs(apart[:, 0] * way[1] - apart[:, 1] * way[0]) / np.hypot(*way)
    else:
        away = np.hypot(*apart.T)
    k = int(away.argmax())
    if away[k] <= within:
        return line[[0, -1]]
    return np.concatenate([simplified(line[: k + 1], within)[:-1], simplified(line[k:], within)])


def cropped(strokes: Iterable[AnyPoints], top: float = 0.1) -> list[AnyPoints]:
    """The parts of strokes below y = `top` with at least four points."""
    out = []
    for stroke in strokes:
        inside = stroke[:, 1] > top
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
        out += [stroke[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 3]
    return out


def traits(lines: Sequence[AnyPoints]) -> Float32:
    """25 numbers of lines in points 0.022 apart.

    Length, width, height; mean and standard deviation of x and y; over three distances the mean and five percentiles of
    how much the line turns.
    """
    ink = np.concatenate(lines)
    numbers = [sum(map(len, lines)) * 0.022, *np.ptp(ink, 0), *ink.mean(0), *ink.std(0)]
    for reach in (2, 4, 8):
        found = [np.abs(turning(line, reach)) for line in lines if len(line) > 2 * reach + 1]
        turns = np.concatenate(found) if found else np.zeros(1)
        numbers += [turns.mean(), *np.percentile(turns, [25, 50, 75, 90, 97])]
    return np.array(numbers, np.float32)


def turning(line: AnyPoints, reach: int) -> AnyPoints:
    """The angle in radians between the `reach` steps before and after a point; (n - 2 reach,)."""
    step = line[reach:] - line[:-reach]
    a, b = step[:-reach], step[reach:]
    angle: AnyPoints = np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(1))
    return angle
