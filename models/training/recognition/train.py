"""Pool shards in, a trained network's weights out (a torch checkpoint).

`--hold FOLD` leaves out every sample made from a drawer of that fold (or folds), (drawer - 1) mod 5,
so one pool serves every fold. `--teachers` distils several checkpoints into one: targets are the mean of their
probabilities.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from .labels import SETS
from .model import Reader


def shards(pools, model):
    """The finished shard files of all pool folders, in order."""
    found = [p for pool in pools for p in sorted(Path(pool).glob(f"{model}-*.npz"))]
    return [p for p in found if not p.name.endswith(".part.npz")]


def of_fold(origins, fold):
    """Which samples have a drawer of the fold in them; `origins` (n,) or (n, 2), 0 = nobody."""
    origins = origins.reshape(len(origins), -1)
    return ((origins > 0) & ((origins - 1) % 5 == fold)).any(1)


def load(pools, model, hold=()):
    """features uint8 (n, 48, 48), labels int64; without the held folds' drawers."""
    features, labels = [], []
    for path in shards(pools, model):
        with np.load(path) as shard:
            keep = np.ones(len(shard["labels"]), bool)
            for fold in hold:
                keep &= ~of_fold(shard["origins"], fold)
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep].astype(np.int64))
    return torch.from_numpy(np.concatenate(features)), torch.from_numpy(np.concatenate(labels))


def targets(labels, n_labels, smoothing=0.03):
    """Smoothed one-hot rows; an even row for what is no character."""
    rows = torch.full((len(labels), n_labels), 1.0 / n_labels)
    known = labels >= 0
    one_hot = F.one_hot(labels[known], n_labels).float()
    rows[known] = one_hot * (1 - smoothing) + smoothing / n_labels
    return rows


def warped(x, rng, turn=0.05, move=0.05, bend=0.05):
    """Each square turned, slanted, scaled, shifted and bent a little: a new hand at no cost of drawing.

    `x`: (n, 1, side, side). Standard deviations: `turn` in radians (also slant and log scale), `move`
    and `bend` in half sides; the bend is a field of 5 x 5 random vectors, interpolated.
    """
    n, side = len(x), x.shape[-1]
    noise = torch.from_numpy(rng.normal(0, 1, (n, 6)).astype(np.float32))
    matrix = torch.eye(2, 3).repeat(n, 1, 1) + turn * noise.view(n, 2, 3)
    matrix[:, :, 2] *= move / turn
    grid = F.affine_grid(matrix, (n, 1, side, side), align_corners=False)
    field = torch.from_numpy(rng.normal(0, bend, (n, 2, 5, 5)).astype(np.float32))
    field = F.interpolate(field, (side, side), mode="bilinear", align_corners=True)
    return F.grid_sample(x, grid + field.permute(0, 2, 3, 1), align_corners=False)


def erased(x, rng):
    """A square hole in half of the batch, one time in five."""
    if rng.random() < 0.2:
        size, (top, left) = int(rng.integers(4, 9)), rng.integers(0, 40, 2)
        x[: len(x) // 2, :, top:top + size, left:left + size] = 0
    return x


def teach(teachers, x):
    with torch.no_grad():
        return torch.stack([torch.softmax(t(x), 1) for t in teachers]).mean(0)


def start(model, weights):
    """Takes over the weights that fit: another label set's network gives all but the head."""
    own = model.state_dict()
    model.load_state_dict(own | {k: v for k, v in weights.items() if v.shape == own[k].shape})


def train(features, labels, n_labels, arguments, teachers=()):
    torch.manual_seed(arguments.seed)
    rng = np.random.default_rng(arguments.seed)
    model = Reader(n_labels).to(memory_format=torch.channels_last)
    if arguments.init:
        start(model, torch.load(arguments.init, weights_only=True))
    average = Reader(n_labels).to(memory_format=torch.channels_last)
    average.load_state_dict(model.state_dict())
    optimiser = torch.optim.AdamW(model.parameters(), lr=arguments.rate, weight_decay=0.02, fused=True)
    batch, limit = 128, arguments.minutes * 60
    spent, last = 0.0, time.monotonic()
    step, seen, loss_sum, at = 0, 0, 0.0, len(labels)
    while True:
        now = time.monotonic()
        spent, last = spent + min(now - last, 3.0), now  # a stopped process is not training
        progress = spent / limit if limit else step / arguments.steps
        if progress >= 1:
            break
        if at + batch > len(labels):
            order, at = torch.from_numpy(rng.permutation(len(labels))), 0
        chosen = order[at:at + batch]
        at += batch
        for group in optimiser.param_groups:
            warm = min(1.0, (step + 1) / 200)
            group["lr"] = arguments.rate * warm * 0.5 * (1 + np.cos(np.pi * progress))
        x = erased(warped(features[chosen][:, None].float() / 255, rng), rng)
        y = teach(teachers, x) if teachers else targets(labels[chosen], n_labels)
        if not teachers and progress < 0.7 and rng.random() < 0.4:
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
            print(f"{spent:6.0f} s  step {step}  seen {seen}  "
                  f"loss {loss_sum / 250:.3f}", flush=True)
            loss_sum = 0.0
    return average.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pool", required=True, nargs="+")
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--out", required=True)
    parser.add_argument("--hold", type=int, nargs="*", default=[])
    parser.add_argument("--minutes", type=float, default=0, help="stop by the clock, not by steps")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--init", help="go on from this checkpoint; of another model, all but the head")
    parser.add_argument("--teachers", nargs="*", default=[])
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    n_labels = len(SETS[arguments.model])
    features, labels = load(arguments.pool, arguments.model, arguments.hold)
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
