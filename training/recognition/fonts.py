"""Font files in, glyph masks and their skeletons out. The folder `gpl/` is never read."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from . import skeleton
from .labels import NUKTA
from .strokes import Drawing

SIZE = 150
# Faces thin or even enough that their centre line looks like one pen's stroke.
SINGLE_LINE = [
    "AnekGurmukhi-Thin",
    "NotoSansGurmukhi-Thin",
    "MuktaMahee-ExtraLight",
    "NotoSansGurmukhi-ExtraLight",
    "NotoSansGurmukhi-Regular",
    "BalooPaaji2-Regular",
    "AnekGurmukhi-Regular",
    "TiroGurmukhi-Italic",
    "Lohit-Gurmukhi",
    "Langar-Regular",
    "MuktaMahee-Regular",
    "NotoSerifGurmukhi-ExtraLight",
]


def faces(data: Path):
    """The openly licensed faces, in a fixed order."""
    return sorted((data / "handwriting/gurmukhi-fonts").glob("*.ttf"))


def mask(face: Path, text: str, size=SIZE, pad=4):
    """A glyph's ink, boolean, cropped with `pad` pixels around it."""
    font = ImageFont.truetype(str(face), size)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (right - left + 2 * pad, bottom - top + 2 * pad), 0)
    ImageDraw.Draw(image).text((pad - left, pad - top), text, font=font, fill=255)
    return np.asarray(image)


def glyphs(data: Path, labels):
    """All (label, mask) of all faces."""
    return [(label, mask(face, label)) for face in faces(data) for label in labels]


def skeletons(data: Path, labels):
    """Drawings of the centre lines of the single-line faces; letters with nukta are left out."""
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
