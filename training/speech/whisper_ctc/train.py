"""Trains the head on the frozen encoder's outputs, or the head and the encoder's upper layers.

    python -m speech.whisper_ctc.train --layer 6 --shards WORK/train=1 --steps 2000 --out WORK/head.pt
    python -m speech.whisper_ctc.train --layer 0 --frozen 3 --init WORK/head.pt --shards WORK/train=1 --steps 1000 \
        --out WORK/full.pt

`--layer` names the layer whose input the shards hold: 6 is the final output, so only the head is trained; 0 is
features, which are augmented anew each time. Layers below `--frozen` stay as they are. The head's learning rate is
`--lr`, the top layer's is `--layer-lr`, and each lower layer has `--fall` times the rate of the one above it. Rates
rise for `--warm-up` steps and fall linearly to 2 % in the last third of `--steps`. The same command continues from its
last checkpoint; `--stop` ends it earlier, so that it can go on with other settings.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import learning
import torch
import tyro

from ..arrays import Floats
from ..data.batches import Batch, Row, alike
from ..network.train import ctc, run, weighted
from ..sounds import features
from . import batches, near
from .encoder import LAYERS, out_length
from .model import PEOPLE, UNITS, Recogniser, heard, loaded, started

SAMPLE = 400  # utterances of which mean and deviation of the head's inputs are measured


@dataclass
class Options:
    """What the command line says."""

    shards: list[str]
    """Each as DIR=WEIGHT."""
    out: Path
    steps: int
    layer: int = LAYERS
    frozen: int = 0
    init: Path | None = None
    """A checkpoint, or an ONNX file, to start from."""
    stop: int = 10**9
    """Stop after this step of them."""
    lr: float = 1e-3
    layer_lr: float = 3e-5
    fall: float = 0.7
    warm_up: int = 200
    frames: int = 4000
    """In a batch, of 20 ms; of 10 ms with `--layer 0`."""
    strength: float = 0.5
    pull: float = 0.0
    """Share by which a step moves the weights back to those of `--init`."""
    near: str | None = None
    """A folder of shards of real recordings, for which the encoder's outputs shall stay those of `--init`."""
    near_weight: float = 1.0
    """Of the mean square by which they move, beside the loss in nats per unit."""
    keep: int = 0
    """Steps between copies of the network beside `--out`, OUT.STEP.pt, among which `speech.measure.people` chooses."""
    seed: int = 1


def rate(step: int, steps: int, warm_up: int) -> float:
    """Return the share of the highest rate at a step: rising, level, falling in the last third of the steps."""
    return min(1.0, (step + 1) / warm_up, max(0.02, (steps - step) / (steps / 3)))


@torch.no_grad()
def log_probs(net: Recogniser, rows: list[Row]) -> list[Floats]:
    """Return the log-probabilities, (T, units + 1), of each utterance without augmentation."""

    def values(k: int) -> Floats:
        return rows[k].values() if net.start else features.normalised(rows[k].values(), features.WHISPER)

    out: dict[int, Floats] = {}
    for group, signal, lengths in alike([row.frames for row in rows], values):
        found = net(batches.turned(signal, net.start), lengths).numpy()
        for k, row, n in zip(group, found, lengths.tolist(), strict=True):
            out[k] = row[: n if net.start else out_length(n)]
    return [out[k] for k in range(len(rows))]


