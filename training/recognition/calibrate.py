"""Checkpoints and pictures they were not trained on in; softmax temperatures out.

With `--folds`, each fold's network is fitted on its held-out drawers' bitmaps and nukta letters; it is
then given the mean of the other folds' temperatures, so that its own drawers have no say in it, and the
shipped network the mean of all. With `--checkpoint`, one network is fitted on generated pictures (pool
shards): the digits kept for evaluation are never looked at here.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from . import testsets
from .labels import SETS
from .model import TURNS, Looks, Reader
from .pool import COMMAND, Filter


def generated(paths):
    """Float (n, 1, 48, 48), labels int64 (n,): the known characters of pool shards."""
    features, labels = [], []
    for path in paths:
        with np.load(path) as shard:
            keep = shard["labels"] >= 0
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep].astype(np.int64))
    x = torch.from_numpy(np.concatenate(features))
    return x[:, None].float() / 255, torch.from_numpy(np.concatenate(labels))


def held_out(data, fold, filter_):
    """The same of the letters of a fold's drawers."""
    items = testsets.letters(data, fold) + testsets.pair_bindi(data, fold)
    squares = np.stack(filter_.features([testsets.plain(mask) for _, _, mask in items]))
    labels = torch.tensor([label for _, label, _ in items])
    return torch.from_numpy(squares)[:, None].float() / 255, labels


def temperature(checkpoint, model, x, y):
    """The one of a grid that minimises the negative log likelihood."""
    network = Reader(len(SETS[model]))
    network.load_state_dict(torch.load(checkpoint, weights_only=True))
    network = Looks(network, TURNS[model]).eval()
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
    parser.add_argument("--checkpoint", help="one network, on the pictures of --shards")
    parser.add_argument("--shards", nargs="*", default=[])
    parser.add_argument("--folds", help="folder of 0.pt, 1.pt, …: one line a fold, then `all`")
    parser.add_argument("--data", help="with --folds")
    parser.add_argument("--features-command", default=COMMAND)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.checkpoint:
        x, y = generated(arguments.shards)
        print(f"all {temperature(arguments.checkpoint, arguments.model, x, y):.4f}")
        return
    found, filter_ = {}, Filter(arguments.features_command)
    for path in sorted(Path(arguments.folds).glob("[0-9].pt")):
        x, y = held_out(Path(arguments.data), int(path.stem), filter_)
        found[path.stem] = temperature(path, arguments.model, x, y)
    for fold in found:
        print(f"{fold} {mean(t for k, t in found.items() if k != fold):.4f}")
    print(f"all {mean(found.values()):.4f}")


if __name__ == "__main__":
    main()
