"""Drawings in; others out, each drawn anew with random changes, as if by writers who do not exist.

All steps work on the strokes of a whole batch at once. `strokes` float32 (k, POINTS, 2): evenly spaced points, each
drawing normalised (`strokes.normalised`: about the origin, longest side 1, y down). `owner` (k,): which of the n
drawings a stroke belongs to, ascending. `flags` (k,): whether a stroke is a headline. Lengths are in the drawing's unit
and angles in radians; what is drawn at random per drawing has n rows.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from . import deform, fonts
from .arrays import AnyPoints, Bool, Float32, Float64, Int64
from .folds import of_fold
from .labels import LETTERS, NOTHING, NUKTA, OTHERS, SETS
from .strokes import Drawing, omniglot, templates

# Drawings, their weight, and how far their strokes move on their own.
Source: TypeAlias = tuple[Sequence[Drawing], float, float]

# By model: the share of the drawings that are no label.
NOTHINGS = {"letters-pa": 0.06, "digits-pa": 0.2}
POINTS = 40
# Cosines along a stroke: the low ones bend it, the high ones are an unsteady hand's.
WAVES = 12
COSINES = np.cos(np.pi * np.arange(1, WAVES + 1)[:, None] * np.linspace(0, 1, POINTS)).astype(np.float32)
BEND = (0.028 / np.arange(1, WAVES + 1)).astype(np.float32)


class Hands:
    """Draws batches of one label set.

    `sources`: a label's weight is shared by its drawings. The looseness of a source scales how far strokes move on
    their own: little for centre lines of glyphs, whose many pieces must stay together. `nothings`: drawings that are
    none of the labels; `share_of_nothings` of the drawings are such, half of them scribbles.
    """

    def __init__(
        self,
        labels: Sequence[str],
        sources: Sequence[Source],
        nothings: Sequence[Drawing],
        share_of_nothings: float,
    ) -> None:
        drawings: list[Drawing] = []
        known: list[int] = []
        weights: list[float] = []
        loose: list[float] = []
        for k, label in enumerate(labels):
            found = [
                ([d for d in source if d.label == label[0]], weight, looseness) for source, weight, looseness in sources
            ]
            total = sum(weight for mine, weight, _ in found if mine) * len(labels)
            for mine, weight, looseness in found:
                drawings += mine
                known += [k] * len(mine)
                loose += [looseness] * len(mine)
                weights += [(1 - share_of_nothings) * weight / total / max(1, len(mine))] * len(mine)
        drawings += nothings
        weights += [share_of_nothings / 2 / max(1, len(nothings))] * len(nothings)
        self.weights = np.array([*weights, max(0.0, 1 - sum(weights))])  # the last is a scribble
        self.labels = np.array([*known, *[NOTHING] * (len(nothings) + 1)])
        self.origins = np.array([*(drawing.origin for drawing in drawings), 0])
        self.loose = np.array([*loose, *[0.8] * (len(nothings) + 1)], np.float32)
        self.takes_nukta = np.array([k >= 0 and labels[k].endswith(NUKTA) for k in self.labels])
        self.n_strokes = np.array([*[len(d.strokes) for d in drawings], 0])
        self.first = np.cumsum(self.n_strokes) - self.n_strokes
        every = np.stack([deform.resample_to(s, POINTS) for d in drawings for s in d.strokes])
        self.strokes: Float32 = every.astype(np.float32)
        self.is_headline = np.array([flag for d in drawings for flag in headline_flags(d)])
        self.others, self.others_first, self.n_others = self.pairs(drawings)

    def pairs(self, drawings: Sequence[Drawing]) -> tuple[Float32, Int64, Int64]:
        """For each drawing, the others of the same character, with their strokes in its own order and direction.

        The others' strokes (m, POINTS, 2); per drawing where its first begins; per drawing how many others it has. A
        last row, without others, stands for scribbles.
        """
        alike: dict[tuple[str, int], dict[int, int]] = {}
        known: dict[tuple[int, int], AnyPoints | None] = {}
        found: list[AnyPoints] = []
        m = 0
        for row, drawing in enumerate(drawings):
            alike.setdefault((drawing.label, len(drawing.strokes)), {})[id(drawing)] = row
        first, count = np.zeros((2, len(drawings) + 1), int)
        for row, drawing in enumerate(drawings):
            first[row] = m
            n = len(drawing.strokes)
            for other in alike[drawing.label, n].values():
                key = id(drawing), id(drawings[other])
                if key not in known:
                    ours, others = (self.strokes[self.first[k] : self.first[k] + n] for k in (row, other))
                    known[key] = None if key[0] == key[1] else deform.paired(ours, others)
                theirs = known[key]
                if theirs is not None:
                    found.append(theirs)
                    count[row] += 1
                    m += n
        return np.concatenate(found or [np.zeros((1, POINTS, 2))]).astype(np.float32), first, count

    def rows(self, n: int, rng: np.random.Generator) -> Int64:
        """The numbers of `n` drawings, (n,), drawn by weight."""
        return rng.choice(len(self.weights), n, p=self.weights)

    def drawn(self, rows: Int64, rng: np.random.Generator, alone: bool = False) -> tuple[Float32, Int64]:
        """The strokes of drawings, each as another hand might draw it, and their owners.

        `alone`: without other drawers' strokes in it.
        """
        n = len(rows)
        owner = np.repeat(np.arange(n), self.n_strokes[rows])
        within = np.arange(len(owner)) - np.repeat(*starts(self.n_strokes[rows]))
        at = self.first[rows][owner] + within
        strokes = self.strokes[at] if alone else self.mixed(self.strokes[at], rows, owner, within, rng)
        flags = self.is_headline[at]
        strokes = bodies(strokes, owner, flags, n, rng)
        strokes, owner = headlines(strokes, owner, flags, n, rng)
        loose = (self.loose[rows] * rng.uniform(0.25, 1.3, n)).astype(np.float32)[owner]
        strokes = each_stroke(ends(strokes, loose, rng), loose, rng)
        strokes, owner = joined(strokes, owner, rng)
        strokes, owner = scribbled(strokes, owner, np.flatnonzero(self.n_strokes[rows] == 0), rng)
        strokes = affine(elastic(strokes, owner, n, rng), owner, n, rng)
        return dotted(strokes, owner, np.flatnonzero(self.takes_nukta[rows]), rng)

    def mixed(self, strokes: Float32, rows: Int64, owner: Int64, within: Int64, rng: np.random.Generator) -> Float32:
        """Most drawings moved towards one or two other drawers' of the same character.

        `rows`: (n,) which drawings these are; `within`: (k,) each stroke's place in its drawing.
        """
        start = strokes
        for chance, low, high in ((0.75, 0.0, 1.0), (0.3, -0.3, 0.5)):
            n_others = self.n_others[rows]
            other = (rng.random(len(rows)) * n_others).astype(int) * self.n_strokes[rows]
            at = (self.others_first[rows] + other)[owner] + within
            share = rng.uniform(low, high, len(rows))[owner] + rng.normal(0, 0.25, len(owner))
            share = np.clip(share, -0.3, 1.2).astype(np.float32)
            share[((n_others == 0) | (rng.random(len(rows)) > chance))[owner]] = 0
            at = np.minimum(at, len(self.others) - 1)
            strokes = strokes + share[:, None, None] * (self.others[at] - start)
        return strokes


def of_model(data: Path, model: str, hold: Collection[int] = ()) -> Hands:
    """The sampler of a model's drawings, without the drawers in the folds `hold`."""
    drawers = omniglot(data, LETTERS + list(OTHERS["letters-pa"]))
    for fold in hold:
        drawers = [d for d in drawers if not of_fold([d.origin], fold)[0]]
    written = templates()
    traced = fonts.skeletons(data, SETS[model])
    everything = drawers + written + fonts.skeletons(data, OTHERS[model])
    others = [d for d in everything if d.label in OTHERS[model]]
    sources: list[Source] = (
        [(drawers, 0.9, 1.0), (written, 0.03, 1.0), (traced, 0.07, 0.35)]
        if model == "letters-pa"
        else [(written, 0.65, 1.0), (traced, 0.35, 0.35)]
    )
    return Hands(SETS[model], sources, others, NOTHINGS[model])


