"""Trains the translator; run again with the same `--out`, it goes on.

    python -m translation.train --data DATA --pairs WORK/pairs --tokens WORK/tokens --out WORK/first.pt
    python -m translation.train ... --init WORK/first.pt --out WORK/final.pt --decay-steps 600

The learning rate rises over `--warm` steps and then stays. With `--decay-steps` it falls to nothing over so many steps
and the training ends. In the last third of the fall the softmax is over all
pieces. The averaged weights (EMA) are the ones to ship. `--mix` gives the weights of the streams of examples.
"""

import copy
import csv
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import learning
import torch
import tyro
from learning import HALF
from transformers import M2M100ForConditionalGeneration

from . import batches, corpus, names, placeholders, prepared, streams
from .corpus import Pair
from .model import loss, network, optimiser
from .phrases import Phrases
from .streams import Example

SMOOTHING, KEPT = 0.1, 0.995  # of the labels; of the average at a step
SAVE_MINUTES, DEV_MINUTES, LOG_STEPS = 3, 20, 50
MIX = "parallel=8,phrases=1,denoise-pa=0.6,denoise-en=0.2,back=0"
NATURAL = ("indicvoices:everyday", "indicvoices:wikipedia", "indicvoices:domain", "indicvoices:topic")


@dataclass
class Options:
    """What the command line says."""

    data: Path
    pairs: Path
    """What `translation.prepared` wrote."""
    tokens: Path
    out: Path
    init: Path | None = None
    """A checkpoint to start from, where `out` does not exist yet."""
    back: Path | None = None
    """What `translation.backtranslate` wrote."""
    mix: str = MIX
    batch_tokens: int = 6000
    rate: float = 2e-3
    warm: int = 100
    steps: int = 10**9
    """Stop at this step, counted from the very first."""
    decay_steps: int = 0
    """Stop after so many steps, over which the rate falls to nothing."""
    dropout: float = 0.15
    rivals: int = 0
    """Pieces of the softmax beside the batch's own; 0: all."""
    seed: int = 1
    threads: int = 1


def mix(text: str) -> dict[str, float]:
    """The weight of each stream, of a text `name=weight,name=weight`."""
    return {name: float(weight) for name, weight in (part.split("=") for part in text.split(","))}


def sources(options: Options, rng: random.Random) -> tuple[list[Iterator[Example]], list[float], list[Pair]]:
    """The streams of `--mix` with their weights, and the pairs of dev."""
    parts = prepared.read(options.pairs)
    mono = corpus.single(options.data, parts)
    lexicon = names.lexicon()
    made: dict[str, Callable[[], Iterator[Example]]] = {
        "parallel": lambda: streams.parallel(parts["train"], rng, lexicon),
        "denoise-pa": lambda: streams.denoise(mono["pa"], "pa", rng),
        "denoise-en": lambda: streams.denoise(mono["en"], "en", rng),
    }
    if mix(options.mix).get("phrases"):
        made["phrases"] = lambda: streams.generated(Phrases(), rng, lexicon)
    if options.back:
        with options.back.open(newline="") as file:
            rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        made["back"] = lambda: streams.back(rows, rng)
    weights = {name: weight for name, weight in mix(options.mix).items() if weight and name in made}
    return [made[name]() for name in weights], list(weights.values()), parts["dev"]


def development(
    net: M2M100ForConditionalGeneration, pairs: Sequence[Pair], segmenter: batches.Segmenter
) -> dict[str, float]:
    """Mean cross entropy of the pairs in either direction, in nats a token, without smoothing; natural rows apart."""
    net.eval()
    plain, rng, lexicon = copy.copy(segmenter), random.Random(1), names.lexicon()
    plain.chance = 0
    sides = {"en": 0, "pa": 1}
    out = {}
    for name in ("natural", "other"):
        chosen = [pair for pair in pairs if (pair[2] in NATURAL) == (name == "natural")]
        for a, b in (("en", "pa"), ("pa", "en")):
            texts = [placeholders.masked(p[sides[a]], p[sides[b]], a, rng, lexicon) for p in chosen]
            rows = [plain.example(a, s, b, t) for s, t in texts]
            rows = sorted((r for r in rows if max(map(len, r)) <= 100), key=lambda r: len(r[1]))
            total, count = 0.0, 0
            for k in range(0, len(rows), 40):
                source, target = ([*side] for side in zip(*rows[k : k + 40], strict=True))
                with torch.no_grad(), torch.autocast("cpu", HALF, enabled=HALF is torch.bfloat16):
                    value, n = loss(net, batches.padded(source), batches.padded(target), 0)
                total, count = total + float(value) * n, count + n
            out[f"{name} {a}-{b}"] = round(total / count, 3)
    net.train()
    return out


