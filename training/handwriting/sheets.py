"""The generator's file in; contact sheets of every glyph, and of letters by many writers, out."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro
from PIL import Image, ImageDraw
from recognition.arrays import AnyPoints
from recognition.labels import LETTERS

from .generate import Generator, Written, draw_line, smooth, with_headline


def put(canvas: ImageDraw.ImageDraw, strokes: Sequence[AnyPoints], x: float, y: float, body: float, pen: float) -> None:
    """Draws strokes in body heights with their origin at (x, y); place, body height and pen's width in pixels."""
    for stroke in strokes:
        draw_line(canvas, smooth(stroke) * body + [x, y], pen, fill=20)


def grid(rows: Sequence[Sequence[Written]], body: int = 56, pen: float = 2.6, lines: bool = True) -> Image.Image:
    """A picture of rows of glyphs, black on white; body height and pen's width in pixels.

    `lines`: whether headline and baseline are drawn behind them, in grey.
    """
    wide, high, over = int(1.6 * body), int(2.0 * body), 2
    size = (max(map(len, rows)) * wide * over, len(rows) * high * over)
    image = Image.new("L", size, 255)
    canvas = ImageDraw.Draw(image)
    for r, row in enumerate(rows):
        for c, (strokes, spans) in enumerate(row):
            left = min(s[:, 0].min() for s in strokes)
            x = (c * wide + 0.2 * body - min(left, 0) * body) * over
            y = (r * high + 0.6 * body) * over
            if lines:
                for level in (0, 1):
                    at = y + level * body * over
                    canvas.line([c * wide * over, at, (c + 1) * wide * over, at], fill=225)
            put(canvas, with_headline(strokes, spans), x, y, body * over, pen * over)
    return image.reduce(over)


def main(model: Path, out: Path) -> None:
    """Writes seven sheets as PNG files."""
    make = Generator(model)
    rng = np.random.default_rng(7)
    rest = (np.zeros((1, make.style)), np.zeros((1, make.variation)))
    cells = [make([g.text], rng, *rest)[0] for g in make.table]
    grid([cells[k : k + 14] for k in range(0, len(cells), 14)]).save(out / "at-rest.png")
    hands = [make.writer(rng) for _ in range(10)]
    grid([make(LETTERS[:18], rng, h) for h in hands]).save(out / "letters-1.png")
    grid([make(LETTERS[18:], rng, h) for h in hands]).save(out / "letters-2.png")
    vowels = list("ਆਇਈਉਊਏਐਓਔ੦੧੨੩੪੫੬੭੮੯")
    grid([make(vowels, rng, h) for h in hands]).save(out / "vowels-digits.png")
    others = [g.text for g in make.table if g.kind in ("above", "below", "sign", "mark")]
    grid([make(others[:20], rng, h) for h in hands]).save(out / "signs-1.png")
    grid([make(others[20:], rng, h) for h in hands]).save(out / "signs-2.png")
    grid([make(list("ਕਕਕਕਕਕਮਮਮਮਮਮਭਭਭਭਭਭ"), rng, h) for h in hands]).save(out / "same-letter.png")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