def starts(counts: Int64) -> tuple[Int64, Int64]:
    """Where each of consecutive groups of these sizes begins, and the sizes."""
    return np.cumsum(counts) - counts, counts


def headline_flags(drawing: Drawing) -> list[bool]:
    """Which of its strokes are headlines."""
    points = np.concatenate(drawing.strokes)
    return [deform.is_headline(s, points.min(0), points.max(0)) for s in drawing.strokes]


def merged(strokes: AnyPoints, owner: Int64, more: AnyPoints, more_owner: Int64) -> tuple[Float32, Int64]:
    """Both lists of strokes in one, and its owners; within an owner, those of the first list come first."""
    owner = np.concatenate([owner, more_owner])
    order = np.argsort(owner, kind="stable")
    return np.concatenate([strokes, more]).astype(np.float32)[order], owner[order]


def bodies(strokes: Float32, owner: Int64, flags: Bool, n: int, rng: np.random.Generator) -> Float32:
    """In three of five drawings with a headline, all other strokes scaled, slanted and moved as one."""
    mine = owner[~flags]
    body = strokes[~flags]
    count = np.maximum(np.bincount(mine, minlength=n), 1)
    middle = np.bincount(mine, body[..., 0].mean(1), n) / count
    top = np.full(n, np.inf)
    np.minimum.at(top, mine, body[..., 1].min(1))
    used = (np.bincount(owner, flags, n) > 0) & (rng.random(n) < 0.6)
    wider, taller = np.exp(rng.normal(-0.04, 0.16, n) * used), np.exp(rng.normal(0, 0.09, n) * used)
    slant = rng.normal(0, 0.1, n) * used
    across, down = rng.normal(0, 0.05, n) * used, rng.normal(0.01, 0.03, n) * used
    x, y = body[..., 0] - middle[mine, None], body[..., 1] - top[mine, None]
    moved = np.stack(
        [
            middle[mine, None] + x * wider[mine, None] + y * slant[mine, None] + across[mine, None],
            top[mine, None] + y * taller[mine, None] + down[mine, None],
        ],
        -1,
    )
    out = strokes.copy()
    out[~flags] = moved
    return out


