"""Trains an acoustic model on shards of features.

    python -m speech.train --language pa --shards DIR/words=1 DIR/sentences=3 --dev DIR/dev --out pa.pt --minutes 60

The learning rate rises, then stays: such a checkpoint can be trained on at any time by running the same command again.
`--transfer` starts a language on what another has learnt. `--decay-steps N` (or `--decay-minutes`) starts from `--init`, a
checkpoint or a shipped ONNX file, and lets the rate fall to `--last` of itself: that checkpoint is for use, or for others to
go on from at `--lr`. Utterances are short at first and get longer with the steps. English is taught phones beside its
letters. Once the file that AKHAR_TWO_THREADS_FILE names is there, two threads work; while the one that AKHAR_PAUSE_FILE
names is there, none.
"""

import argparse
import os
import queue
import threading
import time
from pathlib import Path

import torch
from torch.nn import functional as F

from . import batches, checkpoint, corpus, features, metrics, model, optimiser, phones, units
from .shards import Shard, found

LENGTHS = [(0, 220), (250, 300), (600, 500), (1200, 800), (2400, 1200), (3500, 1600)]  # from step, frames


def longest(step):
    return [frames for start, frames in LENGTHS if step >= start][-1]


def ahead(source, depth=3):
    """Batches made by another thread while this one learns."""
    waiting = queue.Queue(depth)

    def work():
        for one in source:
            waiting.put(one)

    threading.Thread(target=work, daemon=True).start()
    while True:
        yield waiting.get()


def ctc(log_probs, lengths, targets, blank):
    """Nats per unit; log_probs (B, T', units + 1), targets (units of all, how many each)."""
    units_of_all, counts = targets
    lost = F.ctc_loss(
        log_probs.transpose(0, 1), units_of_all, lengths, counts, blank=blank, reduction="sum", zero_infinity=True
    )
    return lost / counts.sum().clamp(min=1)


