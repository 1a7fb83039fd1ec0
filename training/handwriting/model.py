"""The generator: a linear-Gaussian latent model of pen strokes, estimated from drawings in correspondence.

A drawing of glyph g by writer s is mean_g + A_g s + B_g v, with s ~ N(0, I16) the writer and v ~ N(0, I24)
this one drawing. The drawers are orthonormal points of the writers' space, so a writer is a mixture of
drawers and every glyph is mixed alike: A_g s follows one person through all letters. How much of a
deviation belongs to the writer and how much to the one drawing is measured on the letter that each
drawer drew twice, separately for the coarse and the fine part of a stroke.
Glyphs that nobody drew take the drawers' common smooth field (slant, width, proportions) and the
waviness that strokes of their size have.
"""

from dataclasses import dataclass

import numpy as np

from . import drawings, glyphs
from .dynamics import length
from .export import MODES, STYLE, VARIATION, cosines
from .glyphs import POINTS, STROKES

TWICE = "ਅ"  # drawn twice by every drawer
BANDS = [0, 1, 2, 4, 8, MODES]
WAVELENGTHS = np.array([0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9, 1.35, 2.0, 3.0])  # body heights
STILL = 0.35  # share of the undrawn glyphs' strokes' own shift (cosine 0) that is kept: strokes stay joined
STEADY = 0.65  # a practised writer's variance about their own shape, against that of people who copy
# Signs that drawers drew within a vowel: which of its strokes.
BORROWED = {"ਾ": ("ਆ", [2]), "ਿ": ("ਇ", [0]), "ੁ": ("ਉ", [1]), "ੇ": ("ਏ", [2])}
SIGN_CANON = 10.0  # their taught shape counts as this many drawings
# Vowels whose signs are too small to be read off the drawings: letter, its stroke whose end carries
# the sign, sign, and where the sign's x = 0 lies from that end.
COMPOSED = {
    "ਆ": ("ਅ", 1, "ਾ", 0.34),
    "ਐ": ("ਅ", 1, "ੈ", -0.2),
    "ਔ": ("ਅ", 1, "ੌ", -0.06),
    "ਈ": ("ੲ", 1, "ੀ", 0.34),
    "ਊ": ("ੳ", 0, "ੂ", 0.33),
}
UNSTEADY = 0.12  # body heights: waves this long are halved, shorter ones more; mice are not pens
WILDEST = 1.15  # a glyph's spread is at most this many times the letters' median
# Less for those that would turn into another letter.
TAME = dict.fromkeys("ਤਨਰੜਥਲਡ", 0.8)
CALM = 0.6  # waviness of glyphs that nobody drew, against the drawn ones'
STEMS = "ਾਿੀ"
HUNG = 0.6  # share of the up and down that a stroke's end on the headline loses
MORE = 0.7  # of a writer's own field, added to what the drawers of printed models showed of it
COS = cosines()


def field(points):
    """Smooth displacement basis over a glyph, (..., 7)."""
    x = points[..., 0] / max(1.0, np.max(points[..., 0]) / 1.1) - 0.45
    y = points[..., 1] - 0.5
    return np.stack(
        [x, y, x * y, y * y - 0.15, x * x - 0.1, np.sin(2 * np.pi * y) * 0.3, np.cos(2 * np.pi * y) * 0.3], -1
    )


@dataclass
class Hands:
    """What drawings say about writers."""

    codes: dict  # drawer to its point in the writers' space, (16,)
    share: np.ndarray  # (MODES,): the one drawing's share of a deviation's variance
    field: np.ndarray  # (16, 7, 2): a writer's field
    field_alone: np.ndarray  # (7, 2): standard deviations of one drawing's own field
    spread: float  # letters' median standard deviation of a coefficient
    wave: np.ndarray  # log variance of a cosine's coefficient by log wavelength


def moves(rows, mean):
    """Deviations from the mean as cosines, (drawings, strokes, 2, MODES); the strangest drawn in."""
    apart = np.stack([r.points for r in rows]) - mean
    spread = np.sqrt((apart**2).mean((1, 2, 3)))
    apart *= np.minimum(1, 1.6 * np.median(spread) / spread)[:, None, None, None]
    return np.einsum("dspc,mp->dscm", apart, COS)