def headlines(strokes: Float32, owner: Int64, flags: Bool, n: int, rng: np.random.Generator) -> tuple[Float32, Int64]:
    """Headlines longer or shorter; some dropped, some drawn twice. Strokes and their owners."""
    chance = rng.random(n)[owner]
    stretch = np.where(flags, rng.uniform(0.75, 1.3, len(owner)), 1).astype(np.float32)
    middle = strokes[:, :, 0].mean(1, keepdims=True)
    strokes[:, :, 0] = (strokes[:, :, 0] - middle) * stretch[:, None] + middle
    single = np.bincount(owner, minlength=n)[owner] == 1
    kept = ~(flags & (chance < 0.03)) | single
    twice = flags & (chance > 0.97)
    again = strokes[twice] + rng.normal(0, 0.025, (twice.sum(), 1, 2))
    return merged(strokes[kept], owner[kept], again, owner[twice])


def ends(strokes: Float32, strength: Float32, rng: np.random.Generator) -> Float32:
    """Each stroke cut or lengthened at both ends; `strength` (k,) scales by how much."""
    k = len(strokes)
    moved = rng.normal(0, 0.03, (2, k)) * strength * (rng.random((2, k)) < 0.6)
    at = np.linspace(moved[0], 1 + moved[1], POINTS, axis=1) * (POINTS - 1)
    below = np.clip(at.astype(int), 0, POINTS - 2)
    share = (at - below)[..., None].astype(np.float32)
    every = np.arange(k)[:, None]
    a = strokes[every, below]
    return a + share * (strokes[every, below + 1] - a)


