"""Drawings that correspond point for point in; what they say about writers out.

A drawing of glyph g by writer s is mean_g + A_g s + B_g v, with s ~ N(0, I16) the writer and v ~ N(0, I24) this one
drawing: a linear-Gaussian latent model. The drawers are orthonormal points of the writers' space, so a writer is a
mixture of drawers, the same mixture in every glyph. The letter that each drawer drew twice shows how much of a
deviation belongs to the writer and how much to the one drawing, separately for the coarse and the fine part of a
stroke.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from recognition.arrays import AnyPoints, Float64

from . import drawings
from .basis import COSINES, MODES, STYLE
from .drawings import Drawn
from .glyphs import POINTS
from .lines import length

# Text to its drawings, and to its mean shape (strokes, POINTS, 2) in body heights.
Kept: TypeAlias = Mapping[str, Sequence[Drawn]]
Shapes: TypeAlias = Mapping[str, Float64]

TWICE = "ਅ"  # drawn twice by every drawer
BANDS = [0, 1, 2, 4, 8, MODES]  # cosines that are measured together
WAVELENGTHS = np.array([0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9, 1.35, 2.0, 3.0])  # body heights
# Set, not learned: how much a writer varies from drawing to drawing, as a share of the variance of the drawers, who
# copied an alphabet that they did not know.
OWN_VARIANCE = 0.65
# Body heights: waves this long are halved and shorter ones shrink more, because a mouse is less steady than a pen.
SHORT_WAVE = 0.12
SIGN_CANON = 10.0  # the taught shape of a borrowed sign counts as this many drawings
# Signs that drawers drew within a vowel: which of its strokes.
BORROWED = {"ਾ": ("ਆ", [2]), "ਿ": ("ਇ", [0]), "ੁ": ("ਉ", [1]), "ੇ": ("ਏ", [2])}
STEMS = "ਾਿੀ"  # signs that stand beside a letter


def field(points: AnyPoints) -> Float64:
    """The basis of a smooth field over a glyph at points (..., 2): (..., 7)."""
    x = points[..., 0] / max(1.0, float(np.max(points[..., 0])) / 1.1) - 0.45
    y = points[..., 1] - 0.5
    return np.stack(
        [x, y, x * y, y * y - 0.15, x * x - 0.1, np.sin(2 * np.pi * y) * 0.3, np.cos(2 * np.pi * y) * 0.3], -1
    )


@dataclass
class Hands:
    """What drawings say about writers."""

    codes: dict[int, Float64]  # drawer to its point in the writers' space, (STYLE,)
    share: Float64  # (MODES,): the one drawing's share of a deviation's variance
    field: Float64  # (STYLE, 7, 2): a writer's field
    field_alone: Float64  # (7, 2): standard deviations of one drawing's own field
    spread: float  # letters' median standard deviation of a coefficient
    wave: Float64  # log variance of a cosine's coefficient per point, at WAVELENGTHS


def deviations(rows: Sequence[Drawn], mean: Float64) -> Float64:
    """Distances of drawings from the mean (s, POINTS, 2) as cosines, (drawings, s, 2, MODES).

    A drawing whose distance is over 1.6 times the median is brought to that.
    """
    apart = np.stack([r.points for r in rows]) - mean
    spread = np.sqrt((apart**2).mean((1, 2, 3)))
    apart *= np.minimum(1, 1.6 * np.median(spread) / spread)[:, None, None, None]
    return np.einsum("dspc,mp->dscm", apart, COSINES)


def without_tremor(coefficients: Float64, mean: Float64) -> Float64:
    """The deviations (drawings, s, 2, MODES), changed in place, with short waves made smaller."""
    for s, stroke in enumerate(mean):
        wave = np.arange(MODES) / (2 * length(stroke))
        coefficients[:, s] = coefficients[:, s] / (1 + (SHORT_WAVE * wave) ** 2)
    return coefficients


def codes_of(kept: Kept, means: Shapes) -> dict[int, Float64]:
    """Orthonormal codes (STYLE,) of the drawers: principal components of all they drew, the largest first."""
    hands = sorted({r.hand for rows in kept.values() for r in rows if r.hand > 0})
    blocks = []
    for text, rows in kept.items():
        if any(r.hand > 0 for r in rows):
            block = np.zeros((len(hands), means[text].size))
            coefficients = deviations(rows, means[text]).reshape(len(rows), -1)
            for row, c in zip(rows, coefficients, strict=True):
                block[hands.index(row.hand), : c.size] = c
            blocks.append(block)
    whole = np.concatenate(blocks, 1)
    left, _, _ = np.linalg.svd(whole - whole.mean(0), full_matrices=True)
    codes = np.zeros((len(hands), STYLE))
    codes[:, : min(STYLE, len(hands))] = left[:, :STYLE] * np.sqrt(len(hands))
    return dict(zip(hands, codes, strict=True))


def share_of_one(rows: Sequence[Drawn], mean: Float64) -> tuple[Float64, int]:
    """The variance between one drawer's two drawings as a share of all drawings', (MODES,), equal within a band.

    Also the number of drawers with two drawings.
    """
    both = deviations(rows, mean)
    hands = np.array([r.hand for r in rows])
    pairs = [np.flatnonzero(hands == h) for h in sorted(set(hands))]
    pairs = [p for p in pairs if len(p) == 2]
    within = np.mean([(both[a] - both[b]) ** 2 / 2 for a, b in pairs], 0)
    total = both.var(0) * len(both) / (len(both) - 1)
    share = np.empty(MODES)
    for low, high in pairwise(BANDS):
        share[low:high] = within[..., low:high].sum() / total[..., low:high].sum()
    return np.clip(share, 0.15, 0.95), len(pairs)


def fields_of(kept: Kept, means: Shapes) -> tuple[dict[int, Float64], Float64]:
    """Each drawer's field over all letters, (7, 2); standard deviations (7, 2) of the drawings' own fields about it."""
    rows = [(text, r) for text, rs in kept.items() for r in rs if r.hand > 0]
    whole, own = {}, []
    for hand in sorted({r.hand for _, r in rows}):
        a = np.concatenate([field(means[t]).reshape(-1, 7) for t, r in rows if r.hand == hand])
        b = np.concatenate([(r.points - means[t]).reshape(-1, 2) for t, r in rows if r.hand == hand])
        b = b - b.mean(0)
        whole[hand] = np.linalg.solve(a.T @ a + 0.002 * len(a) * np.eye(7), a.T @ b)
    for text, row in rows:
        a = field(means[text]).reshape(-1, 7)
        b = (row.points - means[text]).reshape(-1, 2) - a @ whole[row.hand]
        own.append(np.linalg.solve(a.T @ a + 0.05 * len(a) * np.eye(7), a.T @ (b - b.mean(0))))
    return whole, np.std(own, 0)


def normals(stroke: Float64) -> Float64:
    """Unit normals (n, 2) of a line (n, 2)."""
    step = np.gradient(stroke, axis=0)
    across: Float64 = np.stack([-step[:, 1], step[:, 0]], 1) / (np.hypot(*step.T)[:, None] + 1e-9)
    return across


def waviness(kept: Kept, means: Shapes) -> Float64:
    """Log of the usual variance, per point, of a cosine's coefficient across a stroke, at WAVELENGTHS."""
    lengths, squares = [], []
    for text, rows in kept.items():
        if not any(r.hand > 0 for r in rows):
            continue
        flat = field(means[text]).reshape(-1, 7)
        for row in rows:
            apart = (row.points - means[text]).reshape(-1, 2)
            rest = (apart - flat @ np.linalg.lstsq(flat, apart, rcond=None)[0]).reshape(means[text].shape)
            for s, stroke in enumerate(means[text]):
                c = COSINES[1:] @ (rest[s] * normals(stroke)).sum(1)
                lengths.append(2 * length(stroke) / np.arange(1, MODES))
                squares.append(c**2 / POINTS)
    at, value = np.log(np.concatenate(lengths)), np.concatenate(squares)
    place = np.digitize(at, np.log(np.sqrt(WAVELENGTHS[1:] * WAVELENGTHS[:-1])))
    # 0.455: the median of a squared standard normal.
    table = np.array(
        [
            np.log(np.median(value[place == k]) / 0.455) if (place == k).sum() > 20 else np.nan
            for k in range(len(WAVELENGTHS))
        ]
    )
    good = np.isfinite(table)
    return np.interp(np.log(WAVELENGTHS), np.log(WAVELENGTHS)[good], table[good])


