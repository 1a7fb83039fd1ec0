"""How uneven the headlines of drawings are. Strokes are (n, 2), y down. Needs NumPy alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from recognition.arrays import AnyPoints, Float64

from .lines import length
from .traits import simplified

WIDE, FLAT, HIGH = 0.6, 0.2, 0.35  # shares of the drawing's width, height and height: what is a headline
QUARTILES = (25, 50, 75, 95)


@dataclass
class Headline:
    """One headline; lengths in body heights."""

    drawing: list[Float64]  # the whole drawing in body heights; y = 0 is the headline's mean height, x = 0 its left end
    slope: float  # of the straight line that is nearest to it
    rms: float  # of its distances from this line
    largest: float  # of these distances


def headline(strokes: Sequence[AnyPoints]) -> Headline | None:
    """The headline of a drawing of one letter: its widest stroke that is flat and high up; None if there is none."""
    ink = np.concatenate(strokes)
    (left, top), (right, bottom) = ink.min(0), ink.max(0)
    flat = [
        s
        for s in strokes
        if np.ptp(s[:, 0]) > WIDE * (right - left)
        and np.ptp(s[:, 1]) < FLAT * (bottom - top)
        and s[:, 1].mean() < top + HIGH * (bottom - top)
    ]
    if not flat:
        return None
    line = max(flat, key=lambda s: float(np.ptp(s[:, 0])))
    level = float(line[:, 1].mean())
    body = float(bottom) - level
    origin = np.array([line[:, 0].min(), level])
    drawing = [(np.asarray(s, float) - origin) / body for s in strokes]
    return Headline(drawing, *unevenness((np.asarray(line, float) - origin) / body))


def unevenness(line: Float64) -> tuple[float, float, float]:
    """Slope, root mean square and largest distance of a line from the nearest straight one.

    The line is simplified first, as the strokes of the public data are.
    """
    x, y = evenly(simplified(line)).T
    slope, offset = np.polyfit(x, y, 1)
    rest = y - slope * x - offset
    return float(slope), float(rest.std()), float(np.abs(rest).max())


def evenly(line: Float64, n: int = 64) -> Float64:
    """`n` evenly spaced points of a polyline (m, 2)."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.linspace(0, length(line), n)
    return np.stack([np.interp(at, along, line[:, k]) for k in (0, 1)], 1)


def found(drawings: Iterable[Sequence[AnyPoints]]) -> list[Headline]:
    """The headlines of those drawings that have one."""
    return [one for one in map(headline, drawings) if one]


def quartiles(values: Iterable[float]) -> list[float]:
    """The QUARTILES of the values' sizes."""
    return [round(float(v), 4) for v in np.percentile(np.abs(list(values)), QUARTILES)]


def furthest_apart(first: Iterable[float], second: Iterable[float]) -> float:
    """The largest difference of the cumulative distributions of two sets of sizes (Kolmogorov and Smirnov), 0..1."""
    a, b = (np.sort(np.round(np.abs(list(v)), 6)) for v in (first, second))
    both = np.concatenate([a, b])
    share = [np.searchsorted(v, both, side="right") / len(v) for v in (a, b)]
    return float(np.abs(share[0] - share[1]).max())
