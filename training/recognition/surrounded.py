"""Shipped recognisers in; how they read characters in each of the surroundings of `surroundings`, printed.

The pictures without surroundings, `none`, are the same characters on the same papers. Half of the papers have effects
of `capture`. Letters are read by a network that was trained on their drawers, so only the difference to `none` says
something.
"""

from pathlib import Path

import numpy as np
import tyro
from figures import wilson
from manifests import MODELS

from . import capture, conditions, surroundings, testsets
from .arrays import Picture
from .labels import SETS
from .metrics import scores
from .readers import Local
from .testsets import Item

SURE = 0.8  # a wrong reading with a higher score misleads


def paper(item: Item, rng: np.random.Generator) -> Picture:
    """A character on paper, 110 x 110 pixels."""
    effects = capture.random_effects(rng) if rng.random() < 0.5 else []
    return capture.picture(conditions.placed(item[2], conditions.CANVAS, 0.12), rng, effects)


def main(data: Path, models: tuple[str, ...] = tuple(SETS), models_dir: Path = MODELS, seed: int = 99) -> None:
    """Prints for each model and surrounding: top-1 with its 95 % interval, ECE, and wrong readings above `SURE`."""
    for model in models:
        items = testsets.digits(data) if model == "digits-pa" else testsets.letters(data)
        truth = [label for _, label, _ in items]
        reader = Local([models_dir / f"weights/{model}.onnx"])
        for kind in ["none", *surroundings.KINDS]:
            rng = np.random.default_rng(seed)
            papers = [paper(item, rng) for item in items]
            rows = reader.read(papers if kind == "none" else [surroundings.around(kind, p, rng) for p in papers])
            found = scores(rows, truth)
            low, high = wilson(found["n"] - found["errors"], found["n"])
            n_sure = int(((rows.argmax(1) != truth) & (rows.max(1) > SURE)).sum())
            print(
                f"{model} {kind}: {found['n'] - found['errors']} of {found['n']}, {found['top1']:.1%} "
                f"({low:.1%} to {high:.1%}), ECE {found['ece']:.3f}, {n_sure} wrong above {SURE}",
                flush=True,
            )


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