def steadied(coefficients, mean):
    """Short waves made smaller, (drawings, strokes, 2, MODES)."""
    for s, stroke in enumerate(mean):
        wave = np.arange(MODES) / (2 * length(stroke))
        coefficients[:, s] = coefficients[:, s] / (1 + (UNSTEADY * wave) ** 2)
    return coefficients


def codes_of(kept, means):
    """Orthonormal codes, the commonest traits first."""
    hands = sorted({r.hand for rows in kept.values() for r in rows if r.hand > 0})
    blocks = []
    for text, rows in kept.items():
        if any(r.hand > 0 for r in rows):
            block = np.zeros((len(hands), means[text].size))
            coefficients = moves(rows, means[text]).reshape(len(rows), -1)
            for row, c in zip(rows, coefficients):
                block[hands.index(row.hand), : c.size] = c
            blocks.append(block)
    whole = np.concatenate(blocks, 1)
    left, _, _ = np.linalg.svd(whole - whole.mean(0), full_matrices=True)
    codes = np.zeros((len(hands), STYLE))
    codes[:, : min(STYLE, len(hands))] = left[:, :STYLE] * np.sqrt(len(hands))
    return dict(zip(hands, codes))


def share_of_one(rows, mean):
    """By band of cosines: the variance between one drawer's two drawings against all drawings'."""
    both = moves(rows, mean)
    hands = np.array([r.hand for r in rows])
    pairs = [np.flatnonzero(hands == h) for h in sorted(set(hands))]
    pairs = [p for p in pairs if len(p) == 2]
    within = np.mean([(both[a] - both[b]) ** 2 / 2 for a, b in pairs], 0)
    total = both.var(0) * len(both) / (len(both) - 1)
    share = np.empty(MODES)
    for low, high in zip(BANDS[:-1], BANDS[1:]):
        share[low:high] = within[..., low:high].sum() / total[..., low:high].sum()
    return np.clip(share, 0.15, 0.95), len(pairs)


def fields_of(kept, means):
    """Each drawer's field over all its letters, each drawing's own field about it, and what remains."""
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


def normals(stroke):
    step = np.gradient(stroke, axis=0)
    return np.stack([-step[:, 1], step[:, 0]], 1) / (np.hypot(*step.T)[:, None] + 1e-9)


def waviness(kept, means):
    """Log of the usual variance, per point, of a cosine of the way across a stroke, by wavelength."""
    lengths, squares = [], []
    for text, rows in kept.items():
        if not any(r.hand > 0 for r in rows):
            continue
        flat = field(means[text]).reshape(-1, 7)
        for row in rows:
            apart = (row.points - means[text]).reshape(-1, 2)
            rest = (apart - flat @ np.linalg.lstsq(flat, apart, rcond=None)[0]).reshape(means[text].shape)
            for s, stroke in enumerate(means[text]):
                c = COS[1:] @ (rest[s] * normals(stroke)).sum(1)
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


def borrowed(kept, shapes):
    """Vowel signs, from the vowels that hold them; what stays is where they are attached."""
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
            rows.append(drawings.Drawn(row.hand, strokes, []))
        found[sign] = drawings.usual(rows, canon)
    return found


def by_height(stroke):
    """(y, x) of a stem, y ascending."""
    stem = stroke[np.argmin(stroke[:, 1]) :]
    order = np.argsort(stem[:, 1])
    return stem[order, 1], stem[order, 0]


def learn(kept, shapes):
    means = {t: drawings.mean_shape(shapes[t], kept.get(t, [])) for t in shapes}
    codes = codes_of(kept, means)
    share, n_pairs = share_of_one(kept[TWICE], means[TWICE])
    whole, alone = fields_of(kept, means)
    n = len(codes)
    by_code = sum(codes[h][:, None, None] * whole[h] for h in codes) / n
    spread = np.median([moves(rows, means[t]).std() for t, rows in kept.items() if rows[0].hand > 0])
    return Hands(codes, STEADY * share, by_code, alone, spread, waviness(kept, means)), means, n_pairs


def turned(n, width, rng):
    """N orthonormal rows of this width (columns when n > width)."""
    q, _ = np.linalg.qr(rng.normal(size=(max(n, width), min(n, width))))
    return q if n >= width else q.T