class Training:
    """A training under way: the network, its average, the optimiser and the counts that a checkpoint keeps."""

    def __init__(self, options: Options) -> None:
        resumed = options.out if options.out.exists() else options.init
        state = learning.load(resumed) if resumed else None
        self.options = options
        self.step = state["step"] if state else 0
        self.n_tokens = state["n_tokens"] if state else 0
        # The step from which the rate rises, and the one from which it falls.
        self.warm_from = state.get("warm_from", 0) if state else 0
        self.start = self.step if not state or resumed == options.init else state.get("decay_from", self.step)
        torch.manual_seed(options.seed + self.step)
        self.rng = random.Random(options.seed + self.step)
        self.segmenter = batches.Segmenter(options.tokens, self.rng)
        self.net = network(self.segmenter.size, options.dropout)
        self.optimiser = optimiser(self.net)
        if state:
            self.net.load_state_dict(state["net"])
            self.optimiser.load_state_dict(state["optimiser"])
        self.average = state["average"] if state else learning.copied(self.net)

    def done(self) -> bool:
        """Whether the steps are over."""
        decay = self.options.decay_steps
        return self.step >= (self.start + decay if decay else self.options.steps)

    def fall(self) -> float:
        """The share of the rate that is left: 1 until it falls, then down to 0."""
        return 1 - (self.step - self.start) / self.options.decay_steps if self.options.decay_steps else 1

    def advance(self, source: torch.Tensor, target: torch.Tensor) -> float:
        """One step on a batch, as `batches.batches` gives it; the loss before the step, in nats a token."""
        options, fall = self.options, self.fall()
        rivals = options.rivals if fall > 1 / 3 else 0
        with torch.autocast("cpu", HALF, enabled=HALF is torch.bfloat16):
            value, n_tokens = loss(self.net, source, target, SMOOTHING, rivals)
        value.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.step, self.n_tokens = self.step + 1, self.n_tokens + n_tokens
        self.optimiser.step(options.rate * min(1, (self.step - self.warm_from) / options.warm) * max(fall, 0.01))
        learning.follow(self.average, self.net, min(KEPT, 1 - 1 / (1 + self.step / 5)))
        return float(value.detach())

    def save(self) -> None:
        """Writes the checkpoint."""
        counts = {"step": self.step, "n_tokens": self.n_tokens, "decay_from": self.start, "warm_from": self.warm_from}
        weights = {"net": self.net.state_dict(), "average": self.average}
        learning.write(self.options.out, {**weights, "optimiser": self.optimiser.state_dict(), **counts})

    def run(self) -> None:
        """Trains until done; prints and saves on the way and saves at the end."""
        options = self.options
        flows, weights, dev = sources(options, self.rng)
        n_parameters = sum(p.numel() for p in self.net.parameters())
        print(f"{n_parameters / 1e6:.2f} M parameters, from step {self.step}", flush=True)
        self.net.train()
        began = saved = measured = time.monotonic()
        total, spent = 0.0, time.process_time()
        for source, target in batches.batches(flows, weights, self.segmenter, self.rng, options.batch_tokens):
            if self.done():
                break
            total += self.advance(source, target)
            if self.step % LOG_STEPS == 0:
                now = time.process_time()
                print(
                    f"step {self.step} loss {total / LOG_STEPS:.3f} tokens {self.n_tokens / 1e6:.2f} M "
                    f"{(now - spent) / LOG_STEPS:.3f} s CPU a step, "
                    f"{(time.monotonic() - began) / 60:.1f} min",
                    flush=True,
                )
                total, spent = 0.0, now
            if time.monotonic() - saved > SAVE_MINUTES * 60:
                self.save()
                saved = time.monotonic()
                if saved - measured > DEV_MINUTES * 60:
                    print(f"step {self.step} dev {development(self.net, dev, self.segmenter)}", flush=True)
                    measured = time.monotonic()
        self.save()
        print(f"step {self.step} dev {development(self.net, dev, self.segmenter)}", flush=True)


def main(options: Options) -> None:
    """Trains."""
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    Training(options).run()


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
