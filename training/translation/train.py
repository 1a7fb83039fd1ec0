"""Trains the translator; run again with the same `--out`, it goes on.

    python -m translation.train --data DATA --tokens WORK/tokens --out WORK/translation.pt --minutes 60
    python -m translation.train ... --init WORK/translation.pt --out WORK/final.pt --decay-steps 600

The learning rate rises over `--warm` steps and then stays. With `--decay-steps` it falls to nothing over so many steps
and the training ends; with `--fall` it falls over `--minutes`. In the last third of the fall the softmax is over all
pieces. The averaged weights (EMA) are the ones to ship. `--mix` gives the weights of the streams of examples.
"""

import argparse
import copy
import csv
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import learning
import torch
from learning import HALF
from transformers import M2M100ForConditionalGeneration

from . import batches, corpus, names, placeholders, prepared, streams
from .corpus import Pair
from .model import loss, network, optimiser
from .phrases import Phrases
from .streams import Example

MIX = "parallel=8,phrases=1,denoise-pa=0.6,denoise-en=0.2,back=0"
NATURAL = ("indicvoices:everyday", "indicvoices:wikipedia", "indicvoices:domain", "indicvoices:topic")


def mix(text: str) -> dict[str, float]:
    """The weight of each stream, of a text `name=weight,name=weight`."""
    return {name: float(weight) for name, weight in (part.split("=") for part in text.split(","))}


