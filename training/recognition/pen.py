"""Strokes in, their ink out: the pen's width, nib and pressure."""

from collections.abc import Iterable, Sequence

import numpy as np
from PIL import Image, ImageDraw

from .arrays import AnyPoints, Coverage, Float64

OVER = 2  # drawn this many times larger, then averaged down


def fit(
    strokes: Sequence[AnyPoints], width: int, height: int, margin: float, place: float | Float64, stretch: bool
) -> list[Float64]:
    """Strokes of any unit scaled into a canvas of `width` x `height` pixels, `margin` pixels from its edges.

    `place`: 0..1, one number or (x, y): where the drawing lies in the room that is left. `stretch`: whether it fills
    both sides, which changes its aspect.
    """
    points = np.concatenate(strokes)
    low, high = points.min(0), points.max(0)
    span = np.maximum(high - low, 1e-3)
    room = np.maximum(np.array([width, height]) - 2 * margin, 4.0)
    scale = room / span if stretch else np.repeat((room / span).min(), 2)
    spare = room - span * scale
    return [(s - low) * scale + margin + spare * place for s in strokes]


def draw(strokes: Iterable[AnyPoints], width: int, height: int, pen: float, rng: np.random.Generator) -> Coverage:
    """Coverage 0..1 (height, width) of strokes in pixels; `pen`: their mean width in pixels.

    One drawing in five has a broad nib, three in ten have pressure: then the width changes along the stroke.
    """
    big = Image.new("L", (width * OVER, height * OVER), 0)
    canvas = ImageDraw.Draw(big)
    nib = rng.random() < 0.2
    angle = rng.uniform(0, np.pi)
    pressure = rng.random() < 0.3
    for stroke in strokes:
        points = stroke * OVER
        base = pen * OVER * np.exp(rng.normal(0, 0.07))
        if not nib and not pressure:
            line = max(1, round(base))
            canvas.line([tuple(p) for p in points.tolist()], fill=255, width=line, joint="curve")
            dots(canvas, points[[0, -1]], [base, base])
            continue
        widths = np.full(len(points), base)
        if nib:
            way = np.gradient(points, axis=0)
            heading = np.arctan2(way[:, 1], way[:, 0])
            widths *= 0.65 + 0.5 * np.abs(np.sin(heading - angle))
        if pressure:
            phase = rng.uniform(0, 6.3)
            widths *= 1 + 0.25 * np.sin(np.linspace(0, rng.uniform(1, 7), len(points)) + phase)
        # A width belongs to the segment that begins at its point: the last one is used by `dots` alone.
        for a, b, w in zip(points[:-1].tolist(), points[1:].tolist(), widths[:-1].tolist(), strict=True):
            canvas.line([tuple(a), tuple(b)], fill=255, width=max(1, round(w)))
        dots(canvas, points, widths)
    return np.asarray(big.reduce(OVER), np.float32) / 255.0


def dots(canvas: ImageDraw.ImageDraw, points: AnyPoints, widths: Iterable[float]) -> None:
    """A disc of the pen's width at each point (n, 2), both in pixels, so that ends and joints are round."""
    for (x, y), w in zip(points.tolist(), widths, strict=True):
        r = w / 2 - 0.3
        if r > 0.6:
            canvas.ellipse([x - r, y - r, x + r, y + r], fill=255)
