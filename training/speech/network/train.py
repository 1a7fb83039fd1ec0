"""Trains an acoustic model on shards of features.

    python -m speech.network.train --language pa --shards DIR/words=1 DIR/sentences=3 --dev DIR/dev --out pa.pt \
        --steps 9400

The learning rate rises, then stays. Training can be continued from such a checkpoint at any time by the same command.
`--transfer` starts a language on the layers that were trained for another. `--decay-steps N` starts from `--init`, a
checkpoint or a shipped ONNX file, and lets the rate fall to `--last` of itself. Such a
checkpoint is for use, or for further training at a low `--lr`. Utterances are short at first and get longer with the
steps. English is taught phones beside its letters.
"""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import learning
import torch
import tyro
from torch import Tensor, nn
from torch.nn import functional as F

from ..data import batches
from ..data.lengths import longest, out_length
from ..sounds import features
from ..texts import metrics, phones, units
from . import checkpoint, model

Item = TypeVar("Item")
SAVE_MINUTES = 4
CHECKED = 160  # utterances


@dataclass
class Options:
    """What the command line says."""

    language: Literal["pa", "en"]
    shards: list[str]
    """Each as DIR=WEIGHT."""
    out: Path
    dev: Path | None = None
    """A folder of shards to measure on."""
    init: Path | None = None
    """A checkpoint, or an ONNX file, to start from."""
    transfer: Path | None = None
    """A checkpoint, of another language too, whose layers below the head are taken."""
    steps: int = 10**9
    """Stop at this step, counted from the very first."""
    decay_steps: int = 0
    """Stop after so many steps, the rate falling linearly."""
    last: float = 0.02
    """The share of the rate that it falls to."""
    lr: float = 2e-3
    muon: bool = False
    strength: float = 0.35
    """How much features are changed, 0 to 1."""
    warm_up: int = 300
    frames: int = 8000
    """In a batch; 100 a second."""
    seed: int = 1


def ahead(source: Iterator[Item], depth: int = 3) -> Iterator[Item]:
    """Yield what `source` yields, up to `depth` items ahead, made by another thread."""
    waiting: queue.Queue[Item] = queue.Queue(depth)

    def work() -> None:
        for one in source:
            waiting.put(one)

    threading.Thread(target=work, daemon=True).start()
    while True:
        yield waiting.get()


def weighted(specs: Sequence[str]) -> dict[str, float]:
    """Read `DIR=WEIGHT` of the command line as the weight of each folder."""
    return {spec.rsplit("=", 1)[0]: float(spec.rsplit("=", 1)[1]) for spec in specs}


def ctc(log_probs: Tensor, lengths: Tensor, targets: tuple[Tensor, Tensor], blank: int) -> Tensor:
    """Return the CTC loss in nats per unit (Graves et al., 2006).

    log_probs: (B, T', units + 1); lengths: (B,) frames of T'; targets: as `batches.flat` gives them.
    """
    units_of_all, counts = targets
    lost = F.ctc_loss(
        log_probs.transpose(0, 1), units_of_all, lengths, counts, blank=blank, reduction="sum", zero_infinity=True
    )
    return lost / counts.sum().clamp(min=1)


