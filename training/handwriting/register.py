"""A glyph's taught strokes laid onto somebody's drawing of it, point for point.

The drawing's own order, direction and number of strokes do not matter: only its ink does. Taught strokes and headline
spans move by an affine map, then a smooth field, then cosines along each stroke. Each round moves them towards the
nearest ink of like direction, and pairs all ink with them too, with robust weights: non-rigid iterated closest points
(Besl and McKay, A method for registration of 3-D shapes, 1992; Amberg, Romdhani and Vetter, Optimal step nonrigid ICP
algorithms for surface registration, 2007).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from recognition.arrays import AnyPoints, Bool, Float64, Int64
from recognition.strokes import resample, smoothed
from scipy.spatial import cKDTree

from .basis import cosines

SPAN_POINTS = 24
FINEST = 20  # cosines along a stroke in the last stage
SHORT = 1.5  # body heights: in shorter strokes the same cosine is stiffer


class Stage(NamedTuple):
    """Rounds with the same freedom to move; lengths in body heights, nearly."""

    rounds: int
    turn: float  # weight of a difference in direction against one in place
    robust: float  # distance beyond which a point counts little
    hold: float  # how much a point is also held along the ink, not only across it; 0..1
    field_stiff: float | None  # stiffness of the smooth field; None: no field yet
    along_stiff: float | None  # stiffness of the cosines along strokes; None: none yet
    n_modes: int  # cosines along a stroke


STAGES = [
    Stage(12, 0.3, 0.45, 1.0, None, None, 0),
    Stage(10, 0.25, 0.3, 0.5, 0.3, None, 0),
    Stage(12, 0.2, 0.2, 0.25, 0.03, 1.0, 8),
    Stage(12, 0.15, 0.12, 0.12, 0.01, 0.12, 14),
    Stage(10, 0.1, 0.08, 0.06, 0.01, 0.012, FINEST),
]


@dataclass
class Fit:
    """Taught strokes where a drawing has them."""

    points: Float64  # (strokes, POINTS, 2), the drawing's unit
    spans: list[Float64]  # of (SPAN_POINTS, 2), the same
    far: float  # 95th percentile of the distances between fit and ink, both ways; body heights, nearly
    scale: float  # the drawing's units to a body height, nearly


@dataclass
class Ink:
    """What is drawn, in body heights, nearly."""

    points: Float64  # (n, 2)
    way: Float64  # (n, 2), as `direction` gives it
    across: Float64  # (n, 3): xx, xy, yy of the product of the normal with itself


@dataclass
class Lines:
    """The taught strokes and spans, one after another, and how they may move."""

    start: Float64  # (m, 2), scaled to the drawing's box, nearly body heights
    cuts: Int64  # where all but the first line begin
    ends: Bool  # (m,) whether a point is among the two at an end of its line
    affine: Float64  # (m, 3) columns, as are the next two: see `basis`
    field: Float64
    along: Float64
    mode: Int64  # (lines * FINEST,) the cosine of each column of `along`
    stiff: Float64  # (lines * FINEST,) its stiffness


def ink_of(strokes: Sequence[npt.ArrayLike], spacing: float = 1.0) -> tuple[Float64, Float64]:
    """Points (n, 2) of a drawing, `spacing` apart in its unit (pixels for omniglot), and their directions (n, 2)."""
    points, ways = [], []
    for stroke in strokes:
        line = smoothed(resample(stroke, spacing), 3)
        points.append(line)
        ways.append(direction(line))
    return np.concatenate(points).astype(float), np.concatenate(ways)


def direction(line: AnyPoints) -> Float64:
    """Cosine and sine (n, 2) of twice the heading at each point (n, 2): the same forwards and backwards."""
    step = np.gradient(np.asarray(line, float), axis=0)
    angle = 2 * np.arctan2(step[:, 1], step[:, 0])
    return np.stack([np.cos(angle), np.sin(angle)], 1)


def basis(model: Float64, sizes: Sequence[int]) -> tuple[Float64, Float64, Float64]:
    """Columns of displacements of points (m, 2) that lie in lines of these sizes.

    Affine (m, 3); a smooth field over the glyph, products of cosines (m, 13); cosines along each line (m, lines *
    FINEST).
    """
    low, high = model.min(0), model.max(0)
    u = (model - low) / np.maximum(high - low, 0.3)
    affine = np.stack([np.ones(len(u)), *model.T], 1)
    waves = [np.cos(np.pi * i * u[:, 0]) * np.cos(np.pi * j * u[:, 1]) for i in range(4) for j in range(4) if i + j > 1]
    field = np.stack(waves, 1)
    along = np.zeros((len(model), len(sizes) * FINEST))
    start = 0
    for k, n in enumerate(sizes):
        rows = cosines(n, FINEST).T * np.sqrt(n / 2)
        if n == SPAN_POINTS:
            rows[:, 4:] = 0
        along[start : start + n, k * FINEST : (k + 1) * FINEST] = rows
        start += n
    return affine, field, along


def lines_of(lines: Sequence[Float64], model: Float64, start: Float64) -> Lines:
    """The lines, whose points one after another are `model` (m, 2), with `start` (m, 2) where they begin to move."""
    sizes = [len(line) for line in lines]
    affine, field, along = basis(model, sizes)
    cuts = np.cumsum(sizes)[:-1]
    ends = np.zeros(len(model), bool)
    for last in np.cumsum(sizes):
        ends[last - 2 : last] = True
    for first in [0, *cuts]:
        ends[first : first + 2] = True
    mode = np.tile(np.arange(FINEST), len(sizes))
    stiff = np.repeat([max(1.0, SHORT / max(np.hypot(*np.diff(line, axis=0).T).sum(), 0.2)) for line in lines], FINEST)
    return Lines(start, cuts, ends, affine, field, along, mode, stiff)


def freedom(lines: Lines, stage: Stage) -> tuple[Float64, Float64]:
    """The columns (m, c) that points may move by in a stage, and the penalty (c,) on each one's squared weight."""
    total = len(lines.start)
    columns, penalty = [lines.affine], [np.full(3, 1e-3)]
    if stage.field_stiff is not None:
        columns.append(lines.field)
        penalty.append(np.full(lines.field.shape[1], stage.field_stiff * total * 0.05))
    if stage.along_stiff is not None:
        keep = lines.mode < stage.n_modes
        columns.append(lines.along[:, keep])
        penalty.append((stage.along_stiff * (1 + lines.mode[keep] * lines.stiff[keep]) ** 1.5) * 0.6)
    return np.concatenate(columns, 1), np.concatenate(penalty)


