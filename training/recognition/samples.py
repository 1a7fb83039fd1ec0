"""A seed in; labelled pictures out, a mixture of every source, pen, place and light."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image, ImageFilter
from scipy.ndimage import gaussian_filter

from . import capture, deform, fonts, pen, strokes
from .arrays import AnyPoints, Bool, Coverage, Float64, Mask, Picture, Points
from .labels import LETTERS, NUKTA, SETS
from .strokes import Drawing

Item = TypeVar("Item")
Origins = tuple[int, int]

NOTHING = -1
# Characters that may be sent to a model although they are none of its labels. Look-alikes of labels are left out: ੦ is
# ਠ without its headline.
OTHERS = {"letters-pa": "੧੨੩੪੬੭੯ਇਈਉਊਏਐਔ", "digits-pa": "ਅਸਕਗਘਙਚਛਜਝਞਣਥਫਬਮਯਰਲ"}
# How often each source is used, where it has the label; and how strongly its strokes are changed.
SHARES = {
    "letters-pa": {"pen": 0.42, "image": 0.22, "skeleton": 0.12, "font": 0.21, "template": 0.03},
    "digits-pa": {"skeleton": 0.28, "font": 0.12, "template": 0.6},
}
STRENGTH = {"pen": 0.8, "skeleton": 1.1, "template": 1.0}


@dataclass
class Sample:
    """A picture with its label."""

    pixels: Picture
    label: int  # index into the model's labels; NOTHING for none of them
    origins: Origins  # the omniglot-gurmukhi drawers it is made from, 0 for none


def omniglot_images(data: Path) -> list[tuple[str, int, Mask, int]]:
    """Label, drawer, mask and class (1 to 45) of each bitmap of the 35 letters in `omniglot-gurmukhi`."""
    found = []
    base = data / "handwriting/omniglot-gurmukhi"
    names = {}
    for line in (base / "classes.csv").read_text(encoding="utf-8").splitlines()[1:]:
        row = line.split(",")
        names[int(row[0])] = row[4]
    with zipfile.ZipFile(base / "images.zip") as archive:
        for name in sorted(n for n in archive.namelist() if n.endswith(".png")):
            stem = Path(name).stem
            character = names[int(stem[:4]) - 1159]
            if character not in LETTERS or stem in strokes.DEFECTIVE:
                continue
            image = Image.open(io.BytesIO(archive.read(name))).convert("L")
            found.append((character, int(stem[5:]), 255 - np.asarray(image), int(stem[:4]) - 1159))
    return found


class Maker:
    """Draws samples of one label set.

    `data`: the folder of the public data; `model`: a key of `labels.SETS`; `nothings`: the share of pictures that are
    none of its labels.
    """

    def __init__(self, data: Path, model: str, nothings: float = 0.05) -> None:
        self.labels = SETS[model]
        self.nothings = nothings
        letters = model == "letters-pa"
        # Drawings by source and base letter; glyph masks, and bitmaps with their drawers, by label.
        self.drawings: dict[str, dict[str, list[Drawing]]] = {"pen": {}, "skeleton": {}, "template": {}}
        self.glyphs: dict[str, list[Mask]] = {}
        self.images: dict[str, list[tuple[int, Mask]]] = {}
        drawings = strokes.omniglot(data, LETTERS + list(OTHERS["letters-pa"]))
        known = {label[0] for label in self.labels}
        if letters:
            for drawing in drawings:
                if drawing.label in known:
                    self.drawings["pen"].setdefault(drawing.label, []).append(drawing)
            for label, drawer, mask, _ in omniglot_images(data):
                self.images.setdefault(label, []).append((drawer, mask))
        for drawing in fonts.skeletons(data, self.labels):
            self.drawings["skeleton"].setdefault(drawing.label, []).append(drawing)
        for drawing in strokes.templates():
            self.drawings["template"].setdefault(drawing.label, []).append(drawing)
        for label, mask in fonts.glyphs(data, self.labels):
            self.glyphs.setdefault(label, []).append(mask)
        others = OTHERS[model]
        self.others = [
            d for d in [*drawings, *strokes.templates(), *fonts.skeletons(data, others)] if d.label in others
        ]
        self.shares = SHARES[model]
        self.stretched = 0.06 if letters else 0.3

    def sample(self, rng: np.random.Generator) -> Sample:
        """One picture: a random label from a random source, or none of the labels."""
        if rng.random() < self.nothings:
            return self.nothing(rng)
        index = int(rng.integers(len(self.labels)))
        label = self.labels[index]
        names = [k for k in self.shares if self.has(k, label)]
        weights = np.array([self.shares[k] for k in names])
        kind = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        if kind == "font":
            masks = self.glyphs[label]
            return self.finish_mask(masks[int(rng.integers(len(masks)))], index, (0, 0), rng)
        if kind == "image":
            drawer, mask = pick(self.images[label], rng)
            return self.finish_mask(mask, index, (drawer, 0), rng)
        lines, origins = self.lines(kind, label[0], rng)
        strength = STRENGTH[kind] * rng.uniform(0.4, 1.15)
        hand = deform.another_hand(lines, rng, strength, loose=kind != "skeleton")
        if label.endswith(NUKTA):
            hand = deform.nukta(hand, rng, label)
        return self.finish(hand, index, origins, rng)

    def lines(self, kind: str, base: str, rng: np.random.Generator) -> tuple[list[Points], Origins]:
        """The strokes of one drawing of a base letter, or between two drawings; and their drawers."""
        drawings = self.drawings[kind][base]
        first = pick(drawings, rng)
        if kind != "skeleton" and rng.random() < 0.6:
            second = pick(drawings, rng)
            mixed = deform.between(first.strokes, second.strokes, rng)
            if mixed:
                return mixed, (first.origin, second.origin)
        return first.strokes, (first.origin, 0)

    def nothing(self, rng: np.random.Generator) -> Sample:
        """A scribble, or a character that is none of the labels."""
        if rng.random() < 0.5:
            return self.finish(scribble(rng), NOTHING, (0, 0), rng)
        drawing = pick(self.others, rng)
        hand = deform.another_hand(drawing.strokes, rng, rng.uniform(0.3, 0.9))
        return self.finish(hand, NOTHING, (drawing.origin, 0), rng)

    def has(self, kind: str, label: str) -> bool:
        """Whether the source `kind` has the label; for sources of strokes, its base letter."""
        if kind == "font":
            return label in self.glyphs
        if kind == "image":
            return label in self.images
        return label[0] in self.drawings[kind]

    def finish(self, drawing: Sequence[AnyPoints], index: int, origins: Origins, rng: np.random.Generator) -> Sample:
        """The picture of a drawing, with a random pen, place and light."""
        if rng.random() < self.stretched:
            return Sample(stretched(drawing, rng), index, origins)
        width, height, margin, place = canvas(rng)
        span = min(width, height) - 2 * margin
        width_share = np.clip(np.exp(rng.normal(np.log(0.058), 0.42)), 0.018, 0.14)
        thickness = max(1.0, span * width_share)
        fitted = pen.fit(drawing, width, height, margin + thickness / 2, place, False)
        mask = pen.draw(fitted, width, height, thickness, rng)
        return Sample(capture.picture(mask, rng, capture.random_effects(rng)), index, origins)

    def finish_mask(self, mask: Mask, index: int, origins: Origins, rng: np.random.Generator) -> Sample:
        """The picture of a mask, degraded as print is, in a random place and light."""
        mask = degraded(mask, rng)
        if rng.random() < self.stretched:
            return Sample(squeezed(mask), index, origins)
        width, height, margin, place = canvas(rng)
        placed = warp(mask, width, height, margin, place, rng)
        return Sample(capture.picture(placed, rng, capture.random_effects(rng)), index, origins)


def pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    """One of the items, each as likely."""
    return items[int(rng.integers(len(items)))]


def canvas(rng: np.random.Generator) -> tuple[int, int, float, Float64]:
    """Width, height and least margin in pixels, and where the character lies in the room that is left, (x, y) 0..1."""
    side = np.exp(rng.uniform(np.log(40), np.log(150)))
    if rng.random() < 0.012:
        side *= 4
    ratio = np.exp(rng.normal(0, 0.16))
    width, height = int(side * ratio), int(side / ratio)
    margin = min(width, height) * rng.choice([0.02, 0.08, 0.15, 0.25], p=[0.2, 0.4, 0.3, 0.1])
    margin = min(margin, (min(width, height) - 22) / 2)
    place = rng.uniform(0, 1, 2) if rng.random() < 0.5 else np.full(2, 0.5)
    return width, height, max(margin, 0.5), place


def stretched(drawing: Sequence[AnyPoints], rng: np.random.Generator, side: int = 32) -> Picture:
    """A drawing cropped to its ink and stretched to a 1-bit square, as small collections of digits are."""
    thickness = float(np.exp(rng.normal(np.log(3.0), 0.3)))
    fitted = pen.fit(drawing, side, side, thickness / 2 - 0.5, 0.5, True)
    return one_bit(pen.draw(fitted, side, side, thickness, rng) > 0.5)


def squeezed(mask: Mask, side: int = 32) -> Picture:
    """A mask cropped to its ink and stretched to a 1-bit square of `side` pixels."""
    rows, columns = np.where(mask > 100)
    if len(rows) == 0:
        return one_bit(np.zeros((side, side), bool))
    cut = mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return one_bit(np.asarray(Image.fromarray(cut).resize((side, side), Image.Resampling.BOX)) > 110)


def one_bit(ink: Bool) -> Picture:
    """Black where there is ink, white elsewhere, from a boolean (height, width)."""
    return np.repeat(np.where(ink, 0, 255).astype(np.uint8)[..., None], 3, 2)


def degraded(mask: Mask, rng: np.random.Generator) -> Mask:
    """A mask of the same shape whose ink has now and then spread, shrunk or roughened, as print does."""
    image = Image.fromarray(mask)
    chance = rng.random()
    if chance < 0.2:
        image = image.filter(ImageFilter.MaxFilter(int(rng.choice([3, 5]))))
    elif chance < 0.3 and (mask > 128).mean() > 0.12:
        image = image.filter(ImageFilter.MinFilter(3))
    if rng.random() < 0.2:
        noise = gaussian_filter(rng.normal(0, 1, mask.shape).astype(np.float32), 2.0) * 6
        rough = gaussian_filter(np.asarray(image, np.float32), 1.5) / 255 + 0.2 * noise
        return (np.clip((rough - 0.4) * 5, 0, 1) * 255).astype(np.uint8)
    return np.asarray(image)


def warp(mask: Mask, width: int, height: int, margin: float, place: Float64, rng: np.random.Generator) -> Coverage:
    """The mask's ink rotated, slanted and scaled into a canvas (height, width), 0..1; `margin`, `place` as `canvas`."""
    rows, columns = np.where(mask > 60)
    corners = np.array(
        [
            [columns.min(), rows.min()],
            [columns.max() + 1, rows.min()],
            [columns.max() + 1, rows.max() + 1],
            [columns.min(), rows.max() + 1],
        ],
        float,
    )
    middle = corners.mean(0)
    angle = np.clip(rng.normal(0, np.radians(5)), -0.27, 0.27)
    c, s = np.cos(angle), np.sin(angle)
    aspect = np.exp(rng.normal(0, 0.08))
    matrix = np.array([[c, -s], [s, c]]) @ np.array([[aspect, rng.normal(0, 0.1)], [0, 1 / aspect]])
    moved = (corners - middle) @ matrix.T
    low, high = moved.min(0), moved.max(0)
    room = np.array([width, height]) - 2 * margin
    scale = max(0.02, (room / (high - low)).min())
    offset = margin + (room - (high - low) * scale) * place - low * scale
    inverse = np.linalg.inv(matrix * scale)
    shift = middle - inverse @ offset
    coefficients = (*inverse[0], shift[0], *inverse[1], shift[1])
    image = Image.fromarray(mask)
    factor = int(1 / scale)
    if factor >= 2:  # averaged down first, so that thin strokes survive
        image = image.reduce(factor)
        coefficients = tuple(v / factor for v in coefficients)
    placed = image.transform((width, height), Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR)
    return np.asarray(placed, np.float32) / 255.0


def scribble(rng: np.random.Generator) -> list[Points]:
    """A normalised drawing of one to six random curves that are no character."""
    made = []
    for _ in range(int(rng.integers(1, 7))):
        n = int(rng.integers(2, 9))
        walk = np.cumsum(rng.normal(0, 1, (n, 2)), 0) * 0.3 + rng.uniform(-0.5, 0.5, 2)
        made.append(strokes.catmull_rom(walk))
    return [s.astype(np.float32) for s in strokes.normalised(made)]
