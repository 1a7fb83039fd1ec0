"""Generated pictures, the readers of pictures and the tables of what they read. No public data is needed."""

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from recognition import capture, conditions, evaluate, pen, readers, samples, strokes, surroundings, testsets
from recognition.arrays import Bool, Float32, Mask, Picture
from recognition.pool import Filter

# Prints a square per picture: its first byte of pixels everywhere, or "no ink" where that byte is 255.
FILTER = """
import struct, sys
while header := sys.stdin.buffer.read(8):
    width, height = struct.unpack("<II", header)
    pixels = sys.stdin.buffer.read(3 * width * height)
    empty = pixels[0] == 255
    sys.stdout.buffer.write(bytes([empty]) + bytes([pixels[0]]) * 16)
    sys.stdout.buffer.flush()
"""


def bar(height: int = 40, width: int = 30) -> Mask:
    """A thick vertical stroke with paper around it."""
    mask = np.zeros((height, width), np.uint8)
    mask[4:-4, width // 2 - 3 : width // 2 + 3] = 255
    return mask


def box(ink: Bool) -> tuple[int, int, int, int]:
    """First and last row, first and last column of what is true."""
    rows, columns = np.where(ink)
    return rows.min(), rows.max(), columns.min(), columns.max()


@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_a_fitted_drawing_stays_inside_its_margin(place: float) -> None:
    drawing = [np.array([[-3.0, 0.0], [5.0, 2.0]])]  # 8 by 2
    (line,) = pen.fit(drawing, 100, 60, 10, place, stretch=False)
    assert line.min(0).tolist() == pytest.approx([10, 10 + 20 * place])  # 80 by 20 pixels in a room of 80 by 40
    assert line.max(0).tolist() == pytest.approx([90, 30 + 20 * place])
    (line,) = pen.fit(drawing, 100, 60, 10, place, stretch=True)
    assert [*line.min(0), *line.max(0)] == pytest.approx([10, 10, 90, 50])


def test_the_ink_of_a_drawing_stays_in_the_picture() -> None:
    for k, drawing in enumerate(strokes.templates()[::7]):
        rng = np.random.default_rng(k)
        ink = pen.draw(pen.fit(drawing.strokes, 64, 80, 14, 0.5, False), 64, 80, 5.0, rng)
        assert ink.shape == (80, 64)
        assert 0 <= ink.min() < ink.max() == 1
        assert not np.concatenate([ink[[0, -1]].ravel(), ink[:, [0, -1]].ravel()]).any()


@pytest.mark.parametrize("effect", capture.EFFECTS)
def test_an_effect_leaves_the_ink_visible(effect: str) -> None:
    mask = conditions.placed(bar(), 80, 0.2)
    picture = capture.picture(mask, np.random.default_rng(3), [effect])
    assert picture.shape == (80, 80, 3)
    assert picture.dtype == np.uint8
    ink, paper = picture[mask > 0.9].mean(0), picture[mask == 0].mean(0)
    assert np.abs(ink - paper).max() > 30
    assert (ink.mean() > paper.mean()) == (effect == "light-on-dark")


@pytest.mark.parametrize("condition", conditions.CONDITIONS)
def test_a_condition_keeps_its_size_and_the_ink_in_the_picture(condition: str) -> None:
    picture = conditions.under(condition, bar(), np.random.default_rng(5))
    size = {"tiny": (26, 26), "huge": (900, 900), "stretched": (32, 32), "off-centre": (160, 200)}
    assert picture.shape == (*size.get(condition, (110, 110)), 3)
    assert picture.dtype == np.uint8
    if condition == "clean" or condition in set(conditions.GEOMETRY) - {"stretched"}:
        top, bottom, left, right = box(picture[..., 0] < 128)
        height, width = picture.shape[:2]
        assert 0 < top < bottom < height - 1
        assert 0 < left < right < width - 1


def test_a_placed_mask_fills_the_room_between_its_margins() -> None:
    top, bottom, left, right = box(conditions.placed(bar(), 100, 0.1) > 0.5)
    assert (top, bottom) == (10, 89)
    assert right - left + 1 == 15  # 6 of 32 rows and columns of ink, 80 pixels high
    assert left == 42


def test_a_warped_mask_stays_inside_its_margin() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        width, height, margin, place = samples.canvas(rng)
        assert min(width, height) >= 22
        assert 0.5 <= margin <= 0.25 * min(width, height) + 0.5
        assert ((place >= 0) & (place <= 1)).all()
        ink = samples.warp(bar(), width, height, margin, place, rng)
        assert ink.shape == (height, width)
        top, bottom, left, right = box(ink > 0.5)
        assert margin - 1 <= min(top, left)
        assert bottom <= height - margin
        assert right <= width - margin


def test_the_filter_answers_in_order(tmp_path: Path) -> None:
    program = tmp_path / "filter.py"
    program.write_text(FILTER, "utf-8")
    filter_ = Filter([sys.executable, str(program)], side=4)
    found = filter_.features([np.full((3 + k, 5, 3), value, np.uint8) for k, value in enumerate((7, 255, 9))])
    filter_.close()
    assert [None if square is None else square.tolist() for square in found] == [[[7] * 4] * 4, None, [[9] * 4] * 4]


def test_a_picture_is_sent_as_png_or_the_best_jpeg_that_fits() -> None:
    content, kind = readers.small_enough(testsets.plain(bar()))
    assert kind == "png"
    image = Image.open(io.BytesIO(content))
    assert image.mode == "L"
    assert (np.asarray(image) == 255 - bar()).all()
    noise = np.random.default_rng(1).integers(0, 256, (120, 120, 3)).astype(np.uint8)
    content, kind = readers.small_enough(noise)
    assert kind == "jpeg"
    assert len(content) <= 15 * 1024
    with pytest.raises(ValueError, match="15 kB"):
        readers.small_enough(noise, limit=100)


class Always:
    """Reads every picture as the same label."""

    def __init__(self, label: int) -> None:
        self.label = label
        self.shapes: list[tuple[int, ...]] = []

    def read(self, images: Sequence[Picture]) -> Float32:
        self.shapes += [image.shape for image in images]
        rows = np.full((len(images), 3), 0.25, np.float32)
        rows[:, self.label] = 0.5
        return rows


def test_parts_of_handwriting_add_up() -> None:
    items = {0: [("a", 0, bar()), ("b", 1, bar())], 1: [("c", 1, bar())]}
    parts, changed = evaluate.handwriting({0: Always(0), 1: Always(1)}, lambda fold: items[fold])
    whole = parts[0] + parts[1]
    assert whole.cells("all") == ["all", 3, 2, "66.67 %", "20.8–93.9", 3, "100.00 %", "0.167"]
    assert whole.errors("xyz").splitlines() == [
        "Confusions (right → read, times): y→x 1",
        "  b: y read as x (0.50; right 0.25)",
    ]
    assert {part: len(one.wrong()) for part, one in parts.items()} == {0: 1, 1: 0}
    assert evaluate.drops(changed) == [[c, 2, "66.7 %", "+0.0"] for c in conditions.CONDITIONS]
    assert [name for name, _, _ in whole.items] == ["a", "b", "c"]


def test_a_table_is_markdown() -> None:
    assert evaluate.table(["what", "n"], [["a", 1], ["b", 2]]) == "| what | n |\n|---|---|\n| a | 1 |\n| b | 2 |"


def test_robustness_reads_the_same_pictures_under_every_condition() -> None:
    reader = Always(0)
    items = [(str(k), 0, bar()) for k in range(5)]
    table = evaluate.robustness(reader, items, limit=2)
    assert len({tuple(name for name, _, _ in reading.items) for reading in table.values()}) == 1
    assert len(reader.shapes) == 2 * len(conditions.CONDITIONS)


@pytest.mark.parametrize("kind", surroundings.KINDS)
def test_surroundings_leave_the_character_in_the_picture(kind: str) -> None:
    plain = conditions.black(conditions.placed(bar(), 110, 0.15))
    picture = surroundings.around(kind, plain, np.random.default_rng(6))
    assert picture.dtype == np.uint8
    assert picture.shape[0] >= 110
    assert picture.shape[1] >= 110
    assert (picture < 100).sum() > (plain < 100).sum() + 200  # something dark is around it
    again = surroundings.around(kind, plain, np.random.default_rng(6))
    assert (picture == again).all()
