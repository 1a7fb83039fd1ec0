"""Checkpoints, and pictures they were not trained on, in; softmax temperatures out.

A temperature divides the log-probabilities before the softmax (Guo et al., On calibration of modern neural networks,
2017). With `--folds`, each fold's network is fitted on the bitmaps and pair-bindi letters of its held-out drawers. It
then gets the mean of the other folds' temperatures, so that its own drawers do not decide it, and the shipped network
gets the mean of all. With `--checkpoint`, one network is fitted on generated pictures (pool shards); the digits kept
for evaluation are never read here.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import tyro
from torch.nn import functional as F

from . import testsets
from .labels import SETS
from .metrics import geometric_mean
from .model import TURNS, Looks, Reader
from .pool import Filter


def generated(paths: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ink 0..1, float32 (n, 1, 48, 48), and labels int64 (n,) of the samples in pool shards that have a label."""
    features, labels = [], []
    for path in paths:
        with np.load(path) as shard:
            keep = shard["labels"] >= 0
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep].astype(np.int64))
    x = torch.from_numpy(np.concatenate(features))
    return x[:, None].float() / 255, torch.from_numpy(np.concatenate(labels))


def held_out(data: Path, fold: int, filter_: Filter) -> tuple[torch.Tensor, torch.Tensor]:
    """The same of the letters and pair-bindi letters of a fold's drawers."""
    items = testsets.letters(data, fold) + testsets.pair_bindi(data, fold)
    found = filter_.features([testsets.plain(mask) for _, _, mask in items])
    squares = np.stack([square for square in found if square is not None])
    if len(squares) < len(items):
        raise ValueError(f"fold {fold}: {len(items) - len(squares)} pictures have no ink")
    labels = torch.tensor([label for _, label, _ in items])
    return torch.from_numpy(squares)[:, None].float() / 255, labels


def temperature(checkpoint: str | Path, model: str, x: torch.Tensor, y: torch.Tensor) -> float:
    """The temperature, of 120 between 0.2 and 2, that minimises a checkpoint's negative log likelihood on `x`, `y`."""
    network = Reader(len(SETS[model]))
    network.load_state_dict(torch.load(checkpoint, weights_only=True))
    network = Looks(network, TURNS[model]).eval()
    with torch.no_grad():
        logits = torch.cat([network(part) for part in x.split(256)])
    grid = np.exp(np.linspace(np.log(0.2), np.log(2.0), 120))
    losses = [F.cross_entropy(logits / float(t), y).item() for t in grid]
    return float(grid[int(np.argmin(losses))])


def main(
    model: str,
    checkpoint: Path | None = None,
    shards: tuple[str, ...] = (),
    folds: Path = Path(),
    data: Path = Path(),
) -> None:
    """Prints `FOLD TEMPERATURE` for each fold's network, then `all TEMPERATURE` for the shipped one."""
    torch.set_num_threads(1)
    if checkpoint:
        x, y = generated(shards)
        print(f"all {temperature(checkpoint, model, x, y):.4f}")
        return
    found, filter_ = {}, Filter()
    for path in sorted(folds.glob("[0-9].pt")):
        x, y = held_out(data, int(path.stem), filter_)
        found[path.stem] = temperature(path, model, x, y)
    for fold in found:
        print(f"{fold} {geometric_mean(t for k, t in found.items() if k != fold):.4f}")
    print(f"all {geometric_mean(found.values()):.4f}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
