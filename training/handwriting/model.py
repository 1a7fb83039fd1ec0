"""What drawings say about writers in; the arrays of the generator's file out.

`hands` describes the model. Glyphs that nobody drew take the drawers' common smooth field (slant, width, proportions)
and the waviness that strokes of their size have. `s` below is a glyph's number of strokes; lengths are in body heights.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from recognition.arrays import Float64

from . import drawings, glyphs, hands
from .basis import COSINES, MODES, STYLE, VARIATION
from .drawings import Drawn
from .glyphs import POINTS, STROKES, Glyph
from .hands import OWN_VARIANCE, SHORT_WAVE, SIGN_CANON, STEMS, TWICE, WAVELENGTHS, Hands, deviations, field
from .lines import length

# By name, g glyphs: base (g, STROKES, POINTS, 2), present (g, STROKES), head (g, 2, 2), style (g, STYLE, STROKES, 2,
# MODES), variation (g, VARIATION, STROKES, 2, MODES), style_head (g, STYLE, 4), variation_head (g, VARIATION, 4).
# `present` is boolean and the others are float64.
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
# How strokes move per number of a writer (STYLE, s, 2, MODES) and per number of one drawing (VARIATION, s, 2, MODES).
Loads: TypeAlias = tuple[Float64, Float64]

# Vowels whose signs are too small to be read off the drawings: letter, its stroke whose end carries the sign, sign, and
# where the sign's x = 0 lies from that end.
COMPOSED = {
    "ਆ": ("ਅ", 1, "ਾ", 0.34),
    "ਐ": ("ਅ", 1, "ੈ", -0.2),
    "ਔ": ("ਅ", 1, "ੌ", -0.06),
    "ਈ": ("ੲ", 1, "ੀ", 0.34),
    "ਊ": ("ੳ", 0, "ੂ", 0.33),
}
# Set, not learned:
# Of glyphs without drawings: share of a stroke's own shift (cosine 0) that is kept, so that strokes stay joined.
UNDRAWN_SHIFT = 0.35
UNDRAWN_WAVES = 0.6  # of glyphs without drawings: waviness, as a share of that of drawn strokes
MAX_SPREAD = 1.15  # a glyph's spread is at most this many times the letters' median
LESS_SPREAD = dict.fromkeys("ਤਨਰੜਥਲਡ", 0.8)  # for letters that would turn into others
HEADLINE_HOLD = 0.6  # share of its up and down that a stroke's end on the headline loses
EXTRA_FIELD = 0.7  # share of a writer's field that is added to what the drawers, who copied print, showed of it


def orthonormal(n: int, width: int, rng: np.random.Generator) -> Float64:
    """A random matrix (n, width) whose rows are orthonormal, or whose columns are when n > width."""
    q, _ = np.linalg.qr(rng.normal(size=(max(n, width), min(n, width))))
    return q if n >= width else q.T


def spread_of(stroke: Float64, wave: Float64) -> Float64:
    """Standard deviation of each cosine's coefficient (MODES,) for an undrawn stroke (n, 2); `wave`: Hands.wave."""
    wavelength = np.log(2 * length(stroke) / np.arange(1, MODES))
    variance = np.exp(np.interp(wavelength, np.log(WAVELENGTHS), wave)) * POINTS
    long = np.exp(np.interp(np.log(2 * length(stroke)), np.log(WAVELENGTHS), wave)) * POINTS
    steady = 1 / (1 + (SHORT_WAVE * np.arange(MODES) / (2 * length(stroke))) ** 2)
    spread: Float64 = UNDRAWN_WAVES * steady * np.sqrt(np.concatenate([[long * UNDRAWN_SHIFT**2], variance]))
    return spread


def arrays(kept: Mapping[str, Sequence[Drawn]], shapes: Mapping[str, Float64]) -> Arrays:
    """What `export.graph` takes, from the usable drawings and the taught shapes (s, POINTS, 2) of each glyph's text."""
    known, means, n_pairs = hands.learn(kept, shapes)
    signs = hands.borrowed(kept, shapes)
    everything = {**kept, **signs}
    means |= {t: drawings.mean_shape(shapes[t], rows, SIGN_CANON) for t, rows in signs.items()}
    print(
        f"{len(known.codes)} drawers; {n_pairs} drew {TWICE} twice; one drawing's share of variance "
        f"by cosine: {np.round(known.share / OWN_VARIANCE, 2).tolist()}"
    )
    table = glyphs.table()
    n = len(table)
    out = {
        "base": np.zeros((n, STROKES, POINTS, 2)),
        "present": np.zeros((n, STROKES), bool),
        "head": np.zeros((n, 2, 2)),
        "style": np.zeros((n, STYLE, STROKES, 2, MODES)),
        "variation": np.zeros((n, VARIATION, STROKES, 2, MODES)),
        "style_head": np.zeros((n, STYLE, 4)),
        "variation_head": np.zeros((n, VARIATION, 4)),
    }
    for k, glyph in enumerate(table):
        fill(out, k, glyph, shapes[glyph.text], means[glyph.text], everything.get(glyph.text, []), known)
    for vowel, parts in COMPOSED.items():
        compose(out, {g.text: k for k, g in enumerate(table)}, vowel, *parts)
    return out


