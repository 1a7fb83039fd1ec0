"""The generator's file in; the figures of its card out.

Legibility: letters and digits in 40 styles, read by the shipped recognisers. Variety: how far two drawings of a letter
are apart, in one style and in two.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro
from figures import percent, wilson
from manifests import MODELS
from recognition.arrays import AnyPoints, Float64
from recognition.evaluate import READ, read, table
from recognition.labels import LETTERS, NUKTA, SETS
from recognition.readers import Local
from recognition.testsets import Item
from scipy.spatial import cKDTree

from .generate import Generator, Written, picture, with_headline, with_nukta
from .glyphs import MODEL
from .register import ink_of

STYLES = 40
TIMES = 4  # of each letter, for its variety


def shown(make: Generator, label: str, rng: np.random.Generator, style: Float64) -> Written:
    """A label's strokes and headline spans in one style; a pair-bindi letter is its base with the nukta below."""
    if label.endswith(NUKTA):
        (strokes, spans), (dot, _) = make([label[0], NUKTA], rng, style)
        return with_nukta(strokes, dot), spans
    return make([label], rng, style)[0]


def written(make: Generator, labels: Sequence[str]) -> list[Item]:
    """The pictures of the labels in STYLES styles."""
    rng = np.random.default_rng(40)
    items = []
    for _ in range(STYLES):
        style = make.writer(rng)
        items += [(label, k, picture(with_headline(*shown(make, label, rng, style)))) for k, label in enumerate(labels)]
    return items


def print_legibility(make: Generator, models_dir: Path) -> None:
    """Prints what each recogniser reads, and its errors."""
    readings = {
        model: read(Local([models_dir / f"weights/{model}.onnx"]), written(make, labels))
        for model, labels in SETS.items()
    }
    n = sum(len(one.items) for one in readings.values())
    right = n - sum(len(one.wrong()) for one in readings.values())
    low, high = wilson(right, n)
    print(f"together: {right} of {n} right, {percent(right / n)} ({percent(low, 1)} to {percent(high, 1)})\n")
    print(table(READ, [one.cells(model) for model, one in readings.items()]))
    print("", *(one.errors(SETS[model]) for model, one in readings.items()), "", sep="\n")


def apart(first: Sequence[AnyPoints], second: Sequence[AnyPoints]) -> float:
    """The mean distance, in body heights, between nearest points of two drawings, both ways.

    The drawings' middles are laid on each other first.
    """
    a, b = (np.concatenate([ink_of([s], 0.02)[0] for s in d]) for d in (first, second))
    a, b = a - a.mean(0), b - b.mean(0)
    return 0.5 * float(cKDTree(a).query(b)[0].mean() + cKDTree(b).query(a)[0].mean())


def variety(make: Generator) -> tuple[float, float]:
    """Median distances between two drawings of a letter: in one style, and in two."""
    rng = np.random.default_rng(41)
    same, other = [], []
    for letter in LETTERS * TIMES:
        (a, _), (b, _) = make([letter, letter], rng, make.writer(rng))
        same.append(apart(a, b))
        other.append(apart(a, make([letter], rng, make.writer(rng))[0][0]))
    return float(np.median(same)), float(np.median(other))


def main(models_dir: Path = MODELS) -> None:
    """Measures and prints."""
    make = Generator(models_dir / f"weights/{MODEL}.onnx")
    print_legibility(make, models_dir)
    same, other = variety(make)
    print(f"two drawings of a letter: {same:.3f} body heights apart in one style, {other:.3f} in two")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