def moved(lines: Lines, ink: Ink, stage: Stage, placed: Float64) -> Float64:
    """The points (m, 2) after the stage's rounds, from where they are `placed` (m, 2)."""
    total = len(lines.start)
    phi, penalty = freedom(lines, stage)
    ink_turned = np.concatenate([ink.points, stage.turn * ink.way], 1)
    ink_tree = cKDTree(ink_turned)
    hold_of = np.where(lines.ends, max(stage.hold, 0.7), stage.hold)
    for _ in range(stage.rounds):
        way = np.concatenate([direction(p) for p in np.split(placed, lines.cuts)])
        here = np.concatenate([placed, stage.turn * way], 1)
        near_far, near = ink_tree.query(here)
        back_far, back = cKDTree(here).query(ink_turned)
        w_near = 1 / (1 + (near_far / stage.robust) ** 2) ** 2
        w_back = 1 / (1 + (back_far / stage.robust) ** 2) ** 2 * min(1.0, total / len(ink.points))
        # Pairs of a point and an ink point, from either side, and their weights.
        point = np.concatenate([np.arange(total), back])
        source = np.concatenate([near, np.arange(len(ink.points))])
        weight = np.concatenate([w_near, w_back])
        loose = hold_of[point]
        metric = [weight * (loose * own + (1 - loose) * ink.across[source, k]) for k, own in enumerate((1.0, 0.0, 1.0))]
        apart = ink.points[source] - lines.start[point]
        # The normal equations of the weighted least squares, x and y together.
        xx, xy, yy = (np.bincount(point, m, total) for m in metric)
        bx = np.bincount(point, metric[0] * apart[:, 0] + metric[1] * apart[:, 1], total)
        by = np.bincount(point, metric[1] * apart[:, 0] + metric[2] * apart[:, 1], total)
        a, c, d = (phi.T @ (phi * m[:, None]) for m in (xx, xy, yy))
        normal = np.block([[a, c], [c, d]]) + np.diag(np.tile(penalty, 2))
        solved = np.linalg.solve(normal, np.concatenate([phi.T @ bx, phi.T @ by]))
        placed = lines.start + phi @ solved.reshape(2, -1).T
    return placed