def sources(
    arguments: argparse.Namespace, rng: random.Random
) -> tuple[list[Iterator[Example]], list[float], list[Pair]]:
    """The streams of `--mix` with their weights, and the pairs of dev."""
    parts = prepared.read(arguments.pairs)
    mono = corpus.single(arguments.data, parts)
    lexicon = names.lexicon()
    made: dict[str, Callable[[], Iterator[Example]]] = {
        "parallel": lambda: streams.parallel(parts["train"], rng, lexicon),
        "denoise-pa": lambda: streams.denoise(mono["pa"], "pa", rng),
        "denoise-en": lambda: streams.denoise(mono["en"], "en", rng),
    }
    if mix(arguments.mix).get("phrases"):
        made["phrases"] = lambda: streams.generated(Phrases(), rng, lexicon)
    if arguments.back:
        with Path(arguments.back).open(newline="") as file:
            rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        made["back"] = lambda: streams.back(rows, rng)
    weights = {name: weight for name, weight in mix(arguments.mix).items() if weight and name in made}
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

    def __init__(self, arguments: argparse.Namespace) -> None:
        resumed = arguments.out if Path(arguments.out).exists() else arguments.init
        state = learning.load(resumed) if resumed else None
        self.arguments = arguments
        self.step = state["step"] if state else 0
        self.n_tokens = state["n_tokens"] if state else 0
        # The step from which the rate rises, and the one from which it falls.
        self.warm_from = state.get("warm_from", 0) if state else 0
        self.start = self.step if not state or resumed == arguments.init else state.get("decay_from", self.step)
        torch.manual_seed(arguments.seed + self.step)
        self.rng = random.Random(arguments.seed + self.step)
        self.segmenter = batches.Segmenter(arguments.tokens, self.rng, chance=arguments.resegment)
        self.net = network(self.segmenter.size, arguments.dropout)
        self.optimiser = optimiser(self.net)
        if state:
            self.net.load_state_dict(state["net"])
            self.optimiser.load_state_dict(state["optimiser"])
        parameters = self.net.named_parameters()
        self.average = state["average"] if state else {name: p.detach().clone() for name, p in parameters}
        self.began = time.monotonic()

    def done(self) -> bool:
        """Whether the steps or the minutes are over."""
        arguments = self.arguments
        last = self.start + arguments.decay_steps if arguments.decay_steps else 10**9
        return self.step >= min(arguments.steps, last) or time.monotonic() - self.began > arguments.minutes * 60

    def fall(self) -> float:
        """The share of the rate that is left: 1 until it falls, then down to 0."""
        if self.arguments.fall:
            return 1 - (time.monotonic() - self.began) / (60 * self.arguments.minutes)
        return 1 - (self.step - self.start) / self.arguments.decay_steps if self.arguments.decay_steps else 1

    def advance(self, source: torch.Tensor, target: torch.Tensor) -> float:
        """One step on a batch, as `batches.batches` gives it; the loss before the step, in nats a token."""
        arguments, fall = self.arguments, self.fall()
        rivals = arguments.rivals if fall > 1 / 3 else 0
        with torch.autocast("cpu", HALF, enabled=HALF is torch.bfloat16):
            value, n_tokens = loss(self.net, source, target, arguments.smoothing, rivals)
        value.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.step, self.n_tokens = self.step + 1, self.n_tokens + n_tokens
        self.optimiser.step(arguments.rate * min(1, (self.step - self.warm_from) / arguments.warm) * max(fall, 0.01))
        with torch.no_grad():
            kept = min(arguments.keep, 1 - 1 / (1 + self.step / 5))
            for name, p in self.net.named_parameters():
                self.average[name].lerp_(p.detach(), 1 - kept)
        return float(value.detach())

    def save(self) -> None:
        """Writes the checkpoint."""
        counts = {"step": self.step, "n_tokens": self.n_tokens, "decay_from": self.start, "warm_from": self.warm_from}
        weights = {"net": self.net.state_dict(), "average": self.average}
        learning.write(self.arguments.out, {**weights, "optimiser": self.optimiser.state_dict(), **counts})

    def run(self) -> None:
        """Trains until done; prints and saves on the way and saves at the end."""
        arguments = self.arguments
        flows, weights, dev = sources(arguments, self.rng)
        n_parameters = sum(p.numel() for p in self.net.parameters())
        print(f"{n_parameters / 1e6:.2f} M parameters, from step {self.step}", flush=True)
        self.net.train()
        self.began = saved = measured = time.monotonic()
        total, spent = 0.0, time.process_time()
        for source, target in batches.batches(flows, weights, self.segmenter, self.rng, arguments.batch_tokens):
            if self.done():
                break
            total += self.advance(source, target)
            if self.step % arguments.log_steps == 0:
                now = time.process_time()
                print(
                    f"step {self.step} loss {total / arguments.log_steps:.3f} tokens {self.n_tokens / 1e6:.2f} M "
                    f"{(now - spent) / arguments.log_steps:.3f} s CPU a step, "
                    f"{(time.monotonic() - self.began) / 60:.1f} min",
                    flush=True,
                )
                total, spent = 0.0, now
            if time.monotonic() - saved > arguments.save_minutes * 60:
                self.save()
                saved = time.monotonic()
                if saved - measured > arguments.dev_minutes * 60:
                    print(f"step {self.step} dev {development(self.net, dev, self.segmenter)}", flush=True)
                    measured = time.monotonic()
        self.save()
        print(f"step {self.step} dev {development(self.net, dev, self.segmenter)}", flush=True)


def parsed() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--pairs", required=True, help="what translation.prepared wrote")
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--init", help="a checkpoint to start from, where --out does not exist yet")
    parser.add_argument("--back", help="what translation.backtranslate wrote")
    parser.add_argument("--mix", default=MIX)
    parser.add_argument("--batch-tokens", type=int, default=6000)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--warm", type=int, default=100)
    parser.add_argument("--decay-steps", type=int, default=0)
    parser.add_argument("--fall", action="store_true", help="the rate falls to nothing over --minutes")
    parser.add_argument("--dropout", type=float, default=0.15)
    parser.add_argument("--smoothing", type=float, default=0.1)
    parser.add_argument("--rivals", type=int, default=0, help="pieces of the softmax beside the batch's own; 0: all")
    parser.add_argument("--resegment", type=float, default=0.1, help="how many sources are segmented at random")
    parser.add_argument("--steps", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=10**6)
    parser.add_argument("--save-minutes", type=float, default=3)
    parser.add_argument("--dev-minutes", type=float, default=20)
    parser.add_argument("--log-steps", type=int, default=50)
    parser.add_argument("--keep", type=float, default=0.995, help="how much of the average a step keeps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Trains."""
    arguments = parsed()
    torch.set_num_threads(arguments.threads)
    torch.set_flush_denormal(True)
    Training(arguments).run()


if __name__ == "__main__":
    main()
