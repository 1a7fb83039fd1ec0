"""Writes the weighted mean of checkpoints that were trained on from one: often better than each of them.

    python -m speech.network.average --out DIR/mean.pt --of DIR/first.pt=1 DIR/second.pt=2

Steps and hours are those of the first. Source: model soups (Wortsman et al., 2022).
"""

from pathlib import Path

import learning
import tyro

from . import checkpoint
from .train import weighted


def main(of: list[str], out: Path) -> None:
    """Average the checkpoints, given as FILE=WEIGHT."""
    weights = weighted(of)
    states = {path: checkpoint.load(path) for path in weights}
    first = next(iter(states.values()))
    mean = {
        name: sum(weight * states[path]["average"][name] for path, weight in weights.items()) / sum(weights.values())
        for name in first["average"]
    }
    kept = {name: first[name] for name in ("size", "step", "seconds")}
    learning.write(out, {**kept, "net": mean, "average": mean})


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
