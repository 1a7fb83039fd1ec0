"""A seed in; labelled pictures out, a mixture of every source, pen, place and light."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter
from scipy.ndimage import gaussian_filter

from . import capture, fonts, hands, pen, strokes
from .arrays import AnyPoints, Bool, Coverage, Float64, Mask, Picture, Points
from .labels import LETTERS, SETS

# By model: how often each source is used, and the share of pictures that have lost their aspect.
SHARES = {
    "letters-pa": {"hand": 0.57, "image": 0.22, "font": 0.21},
    "digits-pa": {"hand": 0.88, "font": 0.12},
}
STRETCHED = {"letters-pa": 0.06, "digits-pa": 0.3}


@dataclass
class Sample:
    """A picture with its label."""

    pixels: Picture
    label: int  # index into the model's labels; NOTHING for none of them
    origin: int  # the omniglot-gurmukhi drawer it is made from, 0 for none


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
    """Draws samples of one label set; `data`: the folder of the public data; `model`: a key of `labels.SETS`."""

    def __init__(self, data: Path, model: str) -> None:
        labels = SETS[model]
        self.hands, self.shares, self.stretched = hands.of_model(data, model), SHARES[model], STRETCHED[model]
        # By source: label index, drawer and mask.
        self.masks = {"font": [(labels.index(label), 0, mask) for label, mask in fonts.glyphs(data, labels)]}
        if "image" in self.shares:
            self.masks["image"] = [
                (labels.index(label), drawer, mask) for label, drawer, mask, _ in omniglot_images(data)
            ]

    def sample(self, rng: np.random.Generator) -> Sample:
        """One picture from a random source, of a label or of none."""
        kind = str(rng.choice(list(self.shares), p=list(self.shares.values())))
        if kind == "hand":
            (row,) = rows = self.hands.rows(1, rng)
            drawing, _ = self.hands.drawn(rows, rng, alone=True)
            return self.finish(list(drawing), int(self.hands.labels[row]), int(self.hands.origins[row]), rng)
        index, drawer, mask = self.masks[kind][int(rng.integers(len(self.masks[kind])))]
        return self.finish_mask(mask, index, drawer, rng)

    def finish(self, drawing: Sequence[AnyPoints], index: int, origin: int, rng: np.random.Generator) -> Sample:
        """The picture of a drawing, with a random pen, place and light."""
        if rng.random() < self.stretched:
            return Sample(stretched(drawing, rng), index, origin)
        width, height, margin, place = canvas(rng)
        span = min(width, height) - 2 * margin
        width_share = np.clip(np.exp(rng.normal(np.log(0.058), 0.42)), 0.018, 0.14)
        thickness = max(1.0, span * width_share)
        fitted = pen.fit(drawing, width, height, margin + thickness / 2, place, False)
        mask = pen.draw(fitted, width, height, thickness, rng)
        return Sample(capture.picture(mask, rng, capture.random_effects(rng)), index, origin)

    def finish_mask(self, mask: Mask, index: int, origin: int, rng: np.random.Generator) -> Sample:
        """The picture of a mask, degraded as print is, in a random place and light."""
        mask = degraded(mask, rng)
        if rng.random() < self.stretched:
            return Sample(squeezed(mask), index, origin)
        width, height, margin, place = canvas(rng)
        placed = warp(mask, width, height, margin, place, rng)
        return Sample(capture.picture(placed, rng, capture.random_effects(rng)), index, origin)


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
