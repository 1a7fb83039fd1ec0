"""What `hands`, the test sets and the test pictures share to change and to compare drawings.

Drawings are normalised (`strokes`): about the origin, longest side 1, y down. `strength` scales the random changes,
1 is usual; lengths are in the drawing's unit and angles in radians.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from .arrays import AnyPoints, Float32, Float64, Points
from .labels import NUKTA


def is_headline(stroke: AnyPoints, low: AnyPoints, high: AnyPoints) -> bool:
    """Whether a stroke (n, 2) is long, flat and in the upper half of the drawing's box from `low` to `high` (x, y)."""
    size = np.maximum(high - low, 1e-3)
    span = stroke.max(0) - stroke.min(0)
    return bool(span[0] > 0.45 * size[0] and span[1] < 0.16 * size[1] and stroke[:, 1].mean() < low[1] + 0.45 * size[1])


def elastic(strokes: Sequence[Points], rng: np.random.Generator, strength: float) -> list[Points]:
    """All strokes displaced by one smooth random field: four plane waves of low frequency."""
    waves = []
    for _ in range(4):
        direction = rng.normal(0, 1, 2)
        frequency = direction / np.hypot(*direction) * rng.uniform(2.0, 8.0)
        waves.append(
            (frequency, rng.uniform(0, 2 * np.pi), rng.normal(0, 0.085, 2) * strength / np.hypot(*frequency) * 2.2)
        )
    out = []
    for stroke in strokes:
        moved = stroke.copy()
        for frequency, phase, size in waves:
            moved += np.sin(stroke @ frequency + phase)[:, None] * size
        out.append(moved.astype(np.float32))
    return out


def tremble(strokes: Sequence[Points], rng: np.random.Generator, strength: float) -> list[Points]:
    """Each stroke with smoothed noise along it, as an unsteady hand draws."""
    out = []
    for stroke in strokes:
        n = len(stroke)
        coarse = rng.normal(0, 0.012 * strength, (max(2, n // 4), 2))
        at = np.linspace(0, len(coarse) - 1, n)
        noise = np.stack([np.interp(at, np.arange(len(coarse)), coarse[:, k]) for k in (0, 1)], 1)
        out.append((stroke + noise).astype(np.float32))
    return out


def paired(ours: AnyPoints, theirs: AnyPoints, apart: float = 0.22) -> AnyPoints | None:
    """Their strokes in our order and direction, (k, n, 2) like both arguments.

    Strokes are paired whatever order and direction they were drawn in, so that the distances are smallest in sum
    (`scipy.optimize.linear_sum_assignment`). None when a pair's points lie further apart than `apart` on average.
    """
    ways = np.stack([theirs, theirs[:, ::-1]])
    distance = np.hypot(*np.moveaxis(ours[:, None, None] - ways, -1, 0)).mean(-1)
    distance = distance.transpose(0, 2, 1)  # ours, theirs, way
    rows, columns = linear_sum_assignment(distance.min(2))
    if distance.min(2)[rows, columns].max() > apart:
        return None
    return np.stack(
        [theirs[c][::-1] if distance[r, c].argmin() else theirs[c] for r, c in zip(rows, columns, strict=True)]
    )


def resample_to(stroke: AnyPoints, n: int) -> Float64:
    """A stroke with `n` points, (n, 2), evenly spaced by the number of its points, not by length."""
    at = np.linspace(0, len(stroke) - 1, n)
    return np.stack([np.interp(at, np.arange(len(stroke)), stroke[:, k]) for k in (0, 1)], 1)


def nukta(strokes: Sequence[Points], rng: np.random.Generator, label: str) -> list[Points]:
    """The strokes and those of the nukta that makes the pair-bindi letter `label`: a dot, ring, tick or dash."""
    if not label.endswith(NUKTA):
        raise ValueError(f"{label!r} has no nukta")
    points = np.concatenate(strokes)
    size = rng.uniform(0.025, 0.06)
    for _ in range(12):
        centre = nukta_place(points, rng, label)
        if np.hypot(*(points - centre).T).min() > size + 0.065:  # a gap is seen
            break
    kind = rng.random()
    turn = rng.uniform(0, 2 * np.pi)
    ring = np.stack([np.cos(np.linspace(0, 2 * np.pi, 9) + turn), np.sin(np.linspace(0, 2 * np.pi, 9) + turn)], 1)
    if kind < 0.6:
        mark = [centre + 0.35 * size * ring, centre + 0.05 * size * ring]
    elif kind < 0.75:
        mark = [centre + size * rng.uniform(0.8, 1.3) * ring]
    elif kind < 0.88:
        mark = [centre + size * np.array([[-1.0, -0.6], [-0.2, 0.9], [1.2, -1.0]])]
    else:
        angle = rng.uniform(-0.9, 0.9)
        reach = size * rng.uniform(1.0, 1.8) * np.array([np.cos(angle), np.sin(angle)])
        mark = [np.stack([centre - reach, centre + reach])]
    return [*strokes, *[m.astype(np.float32) for m in mark]]


def nukta_place(points: Points, rng: np.random.Generator, label: str) -> Float32:
    """Where the nukta's middle goes, (x, y), about a letter's points (n, 2).

    Below the letter; for ਸ ਖ ਗ ਜ also in the roomiest spot of its lower half, or at its lower left.
    """
    low, high = points.min(0), points.max(0)
    width, height = high - low
    place = rng.random()
    if place < 0.62 or label[0] not in "ਸਖਗਜ":
        return np.array(
            [rng.uniform(low[0] + 0.15 * width, high[0] - 0.1 * width), high[1] + rng.uniform(0.05, 0.2)], np.float32
        )
    if place < 0.85:
        return np.asarray(open_spot(points, low, high, rng), np.float32)
    return np.array([low[0] - rng.uniform(0.02, 0.1), high[1] - rng.uniform(-0.1, 0.15) * height], np.float32)


def open_spot(points: AnyPoints, low: AnyPoints, high: AnyPoints, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """The one of 14 random places (x, y), in the lower half of the box `low` to `high`, that is furthest from ink."""
    span = high - low
    spots = low + span * np.stack([rng.uniform(0.2, 0.85, 14), rng.uniform(0.5, 1.0, 14)], 1)
    room = np.hypot(*(spots[:, None] - points[None]).transpose(2, 0, 1)).min(1)
    spot: Float64 = spots[int(room.argmax())]
    return spot
