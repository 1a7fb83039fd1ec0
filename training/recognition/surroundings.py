"""A picture of a character in; the same with what forms, tables, phones and scanners show around it out."""

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from . import capture
from .arrays import Float32, Picture

# Each is also a condition of the robustness table.
KINDS = ["frame", "frame-inside", "table-cell", "dark-table", "dark-corner", "scanner-edge", "underline"]


def around(kind: str, pixels: Picture, rng: np.random.Generator) -> Picture:
    """The picture (height, width, 3) in one of the surroundings `KINDS`, in a size of its own."""
    if kind == "dark-corner":
        return darkened(pixels, rng)
    if kind == "scanner-edge":
        return banded(pixels, rng)
    if kind == "underline":
        return underlined(pixels, rng)
    if kind == "dark-table":
        return on_table(pixels, rng)
    return tilted(ruled(kind, pixels, rng), rng)


def paper_of(pixels: Picture) -> Float32:
    """The colour of a picture's paper (3,): the median of its edge."""
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return np.asarray(np.median(edge, axis=0), np.float32)


def ruled(kind: str, pixels: Picture, rng: np.random.Generator) -> Picture:
    """The picture inside the printed lines of a form: a box, a box with paper around it, or a table's cell.

    Half of the pictures are pasted on white; the paper of the others goes on to the lines.
    """
    height, width = pixels.shape[:2]
    side = min(height, width)
    thick = max(1, round(side * rng.uniform(0.008, 0.04)))
    inside = round(side * rng.uniform(0.03, 0.2))
    outside = 0 if kind == "frame" else round(side * rng.uniform(0.03, 0.15))
    paper = np.full(3, 255, np.float32) if rng.random() < 0.5 else paper_of(pixels)
    ink = rng.uniform(0, 90) + rng.normal(0, 8, 3)
    if paper.mean() < 110:
        ink = 255 - ink
    margin = outside + thick + inside
    board = np.empty((height + 2 * margin, width + 2 * margin, 3), np.float32)
    board[:] = paper
    low, high = outside, outside + thick
    for rows in (slice(low, high), slice(board.shape[0] - high, board.shape[0] - low)):
        board[rows, slice(None) if kind == "table-cell" else slice(low, board.shape[1] - low)] = ink
    for columns in (slice(low, high), slice(board.shape[1] - high, board.shape[1] - low)):
        board[slice(None) if kind == "table-cell" else slice(low, board.shape[0] - low), columns] = ink
    board[margin : margin + height, margin : margin + width] = pixels
    return finished(board, rng)


def tilted(pixels: Picture, rng: np.random.Generator) -> Picture:
    """Half of the pictures turned by up to 2 degrees, as a form on a scanner; what comes in at the corners is paper."""
    if rng.random() < 0.5:
        return pixels
    return turned(pixels, rng.uniform(-2, 2), paper_of(pixels))


def turned(pixels: Picture, degrees: float, fill: Float32) -> Picture:
    """The picture turned about its middle, in the same size."""
    colour = tuple(int(v) for v in fill)
    return np.asarray(Image.fromarray(pixels).rotate(degrees, Image.Resampling.BICUBIC, fillcolor=colour))


def on_table(pixels: Picture, rng: np.random.Generator) -> Picture:
    """The picture as a sheet on something dark, now and then turned by up to 8 degrees."""
    height, width = pixels.shape[:2]
    table = rng.uniform(15, 75) + rng.normal(0, 10, 3)
    gaps = np.round(min(height, width) * rng.uniform(0.08, 0.3, 4)).astype(int)
    board = np.empty((height + gaps[0] + gaps[1], width + gaps[2] + gaps[3], 3), np.float32)
    board[:] = table
    board += gaussian_filter(rng.normal(0, 1, board.shape), (1, 8, 0)) * rng.uniform(0, 25)
    sheet = np.clip(board, 0, 255).astype(np.uint8)
    sheet[gaps[0] : gaps[0] + height, gaps[2] : gaps[2] + width] = pixels
    if rng.random() < 0.4:
        sheet = turned(sheet, rng.uniform(-8, 8), np.clip(table, 0, 255))
    return finished(sheet.astype(np.float32), rng)


def darkened(pixels: Picture, rng: np.random.Generator) -> Picture:
    """Light that falls off towards one corner, to a tenth or more of it."""
    height, width = pixels.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = x / width, y / height
    if rng.random() < 0.5:
        x = 1 - x
    if rng.random() < 0.5:
        y = 1 - y
    light = np.clip(np.hypot(x, y) / rng.uniform(0.6, 1.1), 0, 1) ** rng.uniform(0.7, 1.6)
    light = rng.uniform(0.08, 0.25) + (1 - rng.uniform(0.08, 0.25)) * light
    return finished(pixels * np.clip(light, 0, 1)[..., None], rng)


def banded(pixels: Picture, rng: np.random.Generator) -> Picture:
    """A black band beside the picture, now and then along two edges: a scanner's lid, a cover's shadow."""
    board = pixels.astype(np.float32)
    dark = rng.uniform(0, 40)
    upright = int(rng.integers(4))
    for quarter in (upright, upright + 1)[: 1 + (rng.random() < 0.3)]:
        board = np.rot90(board, quarter)
        band = np.full((len(board), max(1, round(len(board) * rng.uniform(0.04, 0.2))), 3), dark, np.float32)
        board = np.rot90(np.concatenate([band, board], 1), -quarter)
    return finished(board, rng)


def underlined(pixels: Picture, rng: np.random.Generator) -> Picture:
    """A line to write on below the character."""
    height, width = pixels.shape[:2]
    thick = max(1, round(height * rng.uniform(0.008, 0.03)))
    more = round(height * rng.uniform(0.0, 0.12)) + thick
    board = np.empty((height + more, width, 3), np.float32)
    paper = paper_of(pixels)
    board[:] = paper
    board[:height] = pixels
    ink = rng.uniform(0, 90) + rng.normal(0, 8, 3)
    if paper.mean() < 110:
        ink = 255 - ink
    length = width * rng.uniform(0.7, 0.96)
    left = int(rng.uniform(0, width - length))
    bottom = board.shape[0] - round(height * rng.uniform(0.0, 0.02))
    board[bottom - thick : bottom, left : left + int(length)] = ink
    return tilted(finished(board, rng), rng)


def finished(board: Float32, rng: np.random.Generator) -> Picture:
    """Pixels of colours 0..255, in half of the pictures after JPEG."""
    pixels = np.ascontiguousarray(np.clip(board, 0, 255).astype(np.uint8))
    return capture.compressed(pixels, rng) if rng.random() < 0.5 else pixels
