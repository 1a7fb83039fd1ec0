"""The robustness table: a clean character's mask in; a picture of it under one condition out."""

import numpy as np
from PIL import Image, ImageFilter

from . import capture, samples
from .arrays import Coverage, Mask, Picture

CANVAS = 110  # pixels of a picture's side where the condition is not about size
GEOMETRY = ["off-centre", "tiny", "huge", "marker", "ballpoint", "rotation", "perspective", "stretched"]
CONDITIONS = ["clean", *capture.EFFECTS, *GEOMETRY]
BICUBIC = Image.Resampling.BICUBIC


def under(condition: str, mask: Mask, rng: np.random.Generator) -> Picture:
    """The character of a mask (height, width) as a picture under one of `CONDITIONS`."""
    if condition in capture.EFFECTS:
        return capture.picture(placed(mask, CANVAS, 0.15), rng, [condition])
    if condition == "stretched":
        return samples.squeezed(mask)
    if condition == "tiny":
        return black(placed(mask, 26, 0.08))
    if condition == "huge":
        return black(placed(mask, 900, 0.1))
    if condition == "off-centre":
        board = np.zeros((160, 200), np.float32)
        y, x = rng.integers(0, 160 - 80), rng.integers(0, 200 - 80)
        board[y : y + 80, x : x + 80] = placed(mask, 80, 0.02)
        return black(board)
    if condition == "marker":
        return black(placed(dilated(mask, 5), CANVAS, 0.15))
    if condition == "ballpoint":
        return black(placed(thinned(mask), CANVAS, 0.15))
    if condition == "rotation":
        angle = float(rng.uniform(-15, 15))
        turned = Image.fromarray(framed(mask)).rotate(angle, BICUBIC)
        return black(placed(np.asarray(turned), CANVAS, 0.15))
    if condition == "perspective":
        return black(placed(tilted(framed(mask), rng), CANVAS, 0.15))
    return black(placed(mask, CANVAS, 0.15))


def black(mask: Coverage) -> Picture:
    """Black ink on white, from coverage 0..1 (height, width)."""
    return np.repeat((255 - 255 * np.clip(mask, 0, 1)).astype(np.uint8)[..., None], 3, 2)


def placed(mask: Mask, side: int, margin: float) -> Coverage:
    """The mask's ink fitted to a square of `side` pixels, (side, side), 0..1; `margin` is a share of the side."""
    rows, columns = np.where(mask > 100)
    cut = Image.fromarray(mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1])
    room = side * (1 - 2 * margin)
    scale = room / max(cut.size)
    size = (max(1, round(cut.width * scale)), max(1, round(cut.height * scale)))
    board = Image.new("L", (side, side), 0)
    cut = cut.resize(size, Image.Resampling.LANCZOS if scale < 1 else BICUBIC)
    board.paste(cut, ((side - size[0]) // 2, (side - size[1]) // 2))
    return np.asarray(board, np.float32) / 255.0


def framed(mask: Mask) -> Mask:
    """The mask with a third of its longer side added at each edge, then enlarged twice: room to turn in."""
    pad = max(mask.shape) // 3
    image = Image.fromarray(np.pad(mask, pad))
    return np.asarray(image.resize((image.width * 2, image.height * 2), BICUBIC))


def dilated(mask: Mask, size: int) -> Mask:
    """The mask enlarged twice, strokes grown by the maximum over `size` x `size` pixels: a marker's."""
    image = Image.fromarray(np.pad(mask, 8)).resize(((mask.shape[1] + 16) * 2, (mask.shape[0] + 16) * 2), BICUBIC)
    return np.asarray(image.filter(ImageFilter.MaxFilter(size)))


def thinned(mask: Mask) -> Mask:
    """The mask enlarged three times, strokes shrunk by the minimum over 5 x 5 pixels: a ballpoint's."""
    image = Image.fromarray(np.pad(mask, 4)).resize(((mask.shape[1] + 8) * 3, (mask.shape[0] + 8) * 3), BICUBIC)
    return np.asarray(image.filter(ImageFilter.MinFilter(5)))


def tilted(mask: Mask, rng: np.random.Generator) -> Mask:
    """The mask as a trapezium of the same size: each corner moved by up to a tenth of the side."""
    height, width = mask.shape
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float)
    moved = corners + rng.uniform(-0.1, 0.1, (4, 2)) * [width, height]
    rows, right = [], []
    for (x, y), (u, v) in zip(corners, moved, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    coefficients = np.linalg.solve(np.array(rows), np.array(right)).tolist()
    image = Image.fromarray(mask)
    return np.asarray(image.transform(image.size, Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BILINEAR))