def register(taught: Float64, spans: Sequence[Float64], drawing: Sequence[npt.ArrayLike], spacing: float = 1.0) -> Fit:
    """The taught strokes and spans where the drawing has them.

    `taught`: (strokes, POINTS, 2) and `spans`: rows of x0, x1, both in body heights; `drawing`: strokes (n, 2) in any
    unit, y down; `spacing`: the distance in that unit between the points that its ink is taken at.
    """
    ink, ink_way = ink_of(drawing, spacing)
    lines = [*taught, *[np.stack([np.linspace(a, b, SPAN_POINTS), np.zeros(SPAN_POINTS)], 1) for a, b in spans]]
    model = np.concatenate(lines)
    low, high = model.min(0), model.max(0)
    ink_low, ink_high = ink.min(0), ink.max(0)
    size = (ink_high - ink_low) / np.maximum(high - low, 0.2)
    body = np.sqrt(max(size[0], size[1] * 0.6) * size[1])
    ink = ink / body
    across = np.stack([1 - ink_way[:, 0], -ink_way[:, 1], 1 + ink_way[:, 0]], 1) / 2
    start = (model - low) * (size / body) + ink_low / body
    there, free = Ink(ink, ink_way, across), lines_of(lines, model, start)
    placed = start
    for stage in STAGES:
        placed = moved(free, there, stage, placed)
    out, _ = cKDTree(ink).query(placed)
    back, _ = cKDTree(placed).query(ink)
    far = float(max(np.percentile(out, 95), np.percentile(back, 95)))
    parts = np.split(placed * body, free.cuts)
    return Fit(np.stack(parts[: len(taught)]), parts[len(taught) :], far, body)


def turn_of(spans: Sequence[Float64], scale: float) -> Float64:
    """The rotation (2, 2) that levels a headline of these spans (n, 2); none for short or divided headlines.

    `scale`: a body height in the spans' unit. An open letter's two spans may differ in height, so they are left as they
    are.
    """
    line = np.concatenate(spans)
    slope = 0.0
    if len(spans) == 1 and np.ptp(line[:, 0]) > 0.3 * scale:
        slope = np.clip(np.polyfit(line[:, 0], line[:, 1], 1)[0], -0.25, 0.25)
    turn: Float64 = np.array([[1, slope], [-slope, 1]]) / np.hypot(1, slope)
    return turn


def upright(fit: Fit, taught: Float64, scale: float | None = None) -> tuple[Float64, list[Float64], float]:
    """The fit in body heights, headline level at y = 0, left edge at x = 0; its spans' ends (2,); its scale.

    `taught`: (strokes, POINTS, 2) in body heights; `scale`: a body height in the drawing's unit, None to measure it on
    this drawing. The scale that is given back is always the measured one.
    """
    strokes, spans = fit.points.copy(), [s.copy() for s in fit.spans]
    if spans:
        turn = turn_of(spans, fit.scale)
        strokes, spans = strokes @ turn.T, [s @ turn.T for s in spans]
        top = np.median(np.concatenate(spans)[:, 1])
    else:
        _, top = np.polyfit(taught[..., 1].ravel(), strokes[..., 1].ravel(), 1)
    known, seen = taught.reshape(-1, 2)[:, 1], strokes.reshape(-1, 2)[:, 1] - top
    low = known > 0.25
    own = float((known[low] * seen[low]).sum() / (known[low] ** 2).sum())
    unit = own if scale is None else scale
    origin = np.array([strokes[..., 0].min(), top])
    ends = [(np.array([s[0], s[-1]]) - origin)[:, 0] / unit for s in spans]
    return (strokes - origin) / unit, ends, own
