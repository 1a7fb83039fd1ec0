"""A glyph's taught strokes laid onto somebody's drawing of it, point for point.

The drawing's own order, direction and number of strokes do not matter: only its ink does. Taught
strokes and headline spans move by an affine map, then a smooth field, then cosines along each
stroke, drawn to the nearest ink of like direction, and the ink to them.
"""

from dataclasses import dataclass

import numpy as np
from recognition.strokes import resample, smoothed
from scipy.spatial import cKDTree

from .export import cosines

SPAN_POINTS = 24
FINEST = 20  # cosines along a stroke in the last stage
SHORT = 1.5  # body heights: in shorter strokes the same cosine is stiffer
STAGES = [  # rounds, weight of direction, robust distance, hold along the ink, field's and cosines'
    # stiffness, cosines
    (12, 0.3, 0.45, 1.0, None, None, 0),
    (10, 0.25, 0.3, 0.5, 0.3, None, 0),
    (12, 0.2, 0.2, 0.25, 0.03, 1.0, 8),
    (12, 0.15, 0.12, 0.12, 0.01, 0.12, 14),
    (10, 0.1, 0.08, 0.06, 0.01, 0.012, FINEST),
]


@dataclass
class Fit:
    points: np.ndarray  # (strokes, POINTS, 2), the drawing's units
    spans: list  # of (SPAN_POINTS, 2)
    far: float  # 95th percentile of the distances between fit and ink, both ways
    scale: float  # the drawing's units to a body height


def ink_of(strokes, spacing=1.0):
    """Dense points and directions of a drawing in its own units (pixels for omniglot)."""
    points, ways = [], []
    for stroke in strokes:
        line = smoothed(resample(stroke, spacing), 3)
        points.append(line)
        ways.append(direction(line))
    return np.concatenate(points).astype(float), np.concatenate(ways)


def direction(line):
    """Unsigned: cosine and sine of twice the heading."""
    step = np.gradient(np.asarray(line, float), axis=0)
    angle = 2 * np.arctan2(step[:, 1], step[:, 0])
    return np.stack([np.cos(angle), np.sin(angle)], 1)


def basis(model, sizes):
    """Columns: affine (3), a smooth field over the glyph (13), cosines along each stroke."""
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


