"""Strokes of a whole batch in; the squares that the Rust feature filter would make of them out.

The filter (`inference/src/ink`) frames clean ink so: the ink box's longest side becomes SIDE - 2 * MARGIN pixels, the
box is centred, its aspect is kept, it is resized with a triangle kernel, and its stroke width is evened. Here the
strokes are scaled to that frame first and drawn straight into it, which is some fifteen times faster than drawing a
picture and filtering it.

In a batch of n drawings, `strokes` (k, m, 2) holds all strokes, m points each, and `owner` (k,) the drawing 0..n-1 that
each belongs to, ascending, every drawing present. A feature pixel is a pixel of the SIDE x SIDE square.
"""

import numpy as np

from .arrays import AnyPoints, Bool, Float32, Float64, Int64, Squares

SIDE = 48
MARGIN = 3  # paper around the ink's longest extent, feature pixels
WIDTHS = 3.0, 5.0  # mean stroke widths left alone, feature pixels
SHIFT = 4  # fractional bits of cv2's coordinates


def framed(strokes: AnyPoints, owner: Int64, width: Float64, stretch: Bool) -> AnyPoints:
    """The strokes in feature pixels, scaled so that the ink (points and half a pen) fills the frame.

    `width`: (n,) pen in feature pixels; `stretch`: (n,) whether both axes fill the frame, so that the aspect is lost.
    """
    first = np.searchsorted(owner, np.arange(len(width)))
    low = np.minimum.reduceat(strokes.min(1), first)
    high = np.maximum.reduceat(strokes.max(1), first)
    room = SIDE - 2 * MARGIN - width
    span = np.maximum(high - low, 1e-3)
    scale = room[:, None] / np.where(stretch[:, None], span, span.max(1, keepdims=True))
    middle = (low + high) / 2
    placed: AnyPoints = (strokes - middle[owner, None]) * scale[owner, None] + SIDE / 2
    return placed


def drawn(strokes: AnyPoints, owner: Int64, width: Float64, rng: np.random.Generator) -> Squares:
    """The ink of strokes in feature pixels, (n, SIDE, SIDE); `width`: (n,) pen in feature pixels.

    Each drawing is drawn in black and white on a canvas of one and a half to three times the side, as the resolution of
    scans differs. One in eight has a broad nib, and each stroke's pen differs a little.
    """
    import cv2

    n = len(width)
    times = rng.choice([1.5, 2.0, 3.0], n, p=[0.3, 0.35, 0.35])
    nib = rng.normal(0, 0.25, (n, 2)) * (width * (rng.random(n) < 0.12))[:, None]
    pens = (width * times)[owner] * np.exp(rng.normal(0, 0.08, len(owner)))
    pens = np.maximum(1, np.floor(pens - 1 + rng.random(len(owner)))).astype(int).tolist()
    # A pixel's centre has whole coordinates in cv2, half ones here; its lines are a pixel too wide.
    at = np.rint((strokes * times[owner, None, None] - 0.5) * 2**SHIFT).astype(np.int32)
    beside = np.rint(nib * times[:, None] * 2**SHIFT).astype(np.int32)
    out = np.empty((n, SIDE, SIDE), np.uint8)
    edges = np.searchsorted(owner, np.arange(n + 1))
    for k in range(n):
        side = int(SIDE * times[k])
        board = np.zeros((side, side), np.uint8)
        for s in range(edges[k], edges[k + 1]):
            lines = [at[s], at[s] + beside[k]] if beside[k].any() else [at[s]]
            cv2.polylines(board, lines, False, 255, pens[s], cv2.LINE_8, SHIFT)
        out[k] = cv2.resize(board, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return out


def softened(values: Float32, amount: Float64) -> Float32:
    """Squares (n, SIDE, SIDE) blurred with three taps in both axes; `amount`: (n,) the weight of the outer taps."""
    a = amount[:, None, None].astype(np.float32)
    out = values.copy()
    out[:, 1:-1] += a * (values[:, :-2] + values[:, 2:] - 2 * values[:, 1:-1])
    again = out.copy()
    again[:, :, 1:-1] += a * (out[:, :, :-2] + out[:, :, 2:] - 2 * out[:, :, 1:-1])
    return again


def evened(values: Float32) -> Float32:
    """The filter's `even`: strokes thinner than WIDTHS grow, thicker ones shrink.

    `values`: coverage 0..1 (n, SIDE, SIDE), changed in place and returned. The mean stroke width is twice the ink's
    area over the length of its outline, which is the sum of the gradient's size.
    """
    across = values[:, :-1, 1:] - values[:, :-1, :-1]
    down = values[:, 1:, :-1] - values[:, :-1, :-1]
    outline = np.sqrt(across * across + down * down).sum((1, 2))
    width = 2 * values.sum((1, 2)) / np.maximum(outline, 1e-6)
    for chosen, pick, share in (
        (width < WIDTHS[0], np.maximum, np.minimum((WIDTHS[0] - width) / 1.5, 1.0)),
        (width > WIDTHS[1], np.minimum, np.minimum((width - WIDTHS[1]) / 2.5, 0.8)),
    ):
        if not chosen.any():
            continue
        part = values[chosen]
        extreme = part[:, 1:-1, 1:-1].copy()
        for beside in (part[:, 1:-1, :-2], part[:, 1:-1, 2:], part[:, :-2, 1:-1], part[:, 2:, 1:-1]):
            pick(extreme, beside, out=extreme)
        inner = part[:, 1:-1, 1:-1]
        inner += share[chosen, None, None].astype(np.float32) * (extreme - inner)
        values[chosen] = part
    return values


def squares(strokes: AnyPoints, owner: Int64, width: Float64, stretch: Bool, rng: np.random.Generator) -> Squares:
    """Squares (n, SIDE, SIDE) from strokes of any scale; `width` and `stretch` as in `framed`."""
    ink = drawn(framed(strokes, owner, width, stretch), owner, width, rng)
    soft = softened(ink.astype(np.float32) / 255.0, rng.uniform(0.0, 0.12, len(ink)))
    return np.rint(evened(soft) * 255).astype(np.uint8)