def each_stroke(strokes: Float32, strength: Float32, rng: np.random.Generator) -> Float32:
    """Each stroke bent along its length, turned, scaled and moved about its middle; `strength` (k,)."""
    k, scaled = len(strokes), strength[:, None, None]
    turn = rng.normal(0, 0.06, k)
    change = rng.normal(0, 1, (k, 2, 2)) * [[0.06, 0.05], [0.05, 0.06]]
    change[:, 0, 1] += turn
    change[:, 1, 0] -= turn
    middle = strokes.mean(1, keepdims=True)
    moved = strokes + (strokes - middle) @ (change * scaled).astype(np.float32)
    moved += rng.normal(0, 0.018, (k, 1, 2)).astype(np.float32) * scaled
    length = np.minimum(np.abs(np.diff(strokes, axis=1)).sum((1, 2)), 1.0)[:, None, None]
    size = rng.normal(0, 1, (k, 2, WAVES)).astype(np.float32) * BEND * scaled * length
    bent: Float32 = moved + (size @ COSINES).transpose(0, 2, 1)
    return bent


def joined(strokes: Float32, owner: Int64, rng: np.random.Generator) -> tuple[Float32, Int64]:
    """With a chance of 0.05, a line from a stroke's end to the next one's beginning, where that is nearer than 0.3."""
    a, b = strokes[:-1, -1], strokes[1:, 0]
    chosen = (owner[:-1] == owner[1:]) & (np.hypot(*(b - a).T) < 0.3) & (rng.random(len(a)) < 0.05)
    links = a[chosen, None] + np.linspace(0, 1, POINTS)[:, None] * (b - a)[chosen, None]
    return merged(strokes, owner, links, owner[:-1][chosen])


def scribbled(strokes: Float32, owner: Int64, chosen: Int64, rng: np.random.Generator) -> tuple[Float32, Int64]:
    """One to six random smooth curves added to each of the drawings `chosen`, which have no strokes."""
    of = np.repeat(chosen, rng.integers(1, 7, len(chosen)))
    fall = rng.uniform(0.3, 1.2, (len(of), 1, 1))
    size = rng.normal(0, 0.3, (len(of), 2, 6)) / np.arange(1, 7) ** fall
    curves = (size @ COSINES[:6]).transpose(0, 2, 1) + rng.uniform(-0.5, 0.5, (len(of), 1, 2))
    return merged(strokes, owner, curves, of)


def elastic(strokes: Float32, owner: Int64, n: int, rng: np.random.Generator) -> Float32:
    """Each drawing displaced by a smooth random field of its own: four plane waves of low frequency."""
    moved, strength = strokes.copy(), rng.uniform(0.3, 1.3, n)
    for _ in range(4):
        angle, size = rng.uniform(0, 2 * np.pi, n), rng.uniform(1.5, 9.0, n)
        x, y = (size * np.stack([np.cos(angle), np.sin(angle)]))[:, owner].astype(np.float32)
        phase = rng.uniform(0, 2 * np.pi, n).astype(np.float32)[owner]
        reach = (rng.normal(0, 0.18, (n, 2)) * (strength / size)[:, None]).astype(np.float32)[owner]
        wave = np.sin(strokes[..., 0] * x[:, None] + strokes[..., 1] * y[:, None] + phase[:, None])
        moved += wave[..., None] * reach[:, None]
    return moved