def borrowed(kept: Kept, shapes: Shapes) -> dict[str, list[Drawn]]:
    """Drawings of vowel signs, from the vowels that hold them, moved to where the sign is attached when taught."""
    found = {}
    for sign, (vowel, which) in BORROWED.items():
        canon, rows = shapes[sign], []
        for row in kept.get(vowel, []):
            strokes = row.points[which].copy()
            if sign in STEMS:
                strokes[..., 0] -= np.interp(0.0, *by_height(strokes[0]))
            else:
                strokes += (canon.reshape(-1, 2).mean(0) - strokes.reshape(-1, 2).mean(0)) * (
                    [1, 1] if canon[..., 1].min() > 1 else [1, 0.7]
                )
            rows.append(Drawn(row.hand, strokes, []))
        found[sign] = drawings.usual(rows, canon)
    return found


def by_height(stroke: Float64) -> tuple[Float64, Float64]:
    """The y and x of a line (n, 2) from its highest point on, y ascending."""
    stem = stroke[np.argmin(stroke[:, 1]) :]
    order = np.argsort(stem[:, 1])
    return stem[order, 1], stem[order, 0]


def learn(kept: Kept, shapes: Shapes) -> tuple[Hands, dict[str, Float64], int]:
    """What the drawings say about writers, the glyphs' mean shapes, and the number of drawers who drew TWICE twice."""
    means = {t: drawings.mean_shape(shapes[t], kept.get(t, [])) for t in shapes}
    codes = codes_of(kept, means)
    share, n_pairs = share_of_one(kept[TWICE], means[TWICE])
    whole, alone = fields_of(kept, means)
    by_code = sum((codes[h][:, None, None] * whole[h] for h in codes), np.zeros((STYLE, 7, 2))) / len(codes)
    spread = float(np.median([deviations(rows, means[t]).std() for t, rows in kept.items() if rows[0].hand > 0]))
    return Hands(codes, OWN_VARIANCE * share, by_code, alone, spread, waviness(kept, means)), means, n_pairs