def loss_of(
    net: model.Acoustic, aside: nn.Module | None, batch: batches.Batch, blank: int
) -> tuple[Tensor, Tensor | None]:
    """Return the loss in nats per unit, and with `aside` that of the middle block in nats per phone."""
    x, middle = net.states(batch.signal, batch.lengths)
    frames = out_length(batch.lengths)
    loss = ctc(net.log_probs(x), frames, batch.letters, blank)
    if aside is None:
        return loss, None
    scores = aside(middle)
    scores = torch.log_softmax(scores.reshape(scores.shape[0], -1, scores.shape[2] // 2)[:, : x.shape[1]], -1)
    return loss, ctc(scores, frames, batch.phones, scores.shape[2] - 1)


@torch.no_grad()
def check(net: model.Acoustic, folder: str | Path, language: str) -> metrics.Errors:
    """Return the greedy error rates on about CHECKED utterances of a folder."""
    rows = batches.rows(folder, language)
    rows = rows[:: max(1, len(rows) // CHECKED)]
    errors = metrics.Errors()
    for group, signal, lengths in batches.alike(
        [row.frames for row in rows], lambda k: features.normalised(rows[k].values())
    ):
        for k, found, n in zip(group, net(signal, lengths), out_length(lengths).tolist(), strict=True):
            errors.add(rows[k].item["text"], units.greedy(found[:n].argmax(1).numpy(), language))
    return errors


def optimiser(net: model.Acoustic, aside: nn.Module | None, muon: bool, decay: float = 0.02) -> learning.Together:
    """Return AdamW and, with `muon`, Muon for the matrices between layers; `aside` is a layer of its own."""
    matrices = [p for n, p in net.named_parameters() if muon and p.dim() == 2 and not n.startswith("head")]
    kept = {id(p) for p in matrices}
    others = [p for part in (net, aside) if part is not None for p in part.parameters() if id(p) not in kept]
    adam = torch.optim.AdamW(others, 1e-3, betas=(0.9, 0.98), weight_decay=decay, fused=True)
    return learning.Together(adam, *([learning.Muon(matrices, learning.polar_express, decay)] if matrices else []))


class Training:
    """One training: the network, its running average and the optimiser."""

    def __init__(self, options: Options) -> None:
        """Start anew, from `--init` or from the last checkpoint at `--out`."""
        self.options, self.language = options, options.language
        start = options.out if options.out.exists() else options.init
        state = checkpoint.load(start) if start else {}
        # A shipped file holds no phone layer; a new one would disturb the layers below it at first.
        with_phones = self.language == "en" and (not state or bool(state.get("aside")))
        spelling = phones.Spelling() if with_phones else None
        shards = weighted(options.shards)
        rows = [batches.rows(folder, self.language, spelling) for folder in shards]

        torch.manual_seed(options.seed)
        self.net = model.Acoustic(units.blank(self.language))
        if options.transfer:
            taken = checkpoint.load(options.transfer)["average"]
            self.net.load_state_dict({k: v for k, v in taken.items() if not k.startswith("head.")}, strict=False)
        self.average = {k: v.clone() for k, v in self.net.state_dict().items()}
        self.aside = model.phone_head(self.net.size["width"], phones.OTHER + 1) if with_phones else None
        self.optimiser = optimiser(self.net, self.aside, options.muon)
        self.step, self.seconds = 0, 0.0
        if start:
            self._restore(state)
            print(f"from {start}: step {self.step}, {self.seconds / 3600:.1f} h of sound", flush=True)
        # The step at which the rate begins to fall.
        self.first = self.step if not options.decay_steps or start == options.init else state["first"]
        self.fallen = 0.0  # how far the rate has fallen, 0 to 1
        seed = [options.seed, self.step]
        self.source = batches.Batches(rows, list(shards.values()), seed, options.frames, options.strength, out_length)
        print(f"{self.source.hours():.1f} h of shards", flush=True)

    def _restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint; the optimiser starts anew where it had other parameters."""
        self.net.load_state_dict(state["net"])
        self.average = state["average"]
        if self.aside is not None:
            self.aside.load_state_dict(state["aside"])
        if self.optimiser.kind() == state.get("kind"):
            self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.seconds = state["step"], state["seconds"]

    def learn(self, batch: batches.Batch) -> float:
        """Make one step; returns the loss before it in nats per unit."""
        loss, phone_loss = loss_of(self.net, self.aside, batch, units.blank(self.language))
        (loss if phone_loss is None else loss + 0.5 * phone_loss).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        rate = self._rate()
        if torch.isfinite(norm):
            self.optimiser.step(rate)
        self.step += 1
        self.seconds += float(batch.lengths.sum()) / 100
        keep = 0.99 if self.fallen else min(0.998, self.step / (self.step + 10))
        for name, value in self.net.state_dict().items():
            self.average[name].lerp_(value, 1 - keep)
        return float(loss.detach())

    def _rate(self) -> float:
        """Return the learning rate of this step, and remember how far it has fallen."""
        asked = self.options
        self.fallen = min(1, (self.step - self.first) / (asked.decay_steps or 1e9))
        return asked.lr * min(1, (self.step + 1) / asked.warm_up) * (1 - (1 - asked.last) * self.fallen)

    def done(self) -> bool:
        """Return whether one of the limits of the command line is reached."""
        asked = self.options
        return self.step >= asked.steps or self.step - self.first >= (asked.decay_steps or 1e9)

    def save(self) -> str:
        """Write the checkpoint; returns the error rates of the averaged network on `--dev`."""
        state = {"size": self.net.size, "net": self.net.state_dict(), "average": self.average}
        state |= {"aside": self.aside and self.aside.state_dict(), "optimiser": self.optimiser.state_dict()}
        state |= {"kind": self.optimiser.kind(), "step": self.step, "seconds": self.seconds, "first": self.first}
        learning.write(self.options.out, state)
        if not self.options.dev:
            return ""
        judged = model.Acoustic(**self.net.size)
        judged.load_state_dict(self.average)
        return check(judged.eval(), self.options.dev, self.language).line()


class AnyTraining(Protocol):
    """A training under way: `step` counts its steps, `seconds` the sound that it has learnt from."""

    step: int
    seconds: float

    def learn(self, batch: batches.Batch) -> float:
        """Make one step; returns the loss before it."""

    def save(self) -> str:
        """Write the checkpoint; returns what else is to be printed."""

    def done(self) -> bool:
        """Return whether the training is over."""


def run(training: AnyTraining, source: Iterator[batches.Batch]) -> None:
    """Train until done; every SAVE_MINUTES and at the end, save and print the loss since and the pace."""
    source = ahead(source)
    losses: list[float] = []
    saved, before = time.time(), training.seconds
    while not training.done():
        losses.append(training.learn(next(source)))
        if training.done() or time.time() - saved > SAVE_MINUTES * 60:
            pace = (training.seconds - before) / (time.time() - saved)
            measured = training.save()
            print(
                f"{time.strftime('%H:%M:%S')} step {training.step} loss {sum(losses) / len(losses):.3f} {pace:.0f} x, "
                f"{training.seconds / 3600:.1f} h of sound {measured}",
                flush=True,
            )
            losses = []
            saved, before = time.time(), training.seconds


def main(options: Options) -> None:
    """Train as the command line asks, on one thread."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    training = Training(options)
    run(training, training.source.endless(lambda: longest(training.step)))


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
