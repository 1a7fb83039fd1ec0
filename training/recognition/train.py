"""Pen strokes and pool shards in; a trained network's weights out, as a torch checkpoint."""

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from . import batches
from .labels import SETS
from .model import Reader

BATCH = 128


def start(model: Reader, weights: dict[str, torch.Tensor]) -> None:
    """Loads the weights whose shapes fit: those of another label set's network give all but the head."""
    own = model.state_dict()
    model.load_state_dict(own | {k: v for k, v in weights.items() if v.shape == own[k].shape})


def mixed_up(x: torch.Tensor, y: torch.Tensor, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Squares `x` (n, 1, side, side) and targets `y` (n, labels), each with the same share of another row's.

    Zhang et al., mixup: Beyond empirical risk minimization, 2018.
    """
    share = float(rng.beta(0.3, 0.3))
    other = torch.from_numpy(rng.permutation(len(x)))
    return share * x + (1 - share) * x[other], share * y + (1 - share) * y[other]


def follow(average: Reader, model: Reader, decay: float) -> None:
    """Moves the averaged weights towards the network's by the share 1 - `decay`; counters are copied."""
    with torch.no_grad():
        for a, b in zip(average.state_dict().values(), model.state_dict().values(), strict=True):
            if a.dtype.is_floating_point:
                a.lerp_(b, 1 - decay)
            else:
                a.copy_(b)


def train(mixture: batches.Mixture, n_labels: int, arguments: argparse.Namespace) -> Reader:
    """The network with the averaged weights, after `arguments.steps` batches of the mixture.

    AdamW with a warm-up of 200 steps and a cosine schedule from `arguments.rate`; `arguments.init`: a checkpoint to
    begin with, or None; `arguments.seed`: of the mixup.
    """
    rng = np.random.default_rng([arguments.seed, 1])
    model = Reader(n_labels).to(memory_format=torch.channels_last)
    if arguments.init:
        start(model, torch.load(arguments.init, weights_only=True))
    average = Reader(n_labels).to(memory_format=torch.channels_last)
    average.load_state_dict(model.state_dict())
    optimiser = torch.optim.AdamW(model.parameters(), lr=arguments.rate, weight_decay=0.02, fused=True)
    began, losses = time.monotonic(), []
    for step in range(arguments.steps):
        progress = step / arguments.steps
        for group in optimiser.param_groups:
            warm = min(1.0, (step + 1) / 200)
            group["lr"] = arguments.rate * warm * 0.5 * (1 + np.cos(np.pi * progress))
        x, labels = mixture.batch()
        y = batches.targets(labels, n_labels)
        if progress < 0.4 and rng.random() < 0.3:
            x, y = mixed_up(x, y, rng)
        model.train()
        loss = -(y * F.log_softmax(model(x), 1)).sum(1).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        follow(average, model, min(0.998, (1 + step) / (10 + step)))
        losses.append(loss.item())
        if (step + 1) % 250 == 0:
            print(f"{time.monotonic() - began:6.0f} s  step {step + 1}  loss {np.mean(losses[-250:]):.3f}", flush=True)
    return average.eval()


def main() -> None:
    """Trains one model from the command line and saves it as `--out`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--pool", required=True, nargs="+")
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--out", required=True)
    parser.add_argument(
        "--hold", type=int, nargs="*", default=[], help="leave out the drawers of these folds, (drawer - 1) mod 5"
    )
    parser.add_argument("--fresh", type=float, default=0.72, help="share drawn anew from pen strokes")
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--init", help="go on from this checkpoint; of another model, all but the head")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    cv2.setNumThreads(1)
    torch.manual_seed(arguments.seed)
    pool = batches.load([Path(p) for p in arguments.pool], arguments.model, arguments.hold)
    hands = batches.pens(Path(arguments.data), arguments.model, arguments.hold)
    print(f"{len(pool[1])} pool squares, {len(hands.labels)} drawings", flush=True)
    rng = np.random.default_rng(arguments.seed)
    mixture = batches.Mixture(hands, pool, BATCH, arguments.fresh, rng)
    torch.save(train(mixture, len(SETS[arguments.model]), arguments).state_dict(), arguments.out)


if __name__ == "__main__":
    main()
