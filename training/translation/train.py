"""Trains the translator; run again with the same `--out`, it goes on.

    python -m translation.train --data DATA --tokens WORK/tokens --out WORK/translation.pt --minutes 60
    python -m translation.train ... --init WORK/translation.pt --out WORK/final.pt --decay-steps 600

The rate rises over `--warm` steps and then stays; `--decay-steps` lets it fall to nothing and ends, `--fall` does so over
`--minutes`. In the last third of the fall the softmax is over all pieces. Shipped are the averaged weights (EMA). `--mix`
gives the weights of what is learnt from.
"""

import argparse
import copy
import csv
import random
import time
from pathlib import Path

import torch

from . import batches, checkpoint, corpus, streams
from .model import loss, network
from .optimiser import Both
from .phrases import Phrases

MIX = "parallel=5,phrases=3,denoise-pa=1.5,denoise-en=1,back=0"


def mix(text):
    return {name: float(weight) for name, weight in (part.split("=") for part in text.split(","))}


def sources(arguments, rng):
    """Streams and their weights."""
    parts = corpus.pairs(arguments.data)
    mono = corpus.single(arguments.data, parts)
    made = {
        "parallel": lambda: streams.parallel(parts["train"], rng),
        "denoise-pa": lambda: streams.denoise(mono["pa"], "pa", rng),
        "denoise-en": lambda: streams.denoise(mono["en"], "en", rng),
    }
    if mix(arguments.mix).get("phrases"):
        made["phrases"] = lambda: streams.generated(Phrases(), rng)
    if arguments.back:
        with open(arguments.back, newline="") as file:
            rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        made["back"] = lambda: streams.back(rows, rng)
    weights = {name: weight for name, weight in mix(arguments.mix).items() if weight and name in made}
    return [made[name]() for name in weights], list(weights.values()), parts["dev"]


def development(net, pairs, segmenter):
    """Mean cross entropy of dev in either direction, nats a token, not smoothed."""
    net.eval()
    plain = copy.copy(segmenter)
    plain.chance = 0
    out = {}
    for side, (a, b) in {"en-pa": ("en", "pa"), "pa-en": ("pa", "en")}.items():
        rows = [plain.example(a, p[a == "pa"], b, p[b == "pa"]) for p in pairs]
        rows = sorted((r for r in rows if max(map(len, r)) <= 100), key=lambda r: len(r[1]))
        total = count = 0
        for k in range(0, len(rows), 40):
            with torch.no_grad():
                value, n = loss(
                    net,
                    batches.padded([s for s, _ in rows[k : k + 40]]),
                    batches.padded([t for _, t in rows[k : k + 40]]),
                    0,
                )
            total, count = total + float(value) * n, count + n
        out[side] = round(total / count, 3)
    net.train()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--init", help="a checkpoint to start from, where --out does not exist yet")
    parser.add_argument("--back", help="what translation.backtranslate wrote")
    parser.add_argument("--mix", default=MIX)
    parser.add_argument("--batch-tokens", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=3e-3)
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
    parser.add_argument("--log-steps", type=int, default=50)
    parser.add_argument("--pause-file", help="while this file exists, nothing is computed")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    resumed = arguments.out if Path(arguments.out).exists() else arguments.init
    state = checkpoint.load(resumed) if resumed else None
    first = state["step"] if state else 0
    torch.manual_seed(arguments.seed + first)
    rng = random.Random(arguments.seed + first)
    segmenter = batches.Segmenter(arguments.tokens, rng, chance=arguments.resegment)
    net = network(segmenter.size, arguments.dropout)
    optimiser = Both(net, arguments.rate)
    if state:
        net.load_state_dict(state["net"])
        optimiser.load_state_dict(state["optimiser"])
    average = state["average"] if state else {k: p.detach().clone() for k, p in net.named_parameters()}
    start = first if resumed == arguments.init else state.get("decay_from", first) if state else first
    flows, weights, dev = sources(arguments, rng)
    print(f"{sum(p.numel() for p in net.parameters()) / 1e6:.2f} M parameters, from step {first}", flush=True)
    net.train()
    began = saved = time.monotonic()
    step, heard, total, spent = first, state["heard"] if state else 0, 0.0, time.process_time()
    end = min(arguments.steps, start + arguments.decay_steps if arguments.decay_steps else 10**9)

    def keep():
        checkpoint.save(arguments.out, net, average, optimiser, step=step, heard=heard, decay_from=start)

    for source, target in batches.batches(flows, weights, segmenter, rng, arguments.batch_tokens):
        while arguments.pause_file and Path(arguments.pause_file).exists():
            time.sleep(1)
        if step >= end or time.monotonic() - began > arguments.minutes * 60:
            break
        fall = 1 - (step - start) / arguments.decay_steps if arguments.decay_steps else 1
        fall = 1 - (time.monotonic() - began) / (60 * arguments.minutes) if arguments.fall else fall
        value, n = loss(net, source, target, arguments.smoothing, arguments.rivals if fall > 1 / 3 else 0)
        value.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        step, heard, total = step + 1, heard + n, total + float(value.detach())
        optimiser.step(arguments.rate * min(1, step / arguments.warm) * max(fall, 0.01))
        with torch.no_grad():
            keepers = min(0.995, 1 - 1 / (1 + step / 5))
            for name, p in net.named_parameters():
                average[name].lerp_(p.detach(), 1 - keepers)
        if step % arguments.log_steps == 0:
            now = time.process_time()
            print(
                f"step {step} loss {total / arguments.log_steps:.3f} tokens {heard / 1e6:.2f} M "
                f"{(now - spent) / arguments.log_steps:.3f} s CPU a step, {(time.monotonic() - began) / 60:.1f} min",
                flush=True,
            )
            total, spent = 0.0, now
        if time.monotonic() - saved > arguments.save_minutes * 60:
            keep()
            print(f"step {step} dev {development(net, dev, segmenter)}", flush=True)
            saved, spent = time.monotonic(), time.process_time()
    keep()
    print(f"step {step} dev {development(net, dev, segmenter)}", flush=True)


if __name__ == "__main__":
    main()
