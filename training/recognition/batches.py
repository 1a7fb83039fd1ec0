"""Training batches: squares drawn anew by `hands`, and squares from the pools, warped again each time.

Samples made from a drawer of a held-out fold (`folds`) are left out of both.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from . import raster
from .arrays import Int64, Squares
from .folds import of_fold
from .hands import Hands

FRESH = 0.72  # share of a batch that is drawn anew from pen strokes


def shards(pools: Sequence[Path], model: str) -> list[Path]:
    """A model's finished shard files of all pool folders, in order."""
    found = [p for pool in pools for p in sorted(pool.glob(f"{model}-*.npz"))]
    return [p for p in found if not p.name.endswith(".part.npz")]


def load(pools: Sequence[Path], model: str, hold: Collection[int] = ()) -> tuple[Squares, Int64]:
    """All squares (n, 48, 48) and labels (n,) of the pool folders, without those of drawers in the folds `hold`."""
    features, labels = [], []
    for path in shards(pools, model):
        with np.load(path) as shard:
            keep = np.ones(len(shard["labels"]), bool)
            for fold in hold:
                keep &= ~of_fold(shard["origins"], fold)
            features.append(shard["features"][keep])
            labels.append(shard["labels"][keep].astype(np.int64))
    return np.concatenate(features), np.concatenate(labels)


class Mixture:
    """Batches of n squares: the share FRESH drawn anew by `hands`, the rest from the pool.

    `stretched`: the share of new drawings that fill the square both ways, as some collections of digits do. `pool`: its
    squares (m, 48, 48) and labels (m,). A pool square comes again only after all others.
    """

    def __init__(
        self, hands: Hands, pool: tuple[Squares, Int64], n: int, stretched: float, rng: np.random.Generator
    ) -> None:
        self.hands, self.stretched, self.rng = hands, stretched, rng
        self.features, self.labels = pool
        self.n_fresh = round(FRESH * n)
        self.n_pooled = n - self.n_fresh
        self.order = np.zeros(0, int)

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Ink 0..1, float32 (n, 1, 48, 48), and labels, int64 (n,)."""
        if len(self.order) < self.n_pooled:
            self.order = self.rng.permutation(len(self.labels))
        chosen, self.order = self.order[: self.n_pooled], self.order[self.n_pooled :]
        pooled = torch.from_numpy(self.features[chosen])[:, None].float() / 255
        rows = self.hands.rows(self.n_fresh, self.rng)
        strokes, owner = self.hands.drawn(rows, self.rng)
        width = np.clip(np.exp(self.rng.normal(np.log(2.7), 0.42, len(rows))), 1.1, 7.5)
        stretched = self.rng.random(len(rows)) < self.stretched
        drawn, labels = raster.squares(strokes, owner, width, stretched, self.rng), self.hands.labels[rows]
        x = torch.cat([torch.from_numpy(drawn)[:, None].float() / 255, warped(pooled, self.rng)])
        return x, torch.from_numpy(np.concatenate([labels, self.labels[chosen]]))


def targets(labels: torch.Tensor, n_labels: int, smoothing: float = 0.03) -> torch.Tensor:
    """Target probabilities, float32 (n, n_labels), of labels int64 (n,).

    A label's row has 1 - `smoothing` there and `smoothing` spread over all labels (Szegedy et al., Rethinking the
    Inception architecture, 2016). The row of a picture that is no label, NOTHING, is even.
    """
    rows = torch.full((len(labels), n_labels), 1.0 / n_labels)
    known = labels >= 0
    one_hot = F.one_hot(labels[known], n_labels).float()
    rows[known] = one_hot * (1 - smoothing) + smoothing / n_labels
    return rows


def warped(
    x: torch.Tensor, rng: np.random.Generator, turn: float = 0.05, move: float = 0.05, bend: float = 0.05
) -> torch.Tensor:
    """Each square turned, slanted, scaled, shifted and bent a little, which costs less than drawing it anew.

    `x`: float32 (n, 1, side, side). Standard deviations: `turn` in radians (also of slant and log scale), `move` and
    `bend` in half sides. The bend is a field of 5 x 5 random vectors, interpolated.
    """
    n, side = len(x), x.shape[-1]
    noise = torch.from_numpy(rng.normal(0, 1, (n, 6)).astype(np.float32))
    matrix = torch.eye(2, 3).repeat(n, 1, 1) + turn * noise.view(n, 2, 3)
    matrix[:, :, 2] *= move / turn
    grid = F.affine_grid(matrix, (n, 1, side, side), align_corners=False)
    field = torch.from_numpy(rng.normal(0, bend, (n, 2, 5, 5)).astype(np.float32))
    field = F.interpolate(field, (side, side), mode="bilinear", align_corners=True)
    return F.grid_sample(x, grid + field.permute(0, 2, 3, 1), align_corners=False)
