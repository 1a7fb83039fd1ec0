"""Every usable drawing of a glyph, in correspondence with its taught strokes and in body heights."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from recognition import fonts, strokes
from recognition.labels import DIGITS

from . import dynamics, glyphs, register
from .glyphs import POINTS

FAR = 0.085  # a fit further from its ink than this is no fit
CANON = 4.0  # the taught shape counts as this many drawings in the mean
STRANGE = 2.1  # times the glyph's median distance from the mean
OWN_SIZE = 0.35  # how much of a drawing's own size, against its drawer's, is kept


@dataclass
class Drawn:
    hand: int  # the drawer's number; negative for hands of digits that are nobody's in omniglot
    points: np.ndarray  # (strokes, POINTS, 2)
    ends: list  # of the headline spans: x0, x1


def taught(net):
    """Every glyph's strokes at an even pace in time: text to (strokes, POINTS, 2)."""
    return {g.text: np.stack([dynamics.paced(net, s, POINTS) for s in g.strokes]) for g in glyphs.table()}


def sources(data: Path, without=()):
    """(text, hand, raw strokes, ink spacing) of what has been drawn."""
    path = data / "handwriting/omniglot-gurmukhi/gurmukhi_strokes.jsonl"
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["strokes"] is None or row["id"] in strokes.DEFECTIVE or row["drawer"] in without:
            continue
        lines = [np.array(s, float) for s in row["strokes"] if len(s) > 1]
        yield row["char"], row["drawer"], lines, 1.0


def digit_sources(data: Path):
    """Digits: the project's own pen strokes, and centre lines of single-line faces."""
    for k, drawing in enumerate(strokes.templates() + fonts.skeletons(data, DIGITS)):
        if drawing.label in DIGITS:
            lines = [np.asarray(s, float) for s in drawing.strokes if len(s) > 1]
            yield drawing.label, -1 - k, lines, 0.02


def collect(data: Path, net, without=(), log=print):
    """Text to its list of Drawn. Two passes: the second starts from the first's mean shapes."""
    table = {g.text: g for g in glyphs.table()}
    shapes = taught(net)
    everything = [*sources(data, without), *digit_sources(data)]
    templates = dict(shapes)
    for second in (False, True):
        fits = []
        for text, hand, lines, spacing in everything:
            spans = [s for s in table[text].head if s[0] < s[1]]
            fit = register.register(templates[text], spans, lines, spacing)
            if fit.far < FAR:
                _, _, own = register.upright(fit, shapes[text])
                fits.append((text, hand, fit, own))
        found = in_body_heights(fits, shapes)
        kept = {text: usual(rows, shapes[text]) for text, rows in found.items()}
        templates = {text: mean_shape(shapes[text], kept.get(text, [])) for text in shapes}
        log(f"pass {1 + second}: {len(everything)} drawings, {len(fits)} fitted, {sum(map(len, kept.values()))} kept")
    return kept, shapes


def in_body_heights(fits, shapes):
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


def usual(rows, canon):
    """Without the drawings, and with the strokes mended, that are far from what is usual."""
    mended = [m for m in (mend(r, canon) for r in rows) if m]
    if not mended:
        return []
    stack = np.stack([r.points for r in mended])
    middle = np.median(stack, 0)
    apart = np.hypot(*np.moveaxis(stack - middle, -1, 0))  # drawing, stroke, point
    worst = apart.mean(2).max(1)
    limit = max(STRANGE * np.median(worst), 0.12)
    return [r for r, w, far in zip(mended, worst, apart.max((1, 2))) if w < limit and far < 0.75]


def mend(drawn, canon):
    """A stroke that lost its ink (too short, too long, too far) follows the others; None if most did."""
    own = np.array([dynamics.length(s) for s in drawn.points])
    known = np.array([dynamics.length(s) for s in canon])
    good = np.ones(len(canon), bool)
    for _ in range(2):
        move = affine(canon[good].reshape(-1, 2), drawn.points[good].reshape(-1, 2))
        there = np.concatenate([np.ones((*canon.shape[:2], 1)), canon], 2) @ move
        ratio = own / np.array([dynamics.length(s) for s in there])
        apart = np.hypot(*np.moveaxis(drawn.points - there, -1, 0)).mean(1)
        good = (ratio > 0.6) & (ratio < 1.7) & (apart < 0.28)
        if known[good].sum() < 0.55 * known.sum():
            return None
    points = np.where(good[:, None, None], drawn.points, there)
    return Drawn(drawn.hand, points, drawn.ends)


def affine(a, b, hold=0.15):
    """(3, 2) taking points a to b; held towards the identity."""
    full = np.concatenate([np.ones((len(a), 1)), a], 1)
    rest = np.array([[0, 0], [1, 0], [0, 1.0]])
    weight = np.diag([1e-3, hold, hold]) * len(a) * 0.05
    return rest + np.linalg.solve(full.T @ full + weight, full.T @ (b - full @ rest))


def mean_shape(canon, rows, weight=CANON):
    if not rows:
        return canon
    return (sum(r.points for r in rows) + weight * canon) / (len(rows) + weight)
