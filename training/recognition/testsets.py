"""The pictures that models are measured on: (name, label index, mask) rows, ink 255.

Digits are `gurmukhi-digits` (never trained on); letters are the bitmaps of `omniglot-gurmukhi`, of
all drawers or one fold's; printed glyphs are the fonts at sizes the training does not use;
pair-bindi letters are pen strokes with a nukta added; scribbles are no character at all.
"""

from pathlib import Path

import numpy as np

from . import deform, fonts, pen, samples, strokes
from .labels import LETTERS, PAIRS

SIZES = (33, 58, 101)


def digits(data: Path):
    """The 420 bitmaps."""
    with np.load(data / "handwriting/gurmukhi-digits/digits.npz") as archive:
        rows = zip(archive["name"], archive["labels"], archive["images"], archive["split"])
        return [
            (f"{split}/{name}", int(label), (image > 0).astype(np.uint8) * 255) for name, label, image, split in rows
        ]


def letters(data: Path, fold=None):
    """The bitmaps of classes 01 to 35, all drawers or those of one fold, (drawer - 1) mod 5."""
    found = []
    for label, drawer, mask, character in samples.omniglot_images(data):
        if character <= 35 and (fold is None or (drawer - 1) % 5 == fold):
            found.append((f"{label} {drawer:02}", LETTERS.index(label), mask))
    return found


def pair_bindi(data: Path, fold=None):
    """The six letters that take a nukta, four times each from every drawer's strokes."""
    rng = np.random.default_rng(77)
    found = []
    for drawing in strokes.omniglot(data):
        for k, pair in enumerate(PAIRS):
            if pair[0] != drawing.label:
                continue
            for times in range(4):
                hand = deform.nukta(drawing.strokes, rng, pair)
                fitted = pen.fit(hand, 100, 100, 10, 0.5, False)
                mask = (pen.draw(fitted, 100, 100, 4.0, rng) * 255).astype(np.uint8)
                if fold is None or (drawing.origin - 1) % 5 == fold:
                    found.append((f"{pair} {drawing.origin:02} {times}", 35 + k, mask))
    return found


def printed(data: Path, labels):
    """Every face at sizes the training does not use."""
    found = []
    for face in fonts.faces(data):
        for size in SIZES:
            found += [
                (f"{label} {face.stem} {size}", k, fonts.mask(face, label, size, pad=size // 8))
                for k, label in enumerate(labels)
            ]
    return found


def scribbles(n=500):
    """Random curves; label -1."""
    rng = np.random.default_rng(55)
    found = []
    for k in range(n):
        fitted = pen.fit(samples.scribble(rng), 100, 100, 10, 0.5, False)
        mask = pen.draw(fitted, 100, 100, 4.0, rng)
        found.append((f"scribble {k}", -1, (mask * 255).astype(np.uint8)))
    return found


def plain(mask):
    """Black ink on white, uint8 RGB."""
    return np.repeat((255 - mask)[..., None], 3, 2)
