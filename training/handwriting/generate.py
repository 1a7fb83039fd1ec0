"""The ONNX file's glyphs as strokes and as pictures."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from . import glyphs

OVER = 3
BODY = 100  # pixels
PEN = 4.0


class Generator:
    def __init__(self, path: Path):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options)
        widths = {i.name: i.shape[-1] for i in self.session.get_inputs()}
        self.style, self.variation = widths["style"], widths["variation"]
        self.table = glyphs.table()
        self.index = {g.text: k for k, g in enumerate(self.table)}

    def __call__(self, texts, rng, style=None, variation=None):
        """A (strokes, spans) each: lists of (P, 2) arrays and of (x0, x1)."""
        if style is None:
            style = self.writer(rng)
        if variation is None:
            variation = rng.normal(size=(len(texts), self.variation))
        points, present, head = self.session.run(
            None,
            {
                "glyph": np.array([self.index[t] for t in texts], np.int64),
                "style": style.astype(np.float32),
                "variation": variation.astype(np.float32),
            },
        )
        return [(list(p[here]), [tuple(s) for s in h if s[0] < s[1]]) for p, here, h in zip(points, present, head)]

    def writer(self, rng):
        return rng.normal(size=(1, self.style))


def with_headline(strokes, spans):
    """Strokes with the spans as further strokes, as a layout would draw them."""
    return [*strokes, *[np.array([[a, 0.0], [b, 0.0]]) for a, b in spans]]


def with_nukta(strokes, nukta):
    """A base letter's strokes with the dot below it, under its middle, clear of its ink."""
    ink = np.concatenate(strokes)
    middle = 0.5 * (ink[:, 0].min() + ink[:, 0].max())
    dot = np.concatenate(nukta)
    near = ink[np.abs(ink[:, 0] - middle) < 0.15]
    down = max(0.0, near[:, 1].max() + 0.06 - dot[:, 1].min()) if len(near) else 0.0
    return [*strokes, *[s + [middle, down] for s in nukta]]


def smooth(points, per_span=6):
    return glyphs.spline(points, per_span)


def picture(strokes, body=BODY, pen=PEN, margin=14):
    """uint8 ink, 255 where black, cropped with a margin."""
    everything = np.concatenate(strokes)
    low, high = everything.min(0), everything.max(0)
    width, height = (np.ceil((high - low) * body) + 2 * margin + pen).astype(int)
    image = Image.new("L", (width * OVER, height * OVER), 0)
    canvas = ImageDraw.Draw(image)
    for stroke in strokes:
        line = ((smooth(stroke) - low) * body + margin + pen / 2) * OVER
        draw_line(canvas, line, pen * OVER)
    return np.asarray(image.reduce(OVER))


def draw_line(canvas, line, pen, fill=255):
    canvas.line([tuple(p) for p in line.tolist()], fill=fill, width=max(1, round(pen)), joint="curve")
    for x, y in line[[0, -1]]:
        r = pen / 2 - 0.3
        canvas.ellipse([x - r, y - r, x + r, y + r], fill=fill)