def loss_of(net, aside, batch, blank):
    """Nats per unit, and nats per phone as the middle of the network hears them where there are any."""
    signal, lengths, letters, said = batch
    x, middle = net.states(signal, lengths)
    frames = model.out_length(lengths)
    loss = ctc(net.log_probs(x), frames, letters, blank)
    if aside is None:
        return loss, None
    heard = aside(middle)
    heard = torch.log_softmax(heard.reshape(heard.shape[0], -1, heard.shape[2] // 2)[:, : x.shape[1]], -1)
    return loss, ctc(heard, frames, said, heard.shape[2] - 1)


@torch.no_grad()
def heard(net, features_list, size=16):
    """Log-probabilities of each normalised (frames, 80), (T', units + 1), computed in batches."""
    order = sorted(range(len(features_list)), key=lambda k: len(features_list[k]))
    out = [None] * len(order)
    for start in range(0, len(order), size):
        some = order[start : start + size]
        signal, lengths = batches.stacked([features_list[k] for k in some])
        for k, row in zip(some, net(signal, lengths)):
            out[k] = row[: model.out_length(len(features_list[k]))].numpy()
    return out


def check(net, folder, language, most=160):
    """Greedy error rates on a folder of shards."""
    errors = metrics.Errors()
    for path in found(folder):
        shard = Shard(path)
        few = range(0, len(shard.items), max(1, len(shard.items) // most))
        mels = [features.normalised(shard.mel(k), features.cmvn()) for k in few]
        for k, row in zip(few, heard(net, mels)):
            errors.add(shard.items[k]["text"], units.greedy(row.argmax(1), language))
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--shards", nargs="+", required=True, metavar="DIR=WEIGHT")
    parser.add_argument("--dev", help="a folder of shards to measure on")
    parser.add_argument("--out", required=True)
    parser.add_argument("--init", help="a checkpoint, or an ONNX file, to start from")
    parser.add_argument("--transfer", help="a checkpoint, of another language too, whose layers below the head to take")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--steps", type=int, default=10**9, help="stop at this step, counted from the very first")
    parser.add_argument("--decay-steps", type=int, help="stop after so many steps, the rate falling linearly")
    parser.add_argument("--decay-minutes", type=float, help="the same by the clock")
    parser.add_argument("--last", type=float, default=0.02)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--muon", action="store_true")
    parser.add_argument("--strength", type=float, default=0.35, help="how much features are changed, 0 to 1")
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--frames", type=int, default=8000, help="in a batch; 100 a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save-minutes", type=float, default=4)
    parser.add_argument("--log-steps", type=int, default=50)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    language = arguments.language
    folders = {spec.rsplit("=", 1)[0]: float(spec.rsplit("=", 1)[1]) for spec in arguments.shards}
    start = arguments.out if Path(arguments.out).exists() else arguments.init
    state = checkpoint.load(start) if start else {}
    # One that was shipped brings no phones along, and to learn them anew would spoil what is below them.
    with_phones = language == "en" and (not state or bool(state.get("aside")))
    sources = batches.Sources(folders, language, with_phones)
    print(f"{sources.refresh():.1f} h", flush=True)

    torch.manual_seed(arguments.seed)
    net = model.Acoustic(units.blank(language))
    if arguments.transfer:
        taken = checkpoint.load(arguments.transfer)["average"]
        net.load_state_dict({k: v for k, v in taken.items() if not k.startswith("head.")}, strict=False)
    average = {k: v.clone() for k, v in net.state_dict().items()}
    aside = phones.head(net.size["width"]) if with_phones else None
    optimise = optimiser.Both(net, aside, arguments.muon)
    step, seconds = 0, 0.0
    if start:
        net.load_state_dict(state["net"])
        average = state["average"]
        if aside is not None:
            aside.load_state_dict(state["aside"])
        if optimise.kind() == state.get("kind"):
            optimise.load_state_dict(state["optimiser"])
        step, seconds = state["step"], state["seconds"]
        print(f"from {start}: step {step}, {seconds / 3600:.1f} h heard", flush=True)
    first = step if not arguments.decay_steps or start == arguments.init else state["first"]
    fall_steps, fall_minutes = arguments.decay_steps or 1e9, arguments.decay_minutes or 1e9
    clock = {"step": step}
    source = batches.Batches(sources, language, [arguments.seed, step], arguments.frames, arguments.strength)
    stream = ahead(source.endless(lambda: longest(clock["step"])))
    began = saved = logged = time.time()
    sums, phone_sums, heard_since = [], [], 0.0
    while True:
        paused = time.time()
        corpus.wait()
        paused = time.time() - paused
        began, saved, logged = began + paused, saved + paused, logged + paused
        if torch.get_num_threads() == 1 and os.path.exists(os.environ.get("AKHAR_TWO_THREADS_FILE", "")):
            torch.set_num_threads(2)
        batch = next(stream)
        loss, lost_phones = loss_of(net, aside, batch, units.blank(language))
        (loss if aside is None else loss + 0.5 * lost_phones).backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        rate = arguments.lr * min(1, (step + 1) / arguments.warm_up)
        fallen = min(1, max((step - first) / fall_steps, (time.time() - began) / 60 / fall_minutes))
        rate *= 1 - (1 - arguments.last) * fallen
        if torch.isfinite(norm):
            optimise.step(rate)
        step += 1
        clock["step"] = step
        keep = 0.99 if fallen else min(0.998, step / (step + 10))
        for name, value in net.state_dict().items():
            average[name].lerp_(value, 1 - keep)
        sums.append(float(loss.detach()))
        phone_sums.append(0.0 if aside is None else float(lost_phones.detach()))
        heard_since += float(batch[1].sum()) / 100
        done = (
            time.time() - began > arguments.minutes * 60
            or step >= arguments.steps
            or fallen >= 1
            or step - first >= fall_steps
        )
        if step % arguments.log_steps == 0:
            spent = time.time() - logged
            print(
                f"{time.strftime('%H:%M:%S')} step {step} loss {sum(sums) / len(sums):.3f} "
                f"phones {sum(phone_sums) / len(phone_sums):.3f} grad {norm:.2f} "
                f"rate {rate:.1e} {heard_since / spent:.0f} x, {(seconds + heard_since) / 3600:.1f} h heard",
                flush=True,
            )
            seconds, heard_since, logged = seconds + heard_since, 0.0, time.time()
            sums, phone_sums = [], []
        if done or time.time() - saved > arguments.save_minutes * 60:
            checkpoint.save(arguments.out, net, aside, average, optimise, step=step, seconds=seconds, first=first)
            hours = sources.refresh()
            text = ""
            if arguments.dev:
                judged = model.Acoustic(**net.size)
                judged.load_state_dict(average)
                text = check(judged.eval(), arguments.dev, language).line()
            print(f"{time.strftime('%H:%M:%S')} saved at step {step}; {hours:.1f} h of shards; {text}", flush=True)
            saved = time.time()
        if done:
            break


if __name__ == "__main__":
    main()