def fill(out: Arrays, k: int, glyph: Glyph, canon: Float64, mean: Float64, rows: Sequence[Drawn], known: Hands) -> None:
    """Writes glyph number `k`, with its taught and mean shape (s, POINTS, 2) and its drawings, into the arrays."""
    rng = np.random.default_rng(1000 + k)
    shift = np.zeros(2)
    if glyph.kind in ("letter", "digit", "mark"):
        shift[0] = mean[..., 0].min()
    m = len(mean)
    rest, near = at_headline(mean, canon)
    out["base"][k, :m], out["present"][k, :m] = rest - shift, True
    out["head"][k] = head_of(glyph, rows) - np.where(glyph.head[:, :1] < glyph.head[:, 1:], shift[0], 0)
    if rows and rows[0].hand > 0:
        style, one = from_drawers(glyph.text, rows, mean, known, rng)
        style += EXTRA_FIELD * np.stack([field_moves(glyph, mean, load) for load in known.field])
    else:
        style, one = undrawn(glyph, mean, known, rng)
        if rows:
            style, one = with_drawings((style, one), rows, mean, known, rng)
    out["style"][k, :, :m], out["variation"][k, :, :m] = held(style, near), held(one, near)
    out["style_head"][k], out["variation_head"][k] = head_moves(out, k)


def compose(
    out: Arrays, index: Mapping[str, int], vowel: str, letter: str, stroke: int, sign: str, beside: float
) -> None:
    """Overwrites a vowel with a letter and a sign that moves with the start of one of the letter's strokes.

    `index`: text to the glyph's number; `beside`: how far the sign's x = 0 lies from that start.
    """
    k, base, added = index[vowel], index[letter], index[sign]
    n_base, n_added = (int(out["present"][i].sum()) for i in (base, added))
    if n_base + n_added != out["present"][k].sum():
        raise ValueError(f"{vowel} has not as many strokes as {letter} and {sign}")
    parts = range(n_base, n_base + n_added)
    for name in ("base", "style", "variation", "head", "style_head", "variation_head"):
        out[name][k] = out[name][base]
    there = out["base"][base, stroke, 0, 0] + beside
    for part in parts:
        out["base"][k, part] = out["base"][added, part - n_base] + [there, 0]
        for name in ("style", "variation"):
            loads = out[name]
            loads[k, :, part] = loads[added, :, part - n_base]
            loads[k, :, part, 0, 0] += loads[base, :, stroke, 0] @ COSINES[:, 0] * np.sqrt(POINTS)
    if sign in STEMS:
        spans = [i for i in range(2) if out["head"][k, i, 0] < out["head"][k, i, 1]]
        out["head"][k, spans[-1], 1] = there + 0.15


def at_headline(mean: Float64, canon: Float64) -> tuple[Float64, Float64]:
    """The mean (s, POINTS, 2) with ends brought to the headline where the taught shape `canon` has them there.

    Also how near each point is to such an end, 0..1, (s, POINTS).
    """
    near = np.zeros(mean.shape[:2])
    mean = mean.copy()
    ramp = 0.5 + 0.5 * np.cos(np.pi * np.clip(np.arange(POINTS) / 14, 0, 1))
    for s in range(len(mean)):
        for end, weight in ((0, ramp), (-1, ramp[::-1])):
            if abs(canon[s, end, 1]) < 0.025:
                mean[s, :, 1] -= (mean[s, end, 1] + 0.005) * weight
                near[s] = np.maximum(near[s], weight)
    return mean, near


def held(loads: Float64, near: Float64) -> Float64:
    """Loads (k, s, 2, MODES), changed in place, with most of the up and down taken out near the headline's ends.

    `near`: (s, POINTS), from `at_headline`.
    """
    moved = np.einsum("ksm,mp->ksp", loads[:, :, 1], COSINES) * (1 - HEADLINE_HOLD * near)
    loads[:, :, 1] = np.einsum("ksp,mp->ksm", moved, COSINES)
    return loads


