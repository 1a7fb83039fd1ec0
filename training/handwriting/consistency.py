"""How alike two drawings of a character by one hand are, relative to two by different hands; and the pen's pace."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image
from recognition.arrays import AnyPoints, Bool, Float64

from .generate import picture
from .lines import length

T = TypeVar("T")
SIDE = 32  # pixels of a digit's bitmap
# In the digits of the public data, the numbers of the drawings that one person drew (its SOURCE.md).
WRITERS = ((4, 47), (59, 64), (65, 75), (76, 97))
SHORT = (0.25, 1.25)  # body heights: strokes whose speed depends on their length


def within_and_between(
    drawn: Mapping[str, Mapping[int, Sequence[T]]], distance: Callable[[T, T], float]
) -> tuple[float, float]:
    """The median distance of two drawings of a character by one hand, and by two hands that follow each other.

    `drawn`: character to hand to the hand's drawings.
    """
    own, other = [], []
    for hands in drawn.values():
        for drawings in hands.values():
            own += [distance(a, b) for a, b in combinations(drawings, 2)]
        for first, second in pairwise(hands.values()):
            other += [distance(a, b) for a in first for b in second]
    return float(np.median(own)), float(np.median(other))


def bitmap(strokes: Sequence[AnyPoints]) -> Bool:
    """A digit (SIDE, SIDE) as the public data has it: cut out and stretched; strokes in body heights."""
    ink = picture(strokes, body=100, pen=8, margin=0) > 100
    rows, columns = (np.flatnonzero(ink.any(axis)) for axis in (1, 0))
    cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    image = Image.fromarray((cut * 255).astype(np.uint8)).resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(image) > 127


def bitmaps_apart(first: Bool, second: Bool) -> float:
    """The mean distance between nearest ink of two bitmaps, both ways, as a share of their side."""
    from scipy.ndimage import distance_transform_edt

    there, back = distance_transform_edt(~second)[first].mean(), distance_transform_edt(~first)[second].mean()
    return 0.5 * float(there + back) / SIDE


def digit_writers(data: Path) -> dict[str, dict[int, list[Bool]]]:
    """The public bitmaps of digits by label and writer; those by people who drew one of each are left out."""
    stored = np.load(data / "handwriting/gurmukhi-digits/digits.npz")
    found: dict[str, dict[int, list[Bool]]] = {}
    for image, label, name in zip(stored["images"], stored["labels"], stored["name"], strict=True):
        number = int(str(name).rsplit("/", 1)[1].split(".")[0])
        for writer, (first, last) in enumerate(WRITERS):
            if first <= number <= last:
                found.setdefault(str(label), {}).setdefault(writer, []).append(image > 0)
    return found


def exponent(lengths: Sequence[float], speeds: Sequence[float]) -> float:
    """The power of its length (body heights) that the speed of a short stroke is proportional to."""
    at = np.array(lengths)
    use = (at > SHORT[0]) & (at < SHORT[1])
    return float(np.polyfit(np.log(at[use]), np.log(np.array(speeds)[use]), 1)[0])


def pace_of_people(data: Path) -> float:
    """`exponent` of the timed strokes of other alphabets."""
    from .dynamics import timed_strokes

    strokes = timed_strokes(data)
    lengths = [length(s[:, :2]) for s in strokes]
    return exponent(lengths, [n / (s[-1, 2] - s[0, 2]) for n, s in zip(lengths, strokes, strict=True)])


def pace_of(strokes: Sequence[Float64]) -> float:
    """`exponent` of strokes in body heights whose points are evenly spaced in time."""
    lengths = [length(s) for s in strokes]
    return exponent(lengths, [n / (len(s) - 1) for n, s in zip(lengths, strokes, strict=True)])
