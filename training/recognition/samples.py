"""A seed in, labelled pictures out: every source, pen, place and world mixed."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter
from scipy.ndimage import gaussian_filter

from . import deform, fonts, pen, strokes, world
from .labels import LETTERS, NUKTA, SETS

NOTHING = -1
DEFECTIVE = strokes.DEFECTIVE
# What is no label of a model but may be sent to it, without the look-alikes (੦ is a ਠ without its line).
OTHERS = {"letters-pa": "੧੨੩੪੬੭੯ਇਈਉਊਏਐਔ", "digits-pa": "ਅਸਕਗਘਙਚਛਜਝਞਣਥਫਬਮਯਰਲ"}


@dataclass
class Sample:
    pixels: np.ndarray  # uint8 (height, width, 3)
    label: int  # index into the model's labels; NOTHING for none of them
    origins: tuple  # the two omniglot-gurmukhi drawers it is made from, 0 = none


def omniglot_images(data: Path):
    """(label, drawer, mask) of the bitmaps of the 35 letters."""
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
            if character not in LETTERS or stem in DEFECTIVE:
                continue
            image = Image.open(io.BytesIO(archive.read(name))).convert("L")
            found.append((character, int(stem[5:]), 255 - np.asarray(image), int(stem[:4]) - 1159))
    return found


class Maker:
    """Draws samples of one label set. `nothings`: share of pictures that are none of its labels."""

    def __init__(self, data: Path, model: str, nothings=0.05):
        self.labels = SETS[model]
        self.nothings = nothings
        letters = model == "letters-pa"
        kinds = {"pen": {}, "font": {}, "skeleton": {}, "template": {}, "image": {}}
        drawings = strokes.omniglot(data, LETTERS + list(OTHERS["letters-pa"]))
        known = {label[0] for label in self.labels}
        if letters:
            for drawing in drawings:
                if drawing.label in known:
                    kinds["pen"].setdefault(drawing.label, []).append(drawing)
            for label, drawer, mask, _ in omniglot_images(data):
                kinds["image"].setdefault(label, []).append((drawer, mask))
        for drawing in fonts.skeletons(data, self.labels):
            kinds["skeleton"].setdefault(drawing.label, []).append(drawing)
        for drawing in strokes.templates():
            kinds["template"].setdefault(drawing.label, []).append(drawing)
        for label, mask in fonts.glyphs(data, self.labels):
            kinds["font"].setdefault(label, []).append(mask)
        others = set(OTHERS[model])
        self.others = [
            d for d in [*drawings, *strokes.templates(), *fonts.skeletons(data, OTHERS[model])] if d.label in others
        ]
        self.kinds = kinds
        self.shares = (
            {"pen": 0.42, "image": 0.22, "skeleton": 0.12, "font": 0.21, "template": 0.03}
            if letters
            else {"skeleton": 0.28, "font": 0.12, "template": 0.6}
        )
        self.stretched = 0.06 if letters else 0.3

    def sample(self, rng):
        if rng.random() < self.nothings:
            return self.nothing(rng)
        index = int(rng.integers(len(self.labels)))
        label = self.labels[index]
        names = [k for k in self.shares if self.has(k, label)]
        weights = np.array([self.shares[k] for k in names])
        kind = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        if kind == "font":
            masks = self.kinds[kind][label]
            return self.finish_mask(masks[int(rng.integers(len(masks)))], index, (0, 0), rng)
        if kind == "image":
            drawer, mask = pick(self.kinds[kind][label], rng)
            return self.finish_mask(mask, index, (drawer, 0), rng)
        lines, origins = self.lines(kind, label[0], rng)
        strength = {"pen": 0.8, "skeleton": 1.1, "template": 1.0}[kind] * rng.uniform(0.4, 1.15)
        hand = deform.another_hand(lines, rng, strength, loose=kind != "skeleton")
        if label.endswith(NUKTA):
            hand = deform.nukta(hand, rng, label)
        return self.finish(hand, index, origins, rng)

    def lines(self, kind, base, rng):
        """The strokes of one drawing, or between two of the same letter; and whose they are."""
        drawings = self.kinds[kind][base]
        first = pick(drawings, rng)
        if kind != "skeleton" and rng.random() < 0.6:
            second = pick(drawings, rng)
            mixed = deform.between(first.strokes, second.strokes, rng)
            if mixed:
                return mixed, (first.origin, second.origin)
        return first.strokes, (first.origin, 0)

    def nothing(self, rng):
        """A scribble, or a character that is none of the labels."""
        if rng.random() < 0.5:
            return self.finish(scribble(rng), NOTHING, (0, 0), rng)
        drawing = pick(self.others, rng)
        hand = deform.another_hand(drawing.strokes, rng, rng.uniform(0.3, 0.9))
        return self.finish(hand, NOTHING, (drawing.origin, 0), rng)

    def has(self, kind, label):
        key = label if kind in ("font", "image") else label[0]
        return key in self.kinds[kind]

    def finish(self, drawing, index, origins, rng):
        if rng.random() < self.stretched:
            return Sample(stretched(drawing, rng), index, origins)
        width, height, margin, place = canvas(rng)
        span = min(width, height) - 2 * margin
        width_share = np.clip(np.exp(rng.normal(np.log(0.058), 0.42)), 0.018, 0.14)
        thickness = max(1.0, span * width_share)
        fitted = pen.fit(drawing, width, height, margin + thickness / 2, place, False)
        mask = pen.draw(fitted, width, height, thickness, rng)
        return Sample(world.picture(mask, rng, world.random_effects(rng)), index, origins)

    def finish_mask(self, mask, index, origins, rng):
        mask = worn(mask, rng)
        if rng.random() < self.stretched:
            return Sample(squeezed(mask), index, origins)
        width, height, margin, place = canvas(rng)
        placed = warp(mask, width, height, margin, place, rng)
        return Sample(world.picture(placed, rng, world.random_effects(rng)), index, origins)


def pick(items, rng):
    return items[int(rng.integers(len(items)))]


def canvas(rng):
    """Width, height, the least margin in pixels, and where the character lies."""
    side = np.exp(rng.uniform(np.log(40), np.log(150)))
    if rng.random() < 0.012:
        side *= 4
    ratio = np.exp(rng.normal(0, 0.16))
    width, height = int(side * ratio), int(side / ratio)
    margin = min(width, height) * rng.choice([0.02, 0.08, 0.15, 0.25], p=[0.2, 0.4, 0.3, 0.1])
    margin = min(margin, (min(width, height) - 22) / 2)
    place = rng.uniform(0, 1, 2) if rng.random() < 0.5 else np.full(2, 0.5)
    return width, height, max(margin, 0.5), place


def stretched(drawing, rng, side=32):
    """Cropped to its ink and stretched to a 1-bit square, as small digit collections are."""
    thickness = float(np.exp(rng.normal(np.log(3.0), 0.3)))
    fitted = pen.fit(drawing, side, side, thickness / 2 - 0.5, 0.5, True)
    return one_bit(pen.draw(fitted, side, side, thickness, rng) > 0.5)


def squeezed(mask, side=32):
    rows, columns = np.where(mask > 100)
    if len(rows) == 0:
        return one_bit(np.zeros((side, side), bool))
    cut = mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return one_bit(np.asarray(Image.fromarray(cut).resize((side, side), Image.BOX)) > 110)


def one_bit(ink):
    return np.repeat(np.where(ink, 0, 255).astype(np.uint8)[..., None], 3, 2)


def worn(mask, rng):
    """Eroded, spread or roughened, as print is."""
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


def warp(mask, width, height, margin, place, rng, turn=1.0):
    """The mask rotated, slanted, scaled into its place on a canvas; float32 0..1."""
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
    angle = np.clip(rng.normal(0, np.radians(5) * turn), -0.27, 0.27)
    c, s = np.cos(angle), np.sin(angle)
    aspect = np.exp(rng.normal(0, 0.08))
    matrix = np.array([[c, -s], [s, c]]) @ np.array([[aspect, rng.normal(0, 0.1) * turn], [0, 1 / aspect]])
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
    placed = image.transform((width, height), Image.AFFINE, coefficients, Image.BILINEAR)
    return np.asarray(placed, np.float32) / 255.0


def scribble(rng):
    """Curves that are no letter."""
    made = []
    for _ in range(int(rng.integers(1, 7))):
        n = int(rng.integers(2, 9))
        walk = np.cumsum(rng.normal(0, 1, (n, 2)), 0) * 0.3 + rng.uniform(-0.5, 0.5, 2)
        made.append(strokes.catmull_rom(walk))
    return [s.astype(np.float32) for s in strokes.normalised(made)]
