"""Training batches: fresh squares from hands.py, and squares from the pools, warped again each time.

A sample made from a drawer of a held-out fold, (drawer - 1) mod 5, is left out of both.
"""

from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from . import fonts, strokes
from .hands import Hands
from .labels import LETTERS, SETS
from .samples import OTHERS

# Shares of fresh squares that are no label, and that have lost their aspect.
NOTHINGS = {"letters-pa": 0.06, "digits-pa": 0.2}
STRETCHED = {"letters-pa": 0.06, "digits-pa": 0.3}


def of_fold(origins, fold):
    """Which samples have a drawer of the fold in them; `origins` (n,) or (n, 2), 0 = nobody."""
    origins = np.asarray(origins).reshape(len(origins), -1)
    return ((origins > 0) & ((origins - 1) % 5 == fold)).any(1)


def shards(pools, model):
    """The finished shard files of all pool folders, in order."""
    found = [p for pool in pools for p in sorted(Path(pool).glob(f"{model}-*.npz"))]
    return [p for p in found if not p.name.endswith(".part.npz")]


def load(pools, model, hold=()):
    """Features uint8 (n, 48, 48), labels int64; without the held folds' drawers."""
    features, labels = [], []
    for path in shards(pools, model):
        with np.load(path) as shard:
            keep = np.ones(len(shard["labels"]), bool)
            for fold in hold:
                keep &= ~of_fold(shard["origins"], fold)
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep].astype(np.int64))
    return np.concatenate(features), np.concatenate(labels)


def pens(data: Path, model, hold=()):
    """The model's Hands, without the held folds' drawers."""
    drawers = strokes.omniglot(data, LETTERS + list(OTHERS["letters-pa"]))
    for fold in hold:
        drawers = [d for d in drawers if not of_fold([d.origin], fold)[0]]
    written = strokes.templates()
    traced = fonts.skeletons(data, SETS[model])
    everything = drawers + written + fonts.skeletons(data, OTHERS[model])
    others = [d for d in everything if d.label in OTHERS[model]]
    sources = (
        [(drawers, 0.9, 1.0), (written, 0.03, 1.0), (traced, 0.07, 0.35)]
        if model == "letters-pa"
        else [(written, 0.65, 1.0), (traced, 0.35, 0.35)]
    )
    return Hands(SETS[model], sources, others, NOTHINGS[model], STRETCHED[model])


class Mixture:
    """`fresh` of a batch's n squares from hands, the rest from the pool, each pool square once a round."""

    def __init__(self, hands, pool, n, fresh, rng):
        self.hands, self.rng = hands, rng
        self.features, self.labels = pool
        self.n_fresh = round(fresh * n)
        self.n_pooled = n - self.n_fresh
        self.order = np.zeros(0, int)

    def batch(self):
        """Float (n, 1, 48, 48) and labels int64 (n,)."""
        if len(self.order) < self.n_pooled:
            self.order = self.rng.permutation(len(self.labels))
        chosen, self.order = self.order[: self.n_pooled], self.order[self.n_pooled :]
        pooled = torch.from_numpy(self.features[chosen])[:, None].float() / 255
        drawn, labels = self.hands.batch(self.n_fresh, self.rng)
        x = torch.cat([torch.from_numpy(drawn)[:, None].float() / 255, warped(pooled, self.rng)])
        return x, torch.from_numpy(np.concatenate([labels, self.labels[chosen]]))


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
