"""Font files in; glyph masks, and drawings of the glyphs' centre lines, out. The folder `gpl/` is never read."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from . import skeleton
from .arrays import Mask
from .labels import NUKTA
from .strokes import Drawing

SIZE = 150  # pixels of an em
# Faces whose strokes are thin or even enough that their centre line looks like a pen's stroke.
SINGLE_LINE = (
    "AnekGurmukhi-Thin NotoSansGurmukhi-Thin MuktaMahee-ExtraLight NotoSansGurmukhi-ExtraLight "
    "NotoSansGurmukhi-Regular BalooPaaji2-Regular AnekGurmukhi-Regular TiroGurmukhi-Italic Lohit-Gurmukhi "
    "Langar-Regular MuktaMahee-Regular NotoSerifGurmukhi-ExtraLight"
).split()


def faces(data: Path) -> list[Path]:
    """The font files with an open licence, sorted by name."""
    return sorted((data / "handwriting/gurmukhi-fonts").glob("*.ttf"))


def mask(face: Path, text: str, size: int = SIZE, pad: int = 4) -> Mask:
    """A glyph's ink, uint8 0..255 (height, width), cropped with `pad` pixels around it; `size`: pixels of an em."""
    font = ImageFont.truetype(str(face), size)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (int(right - left) + 2 * pad, int(bottom - top) + 2 * pad), 0)
    ImageDraw.Draw(image).text((pad - left, pad - top), text, font=font, fill=255)
    return np.asarray(image)


def glyphs(data: Path, labels: Iterable[str]) -> list[tuple[str, Mask]]:
    """Label and mask of every label in every face."""
    labels = list(labels)
    return [(label, mask(face, label)) for face in faces(data) for label in labels]


def skeletons(data: Path, labels: Iterable[str]) -> list[Drawing]:
    """Drawings of the labels' centre lines in the faces of `SINGLE_LINE`; letters with nukta are left out."""
    labels = list(labels)
    drawings = []
    for face in faces(data):
        if face.stem not in SINGLE_LINE:
            continue
        for label in labels:
            if label.endswith(NUKTA):
                continue
            glyph = mask(face, label, size=120) > 110
            ink, line = glyph.sum(), skeleton.thin(glyph).sum()
            strokes = skeleton.strokes_of(glyph, ink / max(line, 1))
            if strokes:
                drawings.append(Drawing(label, 0, strokes))
    return drawings