def register(taught, spans, drawing, spacing=1.0):
    """`taught`: (strokes, POINTS, 2); `spans`: (x0, x1) rows; `drawing`: strokes in any unit."""
    ink, ink_way = ink_of(drawing, spacing)
    lines = [*taught, *[np.stack([np.linspace(a, b, SPAN_POINTS), np.zeros(SPAN_POINTS)], 1) for a, b in spans]]
    sizes = [len(line) for line in lines]
    model = np.concatenate(lines)
    cuts = np.cumsum(sizes)[:-1]
    low, high = model.min(0), model.max(0)
    ink_low, ink_high = ink.min(0), ink.max(0)
    size = (ink_high - ink_low) / np.maximum(high - low, 0.2)
    body = np.sqrt(max(size[0], size[1] * 0.6) * size[1])
    ink = ink / body  # body heights, nearly
    placed = (model - low) * (size / body) + ink_low / body
    start = placed.copy()
    affine, field, along = basis(model, sizes)
    mode = np.tile(np.arange(FINEST), len(sizes))
    stiff = np.repeat([max(1.0, SHORT / max(np.hypot(*np.diff(line, axis=0).T).sum(), 0.2)) for line in lines], FINEST)
    ends = np.zeros(len(model), bool)
    for last in np.cumsum(sizes):
        ends[last - 2 : last] = True
    for first in [0, *cuts]:
        ends[first : first + 2] = True
    total = len(model)
    across = np.stack([1 - ink_way[:, 0], -ink_way[:, 1], 1 + ink_way[:, 0]], 1) / 2  # n n': xx, xy, yy
    for rounds, turn, robust, hold, field_stiff, along_stiff, n_modes in STAGES:
        columns, penalty = [affine], [np.full(3, 1e-3)]
        if field_stiff is not None:
            columns.append(field)
            penalty.append(np.full(field.shape[1], field_stiff * total * 0.05))
        if along_stiff is not None:
            keep = mode < n_modes
            columns.append(along[:, keep])
            penalty.append((along_stiff * (1 + mode[keep] * stiff[keep]) ** 1.5) * 0.6)
        phi, penalty = np.concatenate(columns, 1), np.concatenate(penalty)
        ink_turned = np.concatenate([ink, turn * ink_way], 1)
        ink_tree = cKDTree(ink_turned)
        hold_of = np.where(ends, max(hold, 0.7), hold)
        for _ in range(rounds):
            way = np.concatenate([direction(p) for p in np.split(placed, cuts)])
            here = np.concatenate([placed, turn * way], 1)
            near_far, near = ink_tree.query(here)
            back_far, back = cKDTree(here).query(ink_turned)
            w_near = 1 / (1 + (near_far / robust) ** 2) ** 2
            w_back = 1 / (1 + (back_far / robust) ** 2) ** 2 * min(1.0, total / len(ink))
            point = np.concatenate([np.arange(total), back])
            source = np.concatenate([near, np.arange(len(ink))])
            weight = np.concatenate([w_near, w_back])
            loose = hold_of[point]
            metric = [weight * (loose * own + (1 - loose) * across[source, k]) for k, own in enumerate((1.0, 0.0, 1.0))]
            apart = ink[source] - start[point]
            xx, xy, yy = (np.bincount(point, m, total) for m in metric)
            bx = np.bincount(point, metric[0] * apart[:, 0] + metric[1] * apart[:, 1], total)
            by = np.bincount(point, metric[1] * apart[:, 0] + metric[2] * apart[:, 1], total)
            a, c, d = (phi.T @ (phi * m[:, None]) for m in (xx, xy, yy))
            normal = np.block([[a, c], [c, d]]) + np.diag(np.tile(penalty, 2))
            solved = np.linalg.solve(normal, np.concatenate([phi.T @ bx, phi.T @ by]))
            placed = start + phi @ solved.reshape(2, -1).T
    out, _ = cKDTree(ink).query(placed)
    back, _ = cKDTree(placed).query(ink)
    far = float(max(np.percentile(out, 95), np.percentile(back, 95)))
    parts = np.split(placed * body, cuts)
    return Fit(np.stack(parts[: len(taught)]), parts[len(taught) :], far, body)


def upright(fit, taught, scale=None):
    """The fit in body heights: headline level at y = 0, left edge at x = 0; spans' ends; its scale.

    `scale`: a body height in the drawing's units; None measures it on this drawing.
    """
    strokes, spans = fit.points.copy(), [s.copy() for s in fit.spans]
    if spans:
        line = np.concatenate(spans)
        if len(spans) == 1 and np.ptp(line[:, 0]) > 0.3 * fit.scale:  # an open letter's ends may differ in height
            slope = np.clip(np.polyfit(line[:, 0], line[:, 1], 1)[0], -0.25, 0.25)
        else:
            slope = 0.0
        turn = np.array([[1, slope], [-slope, 1]]) / np.hypot(1, slope)
        strokes, spans = strokes @ turn.T, [s @ turn.T for s in spans]
        top = np.median(np.concatenate(spans)[:, 1])
    else:
        slope, top = np.polyfit(taught[..., 1].ravel(), strokes[..., 1].ravel(), 1)
    known, seen = taught.reshape(-1, 2)[:, 1], strokes.reshape(-1, 2)[:, 1] - top
    low = known > 0.25
    own = float((known[low] * seen[low]).sum() / (known[low] ** 2).sum())
    unit = own if scale is None else scale
    origin = np.array([strokes[..., 0].min(), top])
    ends = [(np.array([s[0], s[-1]]) - origin)[:, 0] / unit for s in spans]
    return (strokes - origin) / unit, ends, own
