"""Data in; every usable drawing of a glyph out, point for point like its taught strokes and in body heights."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from recognition import fonts, strokes
from recognition.arrays import Float64
from recognition.labels import DIGITS

from . import glyphs, register
from .lines import length

FAR = 0.085  # body heights: a fit further from its ink than this is left out
CANON = 4.0  # the taught shape counts as this many drawings in the mean
STRANGE = 2.1  # a drawing further from the mean than this many times the glyph's median distance is left out
OWN_SIZE = 0.35  # share of a drawing's own size that is lost to the size its drawer usually has

# Text, number of the drawer, strokes, distance between the points that the ink is taken at, in the strokes' unit.
Source: TypeAlias = tuple[str, int, list[Float64], float]
# Text, number of the drawer, fit, size of a body height as measured on the drawing.
Fitted: TypeAlias = tuple[str, int, register.Fit, float]


@dataclass
class Drawn:
    """One drawing of a glyph in body heights."""

    hand: int  # the drawer's number from 1; negative for digits, whose drawers are not omniglot's
    points: Float64  # (strokes, POINTS, 2)
    ends: list[Float64]  # of each headline span: x0, x1


def sources(data: Path) -> Iterator[Source]:
    """The drawings of omniglot-gurmukhi; `data`: the folder of the public data."""
    path = data / "handwriting/omniglot-gurmukhi/gurmukhi_strokes.jsonl"
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["strokes"] is None or row["id"] in strokes.DEFECTIVE:
            continue
        lines = [np.array(s, float) for s in row["strokes"] if len(s) > 1]
        yield row["char"], row["drawer"], lines, 1.0


def digit_sources(data: Path) -> Iterator[Source]:
    """Digits: this project's own pen strokes, and centre lines of the typefaces."""
    for k, drawing in enumerate(strokes.templates() + fonts.skeletons(data, DIGITS)):
        if drawing.label in DIGITS:
            lines = [np.asarray(s, float) for s in drawing.strokes if len(s) > 1]
            yield drawing.label, -1 - k, lines, 0.02


def collect(data: Path, shapes: Mapping[str, Float64]) -> dict[str, list[Drawn]]:
    """The usable drawings of each glyph.

    `shapes`: text to taught strokes (strokes, POINTS, 2). All drawings are fitted twice; the second time the fits begin
    from the mean shapes of the first.
    """
    table = {g.text: g for g in glyphs.table()}
    everything = [*sources(data), *digit_sources(data)]
    templates = dict(shapes)
    for second in (False, True):
        fits: list[Fitted] = []
        for text, hand, lines, spacing in everything:
            spans = [s for s in table[text].head if s[0] < s[1]]
            fit = register.register(templates[text], spans, lines, spacing)
            if fit.far < FAR:
                _, _, own = register.upright(fit, shapes[text])
                fits.append((text, hand, fit, own))
        found = in_body_heights(fits, shapes)
        kept = {text: usual(rows, shapes[text]) for text, rows in found.items()}
        templates = {text: mean_shape(shapes[text], kept.get(text, [])) for text in shapes}
        print(f"pass {1 + second}: {len(everything)} drawings, {len(fits)} fitted, {sum(map(len, kept.values()))} kept")
    return kept


def in_body_heights(fits: Iterable[Fitted], shapes: Mapping[str, Float64]) -> dict[str, list[Drawn]]:
    """The fits by text, each scaled by a size between its own and the median of its drawer's."""
    fits = list(fits)
    sizes = defaultdict(list)
    for _, hand, _, own in fits:
        sizes[hand].append(np.log(own))
    found = defaultdict(list)
    for text, hand, fit, own in fits:
        usual_size = np.median(sizes[hand]) if hand > 0 else np.log(own)
        scale = np.exp((1 - OWN_SIZE) * np.log(own) + OWN_SIZE * usual_size)
        points, ends, _ = register.upright(fit, shapes[text], scale)
        found[text].append(Drawn(hand, points, ends))
    return found


def usual(rows: Iterable[Drawn], canon: Float64) -> list[Drawn]:
    """The drawings near the others of their glyph, with strokes mended; `canon`: the taught shape."""
    mended = [m for m in (mend(r, canon) for r in rows) if m]
    if not mended:
        return []
    stack = np.stack([r.points for r in mended])
    middle = np.median(stack, 0)
    apart = np.hypot(*np.moveaxis(stack - middle, -1, 0))  # drawing, stroke, point
    worst = apart.mean(2).max(1)
    limit = max(STRANGE * np.median(worst), 0.12)
    return [r for r, w, far in zip(mended, worst, apart.max((1, 2)), strict=True) if w < limit and far < 0.75]


def mend(drawn: Drawn, canon: Float64) -> Drawn | None:
    """The drawing with each stroke that lost its ink (too short, too long, too far) put where the others place it.

    None when the strokes that are left have under 55 % of the taught length.
    """
    own = np.array([length(s) for s in drawn.points])
    known = np.array([length(s) for s in canon])
    good = np.ones(len(canon), bool)
    for _ in range(2):
        move = affine(canon[good].reshape(-1, 2), drawn.points[good].reshape(-1, 2))
        there = np.concatenate([np.ones((*canon.shape[:2], 1)), canon], 2) @ move
        ratio = own / np.array([length(s) for s in there])
        apart = np.hypot(*np.moveaxis(drawn.points - there, -1, 0)).mean(1)
        good = (ratio > 0.6) & (ratio < 1.7) & (apart < 0.28)
        if known[good].sum() < 0.55 * known.sum():
            return None
    points = np.where(good[:, None, None], drawn.points, there)
    return Drawn(drawn.hand, points, drawn.ends)


def affine(a: Float64, b: Float64, hold: float = 0.15) -> Float64:
    """The map (3, 2) of 1, x, y that takes points `a` to `b`, both (n, 2), by least squares.

    `hold`: how strongly its linear part is held to the identity.
    """
    full = np.concatenate([np.ones((len(a), 1)), a], 1)
    rest = np.array([[0, 0], [1, 0], [0, 1.0]])
    weight = np.diag([1e-3, hold, hold]) * len(a) * 0.05
    moved: Float64 = rest + np.linalg.solve(full.T @ full + weight, full.T @ (b - full @ rest))
    return moved


def mean_shape(canon: Float64, rows: Sequence[Drawn], weight: float = CANON) -> Float64:
    """The mean of drawings and taught shape (strokes, POINTS, 2), which counts as `weight` drawings."""
    if not rows:
        return canon
    total: Float64 = sum((r.points for r in rows), np.zeros_like(canon)) + weight * canon
    return total / (len(rows) + weight)