def measure_inputs(net: Recogniser, source: batches.Batches) -> None:
    """Set the mean and the deviation by which the head normalises its inputs, from the training data."""
    rows = source.folders[0][:: max(1, len(source.folders[0]) // SAMPLE)]
    values = torch.cat([torch.from_numpy(row.values()) for row in rows])
    net.head.mean.copy_(values.mean(0))
    net.head.deviation.copy_(values.std(0) + 1e-4)


def optimiser(net: Recogniser, lr: float, layer_lr: float, fall: float) -> torch.optim.AdamW:
    """Return AdamW with a group of parameters for each layer, whose highest rate is `top`."""
    groups_of = []
    for depth, parameters in net.trained():
        top = lr if depth == 0 else layer_lr * fall ** (depth - 1)
        groups_of.append({"params": parameters, "top": top, "lr": top})
    return torch.optim.AdamW(groups_of, betas=(0.9, 0.98), weight_decay=0.01, fused=True)


def opened(options: Options) -> tuple[Recogniser, dict[str, Any]]:
    """Return the network to train and its last checkpoint, empty at the beginning."""
    if options.out.exists():
        net = loaded(options.out, options.layer, averaged=False, frozen=options.frozen)
        return net, learning.load(options.out)
    if options.init:
        return loaded(options.init, options.layer, frozen=options.frozen), {}
    return started(options.layer), {}


class Run:
    """One training: the network, its running average and the optimiser."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.net, state = opened(options)
        self.net.train()
        self.step, self.seconds = state.get("step", 0), state.get("seconds", 0.0)
        shards, seed = weighted(options.shards), [options.seed, self.step]
        self.source = batches.Batches(shards, options.layer, seed, options.frames, options.strength)
        if not state and not options.init:
            if options.layer != LAYERS:
                raise ValueError("an untrained head starts with --layer 6")
            measure_inputs(self.net, self.source)
        for parameter in self.net.parameters():
            parameter.requires_grad_(False)
        for _, parameters in self.net.trained():
            for parameter in parameters:
                parameter.requires_grad_(True)
        self.heard = sorted({*(heard(options.init) if options.init else ()), *state.get("heard", ()), *self.people()})
        first = loaded(options.init, options.layer, frozen=options.frozen) if options.init else self.net
        self.weights = near.Weights(self.net, first, options.pull)
        self.outputs = near.Outputs(first, batches.rows(options.near, 0), options.seed) if options.near else None
        self.average = state.get("average") or {k: v.clone() for k, v in self.net.state_dict().items()}
        self.optimise = optimiser(self.net, options.lr, options.layer_lr, options.fall)
        if state:
            tops = [group["top"] for group in self.optimise.param_groups]
            self.optimise.load_state_dict(state["optimiser"])
            # The rates of the command line, not those of the checkpoint.
            for group, top in zip(self.optimise.param_groups, tops, strict=True):
                group["top"] = top

    def people(self) -> set[str]:
        """Return the people who speak in the shards."""
        return {voice for voices in self.source.voices for voice in voices} & set(PEOPLE)

    def learn(self, batch: Batch) -> float:
        """Make one step; returns the loss before it in nats per unit."""
        signal, lengths = batches.turned(batch.signal, self.options.layer), batch.lengths
        with torch.autocast("cpu", torch.bfloat16):
            scores = self.net(signal, lengths)
            moved = self.outputs.loss(self.net) if self.outputs else 0.0
        loss = ctc(scores, lengths if self.net.start else out_length(lengths), batch.letters, UNITS)
        (loss + self.options.near_weight * moved).backward()
        norm = torch.nn.utils.clip_grad_norm_([p for p in self.net.parameters() if p.requires_grad], 5.0)
        share = rate(self.step, self.options.steps, self.options.warm_up)
        for group in self.optimise.param_groups:
            group["lr"] = group["top"] * share
        if torch.isfinite(norm):
            self.optimise.step()
            self.weights.pull(share)
        self.optimise.zero_grad()
        self.step += 1
        self.seconds += float(lengths.sum()) * (0.02 if self.net.start else 0.01)
        learning.follow(self.average, self.net, min(0.998, self.step / (self.step + 10)))
        if self.options.keep and self.step % self.options.keep == 0:
            kept = self.options.out.with_suffix(f".{self.step}.pt")
            learning.write(kept, {"average": self.average, "heard": self.heard})
        return float(loss.detach())

    def done(self) -> bool:
        """Return whether one of the limits of the command line is reached."""
        return self.step >= min(self.options.steps, self.options.stop)

    def save(self) -> str:
        """Write the checkpoint, completely or not at all; nothing is to be printed."""
        state = {"net": self.net.state_dict(), "average": self.average, "optimiser": self.optimise.state_dict()}
        learning.write(self.options.out, state | {"step": self.step, "seconds": self.seconds, "heard": self.heard})
        return ""


def main(options: Options) -> None:
    """Train as the command line asks, on one thread."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)
    training = Run(options)
    hours = training.source.hours(0.02 if options.layer else 0.01)
    print(f"{hours:.1f} h of shards, from step {training.step}", flush=True)
    run(training, training.source.endless(lambda: batches.LONGEST))


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
