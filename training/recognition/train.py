"""Pen strokes and pool shards in; a trained network's weights out, as a torch checkpoint."""

import time
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
import tyro
from torch.nn import functional as F

from . import batches
from .hands import of_model
from .labels import SETS
from .model import Reader
from .samples import STRETCHED

BATCH = 128


@dataclass
class Options:
    """What the command line says."""

    data: Path
    pool: Path
    model: str
    out: Path
    hold: tuple[int, ...] = ()
    """Folds whose drawers are left out, (drawer - 1) mod 5."""
    steps: int = 5_000
    rate: float = 3e-3
    seed: int = 1
    init: Path | None = None
    """A checkpoint to begin with; of another model, all but the head."""


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


def train(mixture: batches.Mixture, n_labels: int, options: Options) -> Reader:
    """The network with the averaged weights, after `options.steps` batches of the mixture.

    AdamW with a warm-up of 200 steps and a cosine schedule from `options.rate`; `options.init`: a checkpoint to
    begin with, or None; `options.seed`: of the mixup.
    """
    rng = np.random.default_rng([options.seed, 1])
    model = Reader(n_labels).to(memory_format=torch.channels_last)
    if options.init:
        start(model, torch.load(options.init, weights_only=True))
    average = Reader(n_labels).to(memory_format=torch.channels_last)
    average.load_state_dict(model.state_dict())
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.02, fused=True)
    began, losses = time.monotonic(), []
    for step in range(options.steps):
        progress = step / options.steps
        for group in optimiser.param_groups:
            warm = min(1.0, (step + 1) / 200)
            group["lr"] = options.rate * warm * 0.5 * (1 + np.cos(np.pi * progress))
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


def main(options: Options) -> None:
    """Trains one model and saves it as `--out`."""
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    torch.manual_seed(options.seed)
    pool = batches.load([options.pool], options.model, options.hold)
    hands = of_model(options.data, options.model, options.hold)
    print(f"{len(pool[1])} pool squares, {len(hands.labels)} drawings", flush=True)
    mixture = batches.Mixture(hands, pool, BATCH, STRETCHED[options.model], np.random.default_rng(options.seed))
    torch.save(train(mixture, len(SETS[options.model]), options).state_dict(), options.out)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
