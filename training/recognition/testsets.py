"""The pictures that models are measured on: rows of name, label index and mask.

Digits are `gurmukhi-digits`, which is never trained on. Letters are the bitmaps of `omniglot-gurmukhi`, of all drawers
or of one fold's. Printed glyphs are the typefaces at sizes that training does not use. Pair-bindi letters are pen
strokes with a nukta added. Scribbles are no character at all.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from . import deform, fonts, pen, samples, strokes
from .arrays import Mask, Picture
from .folds import fold_of
from .labels import LETTERS, NOTHING, PAIRS

Item: TypeAlias = tuple[str, int, Mask]  # name, label index or NOTHING, ink

SIZES = (33, 58, 101)  # pixels of an em


def digits(data: Path) -> list[Item]:
    """The 420 bitmaps of `gurmukhi-digits` below the folder of the public data."""
    with np.load(data / "handwriting/gurmukhi-digits/digits.npz") as archive:
        rows = zip(archive["name"], archive["labels"], archive["images"], archive["split"], strict=True)
        return [
            (f"{split}/{name}", int(label), (image > 0).astype(np.uint8) * 255) for name, label, image, split in rows
        ]


def letters(data: Path, fold: int | None = None) -> list[Item]:
    """The bitmaps of classes 01 to 35, of all drawers or of one fold's."""
    found = []
    for label, drawer, mask, character in samples.omniglot_images(data):
        if character <= 35 and (fold is None or fold_of(drawer) == fold):
            found.append((f"{label} {drawer:02}", LETTERS.index(label), mask))
    return found


def pair_bindi(data: Path, fold: int | None = None) -> list[Item]:
    """The six pair-bindi letters, four times each from every drawing of the base letter, drawers as in `letters`.

    A picture does not depend on `fold`: what is left out is drawn too, so that the random numbers stay the same.
    """
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
                if fold is None or fold_of(drawing.origin) == fold:
                    found.append((f"{pair} {drawing.origin:02} {times}", len(LETTERS) + k, mask))
    return found


def printed(data: Path, labels: Sequence[str]) -> list[Item]:
    """Every label in every face at `SIZES`."""
    found = []
    for face in fonts.faces(data):
        for size in SIZES:
            found += [
                (f"{label} {face.stem} {size}", k, fonts.mask(face, label, size, pad=size // 8))
                for k, label in enumerate(labels)
            ]
    return found


def scribbles(n: int = 500) -> list[Item]:
    """Random curves, 100 x 100 pixels; label NOTHING."""
    rng = np.random.default_rng(55)
    found = []
    for k in range(n):
        fitted = pen.fit(samples.scribble(rng), 100, 100, 10, 0.5, False)
        mask = pen.draw(fitted, 100, 100, 4.0, rng)
        found.append((f"scribble {k}", NOTHING, (mask * 255).astype(np.uint8)))
    return found


def plain(mask: Mask) -> Picture:
    """Black ink on white."""
    return np.repeat((255 - mask)[..., None], 3, 2)
