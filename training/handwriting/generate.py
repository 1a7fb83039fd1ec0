"""The ONNX file in; glyphs as strokes and as pictures out. Strokes are (n, 2) in body heights, y down."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw
from recognition.arrays import AnyPoints, Float64, Mask

from . import glyphs

# A glyph's strokes, and its headline spans as x0, x1.
Written: TypeAlias = tuple[list[AnyPoints], list[tuple[float, float]]]

OVER = 3  # drawn this many times larger, then averaged down
BODY = 100  # pixels
PEN = 4.0  # pixels
SMOOTH = 6  # points of the line for each of the stroke's


class Generator:
    """A generator's ONNX file, run on one thread."""

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options)
        widths = {i.name: i.shape[-1] for i in self.session.get_inputs()}
        self.style: int = widths["style"]
        self.variation: int = widths["variation"]
        self.table = glyphs.table()
        self.index = {g.text: k for k, g in enumerate(self.table)}

    def __call__(
        self,
        texts: Sequence[str],
        rng: np.random.Generator,
        style: Float64,
    ) -> list[Written]:
        """Random drawings of these texts' glyphs by one writer, `style` (1, 16)."""
        variation = rng.normal(size=(len(texts), self.variation))
        points, present, head = self.session.run(
            None,
            {
                "glyph": np.array([self.index[t] for t in texts], np.int64),
                "style": style.astype(np.float32),
                "variation": variation.astype(np.float32),
            },
        )
        return [
            (list(p[here]), [tuple(s) for s in h if s[0] < s[1]])
            for p, here, h in zip(points, present, head, strict=True)
        ]

    def writer(self, rng: np.random.Generator) -> Float64:
        """A random writer, (1, 16)."""
        return rng.normal(size=(1, self.style))


def with_headline(strokes: Sequence[AnyPoints], spans: Sequence[tuple[float, float]]) -> list[AnyPoints]:
    """The strokes, and the spans as further strokes at y = 0, where a layout would draw them."""
    return [*strokes, *[np.array([[a, 0.0], [b, 0.0]]) for a, b in spans]]


def with_nukta(strokes: Sequence[AnyPoints], nukta: Sequence[AnyPoints]) -> list[AnyPoints]:
    """A base letter's strokes with the nukta's below their middle, clear of their ink."""
    ink = np.concatenate(strokes)
    middle = 0.5 * (ink[:, 0].min() + ink[:, 0].max())
    dot = np.concatenate(nukta)
    near = ink[np.abs(ink[:, 0] - middle) < 0.15]
    down = max(0.0, near[:, 1].max() + 0.06 - dot[:, 1].min()) if len(near) else 0.0
    return [*strokes, *[s + np.array([middle, down]) for s in nukta]]


def picture(strokes: Sequence[AnyPoints], body: float = BODY, pen: float = PEN, margin: int = 14) -> Mask:
    """The ink of the strokes, cropped with a margin; body height, pen's width and margin in pixels."""
    everything = np.concatenate(strokes)
    low, high = everything.min(0), everything.max(0)
    width, height = (np.ceil((high - low) * body) + 2 * margin + pen).astype(int).tolist()
    image = Image.new("L", (width * OVER, height * OVER), 0)
    canvas = ImageDraw.Draw(image)
    for stroke in strokes:
        line = ((glyphs.spline(stroke, SMOOTH) - low) * body + margin + pen / 2) * OVER
        draw_line(canvas, line, pen * OVER)
    return np.asarray(image.reduce(OVER))


def draw_line(canvas: ImageDraw.ImageDraw, line: AnyPoints, pen: float) -> None:
    """Draws a line (n, 2) with round ends; line and pen's width in pixels."""
    canvas.line([tuple(p) for p in line.tolist()], fill=255, width=max(1, round(pen)), joint="curve")
    for x, y in line[[0, -1]]:
        r = pen / 2 - 0.3
        canvas.ellipse([x - r, y - r, x + r, y + r], fill=255)