def affine(strokes: Float32, owner: Int64, n: int, rng: np.random.Generator) -> Float32:
    """Each drawing rotated by at most 0.27 (15 degrees), slanted, stretched, and seen in slight perspective."""
    wide = rng.random(n) < 0.15
    angle = np.clip(np.where(wide, rng.uniform(-0.27, 0.27, n), rng.normal(0, 0.09, n)), -0.27, 0.27)
    aspect, shear = np.exp(rng.normal(0, 0.12, n)), rng.normal(0, 0.14, n)
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.array([[c * aspect, s * aspect], [c * shear - s / aspect, s * shear + c / aspect]])
    matrix = matrix.astype(np.float32).transpose(2, 0, 1)[owner]
    tilt = rng.normal(0, 0.08, (n, 2, 1)).astype(np.float32)[owner]
    seen: Float32 = (strokes @ matrix) / np.maximum(1 + strokes @ tilt, 0.5)
    return seen


def dotted(strokes: Float32, owner: Int64, chosen: Int64, rng: np.random.Generator) -> tuple[Float32, Int64]:
    """A nukta, as one stroke more, added to each of the drawings `chosen`."""
    low, high = np.searchsorted(owner, chosen), np.searchsorted(owner, chosen, "right")
    dots = [nukta(strokes[a:b].reshape(-1, 2), rng) for a, b in zip(low, high, strict=True)]
    return merged(strokes, owner, np.array(dots).reshape(-1, POINTS, 2), chosen)


def nukta(points: Float32, rng: np.random.Generator) -> Float64:
    """A dot, ring, tick or dash (POINTS, 2) in one of six kinds of places about a letter's points (m, 2)."""
    low, high = points.min(0), points.max(0)
    span = high - low
    size = rng.uniform(0.022, 0.065) * span.max()
    place, clear = rng.random(), rng.uniform(0.02, 0.09) * span.max() + size
    for _ in range(8):
        if place < 0.34:  # below
            x, y = rng.uniform(low[0] + 0.1 * span[0], high[0]), high[1] + rng.uniform(0.03, 0.2)
        elif place < 0.48:  # at the foot: beside the lowest parts, not below all
            x, y = rng.uniform(low[0] - 0.05, high[0]), high[1] + rng.uniform(-0.15, 0.08)
        elif place < 0.58:  # lower left
            x, y = low[0] - rng.uniform(-0.02, 0.12), high[1] - rng.uniform(-0.12, 0.3) * span[1]
        elif place < 0.63:  # lower right
            x, y = high[0] + rng.uniform(0.0, 0.12), high[1] - rng.uniform(-0.12, 0.25) * span[1]
        elif place < 0.92:  # in the bowl, or the roomiest spot of the lower half
            x, y = deform.open_spot(points, low, high, rng)
        else:  # touching, or nearly
            clear = rng.uniform(0.3, 1.2) * size
            x, y = low[0] + span[0] * rng.uniform(0.1, 0.95), high[1] + rng.uniform(0.0, 0.08)
        centre = np.array([x, y])
        if np.hypot(*(points - centre).T).min() > clear:
            break
    return centre + size * mark(rng)


def mark(rng: np.random.Generator) -> Float64:
    """The shape of a nukta of size 1 about the origin, (POINTS, 2)."""
    kind, along = rng.random(), np.linspace(0, 1, POINTS)
    if kind < 0.75:
        reach = 0.3 if kind < 0.6 else rng.uniform(0.8, 1.3)  # a dot or a ring
        around = 2 * np.pi * (along + rng.random())
        return reach * np.stack([np.cos(around), np.sin(around)], 1)
    if kind < 0.88:
        return deform.resample_to(np.array([[-1.0, -0.6], [-0.2, 0.9], [1.2, -1.0]]), POINTS)
    angle, reach = rng.uniform(-0.9, 0.9), rng.uniform(1.0, 1.8)
    return (2 * along - 1)[:, None] * reach * np.array([np.cos(angle), np.sin(angle)])
