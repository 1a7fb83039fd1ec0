"""Batches of utterances of about equal length, from shards or from the frozen encoder's outputs beside them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from learning import grouped
from torch import Tensor

from ..arrays import Floats, Halves
from ..data.batches import flat
from ..data.lengths import tight
from ..data.shards import Shard, found
from ..sounds import augment, features
from ..texts import units
from .encoder import WIDTH, out_length

POOL = 24  # batches drawn at a time and sorted by length among themselves
FASTEST = 0.9  # units per frame that CTC still has room for
JOINED, LONGEST = 0.4, 1600  # share of utterances joined to others, and frames of 10 ms that these have at most
PAUSED = 0.25  # how often silence goes before, after or between utterances
Batch = tuple[Tensor, Tensor, tuple[Tensor, Tensor]]  # input, lengths, targets as `flat` gives them


class Row(NamedTuple):
    """One utterance: its features (frames, 80) before normalisation, or the encoder's outputs (frames, 512)."""

    source: Halves  # of the whole shard
    start: int
    frames: int
    units: list[int]
    item: dict[str, Any]  # its entry in the shard's index

    def values(self) -> Floats:
        """Return a copy as float32."""
        return np.asarray(self.source[self.start : self.start + self.frames], np.float32)


def rows(folder: str, layer: int) -> list[Row]:
    """Return the utterances of a folder, or of one shard named without suffix, with the input of layer `layer`.

    For `layer` 0 that is features; shards that have not been encoded for another layer are left out.
    """
    out = []
    for path in found(folder) if Path(folder).is_dir() else [Path(folder)]:
        shard, at = Shard(path), 0
        outputs = path.with_suffix(f".layer{layer}")
        if layer and not outputs.exists():
            continue
        source = np.memmap(outputs, np.float16, "r").reshape(-1, WIDTH) if layer else shard.rows
        for item in shard.items:
            frames = out_length(item["frames"]) if layer else item["frames"]
            ids = units.encode(item["text"], "pa")
            out.append(Row(source, at if layer else item["start"], frames, ids, item))
            at += frames
    return out


class Drawn(NamedTuple):
    """What becomes one row of a batch: one utterance, or several one after the other."""

    rows: list[Row]
    units: list[int]
    frames: int


def fits(row: Row, layer: int) -> bool:
    """Return whether CTC has room for the text."""
    return tight(row.units) <= FASTEST * (row.frames if layer else out_length(row.frames))


def padded(values: list[Floats], layer: int) -> tuple[Tensor, Tensor]:
    """Return (B, T, 512), or (B, 80, T) for features (`layer` 0), padded with zeros, and the lengths, (B,)."""
    lengths = torch.tensor([len(one) for one in values])
    out = torch.zeros(len(values), int(lengths.max()), values[0].shape[1])
    for k, one in enumerate(values):
        out[k, : len(one)] = torch.from_numpy(one)
    return (out if layer else out.transpose(1, 2)), lengths


class Batches:
    """Draws batches without end; folders are drawn by weight, and features change each time they are drawn."""

    def __init__(self, folders: dict[str, float], layer: int, seed: list[int], frames: int, strength: float) -> None:
        """Read the folders, given with their weights; raises ValueError where one holds nothing for `layer`.

        frames: padded frames of a batch; strength: how much features are changed, 0 to 1.
        """
        self.layer, self.frames, self.strength = layer, frames, strength
        self.rng = np.random.default_rng(seed)
        self.augment = None if layer else augment.Augment()
        self.pools = [[row for row in rows(folder, layer) if fits(row, layer)] for folder in folders]
        if not all(self.pools):
            raise ValueError(f"a folder of {', '.join(folders)} holds no utterance for layer {layer}")
        weights = np.array(list(folders.values()))
        self.shares = weights / weights.sum()

    def hours(self) -> float:
        """Return the hours of all utterances."""
        return sum(row.frames for pool in self.pools for row in pool) * (0.02 if self.layer else 0.01) / 3600

    def draw(self) -> Drawn:
        """Draw an utterance; with features, sometimes up to four of one folder to be joined."""
        pool = self.pools[self.rng.choice(len(self.pools), p=self.shares)]
        picked = [pool[self.rng.integers(len(pool))]]
        goal = self.rng.uniform(0, LONGEST) if not self.layer and self.rng.random() < JOINED else 0
        while len(picked) < 4:
            other = pool[self.rng.integers(len(pool))]
            if sum(row.frames for row in picked) + other.frames > goal:
                break
            picked.append(other)
        ids = list(picked[0].units)
        for row in picked[1:]:
            ids += [0] * bool(ids and row.units) + row.units
        return Drawn(picked, ids, sum(row.frames for row in picked))

    def changed(self, drawn: Drawn) -> Floats:
        """Return the network's input for an utterance, (frames, 80) or (frames, 512), augmented."""
        if self.augment is None:
            return self._dropped(drawn.rows[0].values(), 12)
        values = augment.spaced([row.values() for row in drawn.rows], PAUSED, self.rng)
        fastest = 0.85 * out_length(len(values)) / max(1, tight(drawn.units))
        values = self.augment(values, self.rng, fastest, self.strength)
        values = features.normalised(values, features.WHISPER)
        for _ in range(2):
            width = int(self.rng.integers(0, 1 + int(14 * self.strength)))
            start = int(self.rng.integers(0, features.MELS - width + 1))
            values[:, start : start + width] = values.mean()
        return self._dropped(values, 20)

    def _dropped(self, values: Floats, longest: int) -> Floats:
        """Replace stretches of time by the utterance's mean, one for about two seconds, in place."""
        mean = values.mean(0)
        for _ in range(1 + len(values) * (2 if self.layer else 1) // 200):
            n = min(int(self.rng.integers(0, 1 + int(longest * self.strength))), len(values) // 8)
            start = int(self.rng.integers(0, len(values) - n + 1))
            values[start : start + n] = mean
        return values

    def endless(self) -> Iterator[Batch]:
        """Yield batches."""
        while True:
            drawn: list[Drawn] = []
            while sum(one.frames for one in drawn) < POOL * self.frames * 0.9:
                drawn.append(self.draw())
            drawn.sort(key=lambda one: one.frames)
            groups = grouped(drawn, lambda one: one.frames, self.frames)
            for k in self.rng.permutation(len(groups)):
                values = [self.changed(one) for one in groups[k]]
                yield *padded(values, self.layer), flat([one.units for one in groups[k]])
