"""Pool shards in, a trained network's weights out (a torch checkpoint).

`--hold FOLD` leaves out every sample made from the drawers of that fold, (drawer - 1) mod 5.
`--teachers` distils several checkpoints into one: targets are the mean of their probabilities.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from .labels import SETS
from .model import Reader


def load(pool, model, hold=None, limit=None):
    """features uint8 (n, 48, 48), labels int64; without the held fold's drawers."""
    features, labels = [], []
    for path in sorted(Path(pool).glob(f"{model}-*.npz"))[:limit]:
        if path.name.endswith(".part.npz"):
            continue
        with np.load(path) as shard:
            keep = np.ones(len(shard["labels"]), bool)
            if hold is not None:
                origins = shard["origins"]
                keep = (origins == 0) | ((origins - 1) % 5 != hold)
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep].astype(np.int64))
    return torch.from_numpy(np.concatenate(features)), torch.from_numpy(np.concatenate(labels))


def targets(labels, n_labels, smoothing=0.05):
    """Smoothed one-hot rows; an even row for what is no character."""
    rows = torch.full((len(labels), n_labels), 1.0 / n_labels)
    known = labels >= 0
    one_hot = F.one_hot(labels[known], n_labels).float()
    rows[known] = one_hot * (1 - smoothing) + smoothing / n_labels
    return rows


def shifted(x, rng, reach=2):
    """The whole batch moved by up to `reach` pixels, and some squares erased."""
    dy, dx = rng.integers(-reach, reach + 1, 2)
    x = torch.roll(x, (int(dy), int(dx)), (2, 3))
    if rng.random() < 0.25:
        size, (top, left) = int(rng.integers(4, 10)), rng.integers(0, 40, 2)
        x = x.clone()
        x[: len(x) // 2, :, top:top + size, left:left + size] = 0
    return x


def teach(teachers, x):
    with torch.no_grad():
        return torch.stack([torch.softmax(t(x), 1) for t in teachers]).mean(0)


def train(features, labels, n_labels, arguments, teachers=()):
    torch.manual_seed(arguments.seed)
    rng = np.random.default_rng(arguments.seed)
    model = Reader(n_labels).to(memory_format=torch.channels_last)
    if arguments.init:
        model.load_state_dict(torch.load(arguments.init, weights_only=True))
    average = Reader(n_labels).to(memory_format=torch.channels_last)
    average.load_state_dict(model.state_dict())
    optimiser = torch.optim.AdamW(model.parameters(), lr=arguments.rate, weight_decay=0.02)
    batch, started = 128, time.time()
    limit = arguments.minutes * 60
    step, seen, loss_sum, at = 0, 0, 0.0, len(labels)
    while True:
        progress = (time.time() - started) / limit if limit else step / arguments.steps
        if progress >= 1:
            break
        if at + batch > len(labels):
            order, at = torch.from_numpy(rng.permutation(len(labels))), 0
        chosen = order[at:at + batch]
        at += batch
        for group in optimiser.param_groups:
            warm = min(1.0, (step + 1) / 200)
            group["lr"] = arguments.rate * warm * 0.5 * (1 + np.cos(np.pi * progress))
        x = shifted(features[chosen][:, None].float() / 255, rng)
        y = teach(teachers, x) if teachers else targets(labels[chosen], n_labels)
        if not teachers and rng.random() < 0.4:
            share = float(rng.beta(0.3, 0.3))
            other = torch.from_numpy(rng.permutation(batch))
            x, y = share * x + (1 - share) * x[other], share * y + (1 - share) * y[other]
        model.train()
        loss = -(y * F.log_softmax(model(x), 1)).sum(1).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        step, seen, loss_sum = step + 1, seen + batch, loss_sum + loss.item()
        decay = min(0.998, (1 + step) / (10 + step))
        with torch.no_grad():
            for a, b in zip(average.state_dict().values(), model.state_dict().values()):
                if a.dtype.is_floating_point:
                    a.lerp_(b, 1 - decay)
                else:
                    a.copy_(b)
        if step % 250 == 0:
            print(f"{time.time() - started:6.0f} s  step {step}  seen {seen}  "
                  f"loss {loss_sum / 250:.3f}", flush=True)
            loss_sum = 0.0
    return average.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pool", required=True)
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--out", required=True)
    parser.add_argument("--hold", type=int)
    parser.add_argument("--minutes", type=float, default=0, help="stop by the clock, not by steps")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shards", type=int)
    parser.add_argument("--init", help="go on from this checkpoint")
    parser.add_argument("--teachers", nargs="*", default=[])
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    n_labels = len(SETS[arguments.model])
    features, labels = load(arguments.pool, arguments.model, arguments.hold, arguments.shards)
    print(f"{len(labels)} samples, {n_labels} labels", flush=True)
    teachers = []
    for path in arguments.teachers:
        teacher = Reader(n_labels)
        teacher.load_state_dict(torch.load(path, weights_only=True))
        teachers.append(teacher.eval())
    model = train(features, labels, n_labels, arguments, teachers)
    torch.save(model.state_dict(), arguments.out)


if __name__ == "__main__":
    main()
