"""Trains the tagger; run again with the same `--out`, it goes on.

    python -m punctuation.train --data DATA --pairs WORK/pairs --out WORK/punctuation.pt

`--pairs` is what `translation.prepared` wrote. The learning rate rises over WARM steps and falls to nothing at
`--steps`. The averaged weights are the ones to ship.
"""

import random
import time
from dataclasses import dataclass
from pathlib import Path

import learning
import numpy as np
import torch
import tyro
from translation import prepared

from . import batches, data
from .model import Tagger, loss

WARM, KEPT = 200, 0.998  # steps; of the average at a step
GONE = 0.08  # of the rows of words
SAVE_MINUTES, LOG_STEPS = 2, 100


@dataclass
class Options:
    """What the command line says."""

    data: Path
    pairs: Path
    out: Path
    steps: int = 9000
    transcripts: int = 16
    """Of a batch."""
    rate: float = 2e-3
    dropout: float = 0.15
    seed: int = 1


class Training:
    """A training under way: the network, its average, the optimiser and the step."""

    def __init__(self, options: Options) -> None:
        self.options = options
        state = learning.load(options.out) if options.out.exists() else None
        self.step = state["step"] if state else 0
        torch.manual_seed(options.seed + self.step)
        self.rng = random.Random(options.seed + self.step)
        self.draws = np.random.default_rng(options.seed + self.step)
        self.net = Tagger(options.dropout)
        self.optimiser = torch.optim.AdamW(self.net.parameters(), betas=(0.9, 0.98), weight_decay=0.01, fused=True)
        if state:
            self.net.load_state_dict(state["net"])
            self.optimiser.load_state_dict(state["optimiser"])
        self.average = state["average"] if state else learning.copied(self.net)

    def advance(self, batch: batches.Batch) -> float:
        """One step; returns the loss before it, in nats a word."""
        grams, pauses, sets = (torch.from_numpy(part) for part in batch)
        grams = grams * (torch.rand(grams.shape) >= GONE)
        value = loss(self.net(grams, pauses, sets > 0), sets)
        value.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.step += 1
        rate = self.options.rate * min(1, self.step / WARM) * max(1 - self.step / self.options.steps, 0.01)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad()
        learning.follow(self.average, self.net, min(KEPT, self.step / (self.step + 10)))
        return float(value.detach())

    def save(self) -> None:
        """Writes the checkpoint."""
        weights = {"net": self.net.state_dict(), "average": self.average}
        learning.write(self.options.out, {**weights, "optimiser": self.optimiser.state_dict(), "step": self.step})

    def run(self) -> None:
        """Trains to the last step; prints and saves on the way."""
        pools = data.training(self.options.data, prepared.read(self.options.pairs))
        self.net.train()
        began = saved = time.monotonic()
        total = 0.0
        while self.step < self.options.steps:
            total += self.advance(batches.batch(pools, self.options.transcripts, self.rng, self.draws))
            if self.step % LOG_STEPS == 0:
                minutes = (time.monotonic() - began) / 60
                print(f"step {self.step} loss {total / LOG_STEPS:.4f} {minutes:.1f} min", flush=True)
                total = 0.0
            if time.monotonic() - saved > SAVE_MINUTES * 60:
                self.save()
                saved = time.monotonic()
        self.save()


def main(options: Options) -> None:
    """Trains."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    Training(options).run()


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