def from_drawers(text: str, rows: Sequence[Drawn], mean: Float64, known: Hands, rng: np.random.Generator) -> Loads:
    """The loads of a glyph that drawers drew, from their deviations from its mean (s, POINTS, 2)."""
    c = hands.without_tremor(deviations(rows, mean), mean)
    c -= c.mean(0)
    c *= min(1.0, MAX_SPREAD * known.spread / c.std()) * LESS_SPREAD.get(text, 1.0)
    code = np.stack([known.codes[r.hand] for r in rows])
    style = np.einsum("dk,dscm->kscm", code, c) / np.sqrt(len(known.codes) * len(rows))
    style *= np.sqrt((c**2).mean() / (style**2).sum(0).mean())
    free = orthonormal(len(rows), VARIATION, rng)
    one = np.einsum("dk,dscm->kscm", free, c) / np.sqrt(len(rows))
    one *= np.sqrt((c**2).mean() / (one**2).sum(0).mean())
    return style * np.sqrt(1 - known.share), one * np.sqrt(known.share)


def field_moves(glyph: Glyph, mean: Float64, loads: Float64) -> Float64:
    """How a field of these loads (7, 2) moves a glyph's mean (s, POINTS, 2), as cosines (s, 2, MODES).

    The place where a sign is attached stays.
    """
    centre = {"above": [0.45, 0.0], "below": [0.45, 1.05], "sign": [0.45, 0.0]}.get(glyph.kind)
    basis = field(mean) if centre is None else field(mean + np.array([centre[0], 0])) - field(np.array(centre))
    return np.einsum("spc,mp->scm", basis @ loads, COSINES)


def undrawn(glyph: Glyph, mean: Float64, known: Hands, rng: np.random.Generator) -> Loads:
    """The loads of a glyph that nobody drew, about its mean (s, POINTS, 2): field and waviness."""
    style = (1 + EXTRA_FIELD) * np.stack([field_moves(glyph, mean, load) for load in known.field])
    one = np.zeros((VARIATION, len(mean), 2, MODES))
    slots = [(b, c) for c in (0, 1) for b in range(7)]
    for slot, (b, c) in enumerate(slots):
        load = np.zeros((7, 2))
        load[b, c] = known.field_alone[b, c] * (0.5 if glyph.kind in ("above", "below", "sign") else 0.8)
        one[slot] += field_moves(glyph, mean, load)
    for s, stroke in enumerate(mean):
        spread, across = spread_of(stroke, known.wave), hands.normals(stroke)
        for part, width, weight in ((style, STYLE, 1 - known.share), (one, VARIATION, known.share)):
            noise = rng.normal(size=(width, MODES)) / np.sqrt(width) * spread * np.sqrt(weight)
            part[:, s] += np.einsum("km,mp,pc,np->kcn", noise, COSINES, across, COSINES)
    return style, one


def with_drawings(
    loads: Loads, rows: Sequence[Drawn], mean: Float64, known: Hands, rng: np.random.Generator, strength: float = 0.9
) -> Loads:
    """A digit's loads, changed in place, with how its drawings differ from their mean (s, POINTS, 2).

    The digits' drawings are nobody's in omniglot, so the differences are spread at random over the writers' space: the
    same writer always writes the digit alike.
    """
    style, one = loads
    c = hands.without_tremor(deviations(rows, mean), mean) * strength
    c -= c.mean(0)
    by_writer, by_drawing = orthonormal(len(rows), STYLE, rng), orthonormal(len(rows), VARIATION, rng)
    for part, turn, weight in ((style, by_writer, 1 - known.share), (one, by_drawing, known.share)):
        added = np.einsum("dk,dscm->kscm", turn, c) / np.sqrt(len(rows))
        added *= np.sqrt((c**2).mean() / max((added**2).sum(0).mean(), 1e-12))
        part += added * np.sqrt(weight)
    return style, one


def head_of(glyph: Glyph, rows: Sequence[Drawn]) -> Float64:
    """The headline spans (2, 2) of the mean shape: the taught ones, moved half-way to where the drawers' ended."""
    head = glyph.head.copy()
    for i in range(2):
        if head[i, 0] < head[i, 1] and rows and len(rows[0].ends) > i:
            seen = np.median([r.ends[i] for r in rows], 0)
            head[i] = 0.5 * head[i] + 0.5 * seen
    return head


def head_moves(out: Arrays, k: int) -> tuple[Float64, Float64]:
    """How glyph number `k`'s spans move, (STYLE, 4) and (VARIATION, 4): as the strokes' points near their ends do."""
    moved = np.zeros((STYLE, 4)), np.zeros((VARIATION, 4))
    used = out["present"][k]
    for i in range(2):
        for e in range(2):
            if out["head"][k, i, 0] >= out["head"][k, i, 1]:
                continue
            point = np.array([out["head"][k, i, e], 0.0])
            apart = np.hypot(*np.moveaxis(out["base"][k, used] - point, -1, 0))
            weight = np.exp(-((apart / 0.15) ** 2)) + np.exp(-apart / 0.2) * 1e-3
            weight /= weight.sum()
            for part, loads in zip(moved, (out["style"][k][:, used, 0], out["variation"][k][:, used, 0]), strict=True):
                part[:, 2 * i + e] = np.einsum("ksm,mp,sp->k", loads, COSINES, weight)
    return moved