def spread_of(stroke, wave):
    """Standard deviation of each cosine's coefficient for a stroke of this size, (MODES,)."""
    wavelength = np.log(2 * length(stroke) / np.arange(1, MODES))
    variance = np.exp(np.interp(wavelength, np.log(WAVELENGTHS), wave)) * POINTS
    long = np.exp(np.interp(np.log(2 * length(stroke)), np.log(WAVELENGTHS), wave)) * POINTS
    steady = 1 / (1 + (UNSTEADY * np.arange(MODES) / (2 * length(stroke))) ** 2)
    return CALM * steady * np.sqrt(np.concatenate([[long * STILL**2], variance]))


def arrays(kept, shapes, log=print):
    """What export.graph takes."""
    hands, means, n_pairs = learn(kept, shapes)
    signs = borrowed(kept, shapes)
    kept = kept | signs
    means |= {t: drawings.mean_shape(shapes[t], rows, SIGN_CANON) for t, rows in signs.items()}
    log(
        f"{len(hands.codes)} drawers; {n_pairs} drew {TWICE} twice; one drawing's share of variance "
        f"by cosine: {np.round(hands.share / STEADY, 2).tolist()}"
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
        rng = np.random.default_rng(1000 + k)
        mean, rows = means[glyph.text], kept.get(glyph.text, [])
        shift = np.zeros(2)
        if glyph.kind in ("letter", "digit", "mark"):
            shift[0] = mean[..., 0].min()
        m = len(mean)
        rest, near = hung(mean, shapes[glyph.text])
        out["base"][k, :m], out["present"][k, :m] = rest - shift, True
        out["head"][k] = head_of(glyph, rows) - np.where(glyph.head[:, :1] < glyph.head[:, 1:], shift[0], 0)
        if rows and rows[0].hand > 0:
            style, one = from_drawers(glyph.text, rows, mean, hands, rng)
            style += MORE * np.stack([field_moves(glyph, mean, load) for load in hands.field])
        else:
            style, one = undrawn(glyph, mean, hands, rng)
            if rows:
                style, one = with_hands(style, one, rows, mean, hands, rng)
        out["style"][k, :, :m], out["variation"][k, :, :m] = held(style, near), held(one, near)
        out["style_head"][k], out["variation_head"][k] = head_moves(out, k)
    for vowel, parts in COMPOSED.items():
        compose(out, {g.text: k for k, g in enumerate(table)}, vowel, *parts)
    return out


def compose(out, index, vowel, letter, stroke, sign, beside):
    """A vowel out of a letter and a sign that moves with the start of one of the letter's strokes."""
    k, base, added = index[vowel], index[letter], index[sign]
    n_base, n_added = (int(out["present"][i].sum()) for i in (base, added))
    assert n_base + n_added == out["present"][k].sum(), vowel
    parts = range(n_base, n_base + n_added)
    for name in ("base", "style", "variation", "head", "style_head", "variation_head"):
        out[name][k] = out[name][base]
    there = out["base"][base, stroke, 0, 0] + beside
    for part in parts:
        out["base"][k, part] = out["base"][added, part - n_base] + [there, 0]
        for name in ("style", "variation"):
            loads = out[name]
            loads[k, :, part] = loads[added, :, part - n_base]
            loads[k, :, part, 0, 0] += loads[base, :, stroke, 0] @ COS[:, 0] * np.sqrt(POINTS)
    if sign in STEMS:
        spans = [i for i in range(2) if out["head"][k, i, 0] < out["head"][k, i, 1]]
        out["head"][k, spans[-1], 1] = there + 0.15


def hung(mean, canon):
    """The mean with the ends that belong on the headline brought to it, and how near each point is to such
    an end, (strokes, POINTS).
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


def held(loads, near):
    """Loads (k, s, 2, MODES) with most of the up and down taken out near the headline's ends."""
    moved = np.einsum("ksm,mp->ksp", loads[:, :, 1], COS) * (1 - HUNG * near)
    loads[:, :, 1] = np.einsum("ksp,mp->ksm", moved, COS)
    return loads


def from_drawers(text, rows, mean, hands, rng):
    """(16, s, 2, MODES) by writer and (24, s, 2, MODES) by drawing, from the drawers' deviations."""
    c = steadied(moves(rows, mean), mean)
    c -= c.mean(0)
    c *= min(1.0, WILDEST * hands.spread / c.std()) * TAME.get(text, 1.0)
    code = np.stack([hands.codes[r.hand] for r in rows])
    style = np.einsum("dk,dscm->kscm", code, c) / np.sqrt(len(hands.codes) * len(rows))
    style *= np.sqrt((c**2).mean() / (style**2).sum(0).mean())
    free = turned(len(rows), VARIATION, rng)
    one = np.einsum("dk,dscm->kscm", free, c) / np.sqrt(len(rows))
    one *= np.sqrt((c**2).mean() / (one**2).sum(0).mean())
    return style * np.sqrt(1 - hands.share), one * np.sqrt(hands.share)


def field_moves(glyph, mean, loads):
    """A field's displacement of a glyph as cosines; a sign's place of attachment stays."""
    centre = {"above": [0.45, 0.0], "below": [0.45, 1.05], "sign": [0.45, 0.0]}.get(glyph.kind)
    if centre is None:
        moved = field(mean) @ loads
    else:
        moved = (field(mean + [centre[0], 0]) - field(np.array(centre))) @ loads
    return np.einsum("spc,mp->scm", moved, COS)


def undrawn(glyph, mean, hands, rng):
    style = (1 + MORE) * np.stack([field_moves(glyph, mean, load) for load in hands.field])
    one = np.zeros((VARIATION, len(mean), 2, MODES))
    slots = [(b, c) for c in (0, 1) for b in range(7)]
    for slot, (b, c) in enumerate(slots):
        load = np.zeros((7, 2))
        load[b, c] = hands.field_alone[b, c] * (0.5 if glyph.kind in ("above", "below", "sign") else 0.8)
        one[slot] += field_moves(glyph, mean, load)
    for s, stroke in enumerate(mean):
        spread, across = spread_of(stroke, hands.wave), normals(stroke)
        for part, width, weight in ((style, STYLE, 1 - hands.share), (one, VARIATION, hands.share)):
            noise = rng.normal(size=(width, MODES)) / np.sqrt(width) * spread * np.sqrt(weight)
            part[:, s] += np.einsum("km,mp,pc,np->kcn", noise, COS, across, COS)
    return style, one


def with_hands(style, one, rows, mean, hands, rng, strength=0.9):
    """A digit: besides the field, how hands differ in it; the same writer always writes it alike."""
    c = steadied(moves(rows, mean), mean) * strength
    c -= c.mean(0)
    by_writer, by_drawing = turned(len(rows), STYLE, rng), turned(len(rows), VARIATION, rng)
    for part, turn, weight in ((style, by_writer, 1 - hands.share), (one, by_drawing, hands.share)):
        added = np.einsum("dk,dscm->kscm", turn, c) / np.sqrt(len(rows))
        added *= np.sqrt((c**2).mean() / max((added**2).sum(0).mean(), 1e-12))
        part += added * np.sqrt(weight)
    return style, one


def head_of(glyph, rows):
    """Spans at rest: the taught ones, moved half-way to where the drawers' ended."""
    head = glyph.head.copy()
    for i in range(2):
        if head[i, 0] < head[i, 1] and rows and len(rows[0].ends) > i:
            seen = np.median([r.ends[i] for r in rows], 0)
            head[i] = 0.5 * head[i] + 0.5 * seen
    return head


def head_moves(out, k):
    """Spans move as the strokes' points nearest to their ends do."""
    moved = [np.zeros((width, 4)) for width in (STYLE, VARIATION)]
    used = out["present"][k]
    for i in range(2):
        for e in range(2):
            if out["head"][k, i, 0] >= out["head"][k, i, 1]:
                continue
            point = np.array([out["head"][k, i, e], 0.0])
            apart = np.hypot(*np.moveaxis(out["base"][k, used] - point, -1, 0))
            weight = np.exp(-((apart / 0.15) ** 2)) + np.exp(-apart / 0.2) * 1e-3
            weight /= weight.sum()
            for part, loads in zip(moved, (out["style"][k][:, used, 0], out["variation"][k][:, used, 0])):
                part[:, 2 * i + e] = np.einsum("ksm,mp,sp->k", loads, COS, weight)
    return moved
