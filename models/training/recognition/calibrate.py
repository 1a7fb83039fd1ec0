"""Checkpoints and pool shards they were not trained on in; softmax temperatures out.

The shards are generated pictures: the digits kept for evaluation are never looked at here. With
`--folds`, each fold's network is fitted on pictures made from its held-out drawers; it is then given
the mean of the other folds' temperatures, so that its own drawers have no say in it, and the shipped
network the mean of all.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from .labels import SETS
from .model import Reader
from .train import of_fold


def samples(paths, fold=None, limit=6000):
    """features float (n, 1, 48, 48), labels int64: known characters, of one fold's drawers only."""
    features, labels = [], []
    for path in paths:
        with np.load(path) as shard:
            keep = shard["labels"] >= 0
            if fold is not None:
                keep &= of_fold(shard["origins"], fold)
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep].astype(np.int64))
    x = torch.from_numpy(np.concatenate(features))[:limit]
    return x[:, None].float() / 255, torch.from_numpy(np.concatenate(labels))[:limit]


def temperature(checkpoint, model, x, y):
    """The one of a grid that minimises the negative log likelihood."""
    network = Reader(len(SETS[model]))
    network.load_state_dict(torch.load(checkpoint, weights_only=True))
    network.eval()
    with torch.no_grad():
        logits = torch.cat([network(part) for part in x.split(256)])
    grid = np.exp(np.linspace(np.log(0.2), np.log(2.0), 120))
    losses = [F.cross_entropy(logits / float(t), y).item() for t in grid]
    return float(grid[int(np.argmin(losses))])


def mean(values):
    return float(np.exp(np.mean(np.log(list(values)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--shards", nargs="+", required=True)
    parser.add_argument("--checkpoint", help="one network, on all the shards' pictures")
    parser.add_argument("--folds", help="folder of 0.pt, 1.pt, …: one line a fold, then `all`")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.checkpoint:
        print(f"all {temperature(arguments.checkpoint, arguments.model, *samples(arguments.shards)):.4f}")
        return
    found = {}
    for path in sorted(Path(arguments.folds).glob("[0-9].pt")):
        x, y = samples(arguments.shards, int(path.stem))
        found[path.stem] = temperature(path, arguments.model, x, y)
    for fold, own in found.items():
        print(f"{fold} {mean(t for k, t in found.items() if k != fold) if len(found) > 1 else own:.4f}")
    print(f"all {mean(found.values()):.4f}")


if __name__ == "__main__":
    main()
