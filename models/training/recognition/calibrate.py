"""A checkpoint and pool shards it was not trained on in; the best softmax temperature out.

The shards are generated pictures (or, with `--fold`, only those of held-out drawers): the digits
kept for evaluation are never looked at here.
"""

import argparse

import numpy as np
import torch
from torch.nn import functional as F

from .labels import SETS
from .model import Reader


def temperature(logits, labels):
    """Minimises the negative log likelihood over a grid."""
    grid = np.exp(np.linspace(np.log(0.2), np.log(2.0), 120))
    losses = [F.cross_entropy(logits / float(t), labels).item() for t in grid]
    return float(grid[int(np.argmin(losses))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--shards", nargs="+", required=True)
    parser.add_argument("--fold", type=int)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = Reader(len(SETS[arguments.model]))
    model.load_state_dict(torch.load(arguments.checkpoint, weights_only=True))
    model.eval()
    features, labels = [], []
    for path in arguments.shards:
        with np.load(path) as shard:
            keep = shard["labels"] >= 0
            if arguments.fold is not None:
                keep &= (shard["origins"] > 0) & ((shard["origins"] - 1) % 5 == arguments.fold)
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep])
    x = torch.from_numpy(np.concatenate(features))[:8000]
    y = torch.from_numpy(np.concatenate(labels).astype(np.int64))[:8000]
    with torch.no_grad():
        logits = torch.cat([model(part[:, None].float() / 255) for part in x.split(256)])
    accuracy = (logits.argmax(1) == y).float().mean().item()
    print(f"{temperature(logits, y):.4f} {accuracy:.4f} {len(y)}")


if __name__ == "__main__":
    main()
