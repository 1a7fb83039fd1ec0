"""Batches of about equal length: utterances, or several of them one after the other, changed and normalised."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from learning import grouped
from torch import Tensor

from ..arrays import Floats
from ..sounds import augment, features
from .lengths import out_length, tight
from .sources import Row, Sources

FEW = 5  # utterances of a voice: with fewer, the same ones would be repeated
PAUSED = 0.2  # how often silence goes before, behind or between utterances
POOL = 30  # batches drawn at a time, sorted by length among themselves


class Drawn(NamedTuple):
    """What becomes one row of a batch: one utterance, or several one after the other."""

    mel: Floats  # (frames, 80), not normalised
    units: list[int]
    phones: list[int]


class Batch(NamedTuple):
    """Input and targets of one step of the training; `letters` and `phones` are as `flat` gives them."""

    signal: Tensor  # (B, 80, T) float32, normalised
    lengths: Tensor  # (B,) frames of 10 ms
    letters: tuple[Tensor, Tensor]
    phones: tuple[Tensor, Tensor]


class Batches:
    """Draws batches without end; folders are drawn by weight, and features change each time they are drawn."""

    def __init__(self, sources: Sources, seed: int | Sequence[int], frames: int = 8000, strength: float = 1.0) -> None:
        """Remember the sources. `frames`: padded frames of a batch; `strength`: how much features change, 0 to 1."""
        self.sources, self.frames = sources, frames
        self.rng = np.random.default_rng(seed)
        self.augment, self.strength = augment.Augment(), strength

    def pick(self, longest: int) -> list[Row]:
        """Draw one utterance, or up to eight of one folder, together at most `longest` frames if the first is."""
        rng = self.rng
        folders = [f for f in self.sources.folders if self.sources.items[f]]
        weight = np.array([self.sources.folders[f] for f in folders], float)
        folder = folders[rng.choice(len(folders), p=weight / weight.sum())]
        rows = self.sources.items[folder]
        for _ in range(50):
            row = rows[rng.integers(len(rows))]
            if row.frames <= longest:
                break
        picked = [row]
        goal = rng.uniform(0, longest) if rng.random() < 0.6 else 0
        while True:
            total = sum(p.frames for p in picked)
            same = self.sources.voices[folder][row.voice]
            alike = len(same) >= FEW and rng.random() < 0.6
            other = rows[same[rng.integers(len(same))] if alike else rng.integers(len(rows))]
            if total + other.frames > min(goal, longest) or len(picked) > 7:
                break
            picked.append(other)
        return picked

    def draw(self, longest: int) -> Drawn:
        """Draw utterances as `pick` does and join them: features with pauses, units with a space between texts."""
        picked = self.pick(longest)
        ids: list[int] = []
        for p in picked:
            ids += [0] * bool(ids and p.units) + list(p.units)
        mel = augment.spaced([p.mel() for p in picked], PAUSED, self.rng)
        return Drawn(mel, ids, [phone for p in picked for phone in p.phones])

    def changed(self, mel: Floats, ids: Sequence[int]) -> Floats:
        """Return the network's input for an utterance: augmented, normalised and masked, (frames', 80)."""
        fastest = 0.85 * out_length(len(mel)) / max(1, tight(ids))
        mel = features.normalised(self.augment(mel, self.rng, fastest, self.strength))
        return augment.masked(mel, self.rng, self.strength)

    def endless(self, longest: Callable[[], int]) -> Iterator[Batch]:
        """Yield batches; `longest` is called before each pool and returns the frames that an utterance may have."""
        while True:
            limit = longest()
            drawn: list[Drawn] = []
            while sum(len(d.mel) for d in drawn) < POOL * self.frames * 0.9:
                drawn.append(self.draw(limit))
            drawn.sort(key=lambda d: len(d.mel) * (1 + 0.05 * self.rng.random()))
            groups = grouped(drawn, lambda one: len(one.mel), self.frames)
            for k in self.rng.permutation(len(groups)):
                rows = groups[k]
                yield Batch(
                    *stacked([self.changed(row.mel, row.units) for row in rows]),
                    flat([row.units for row in rows]),
                    flat([row.phones for row in rows]),
                )


def stacked(mels: Sequence[Floats]) -> tuple[Tensor, Tensor]:
    """Return normalised features (frames, 80) as (B, 80, T), padded with zeros, and the frames of each, (B,)."""
    lengths = torch.tensor([len(mel) for mel in mels])
    signal = torch.zeros(len(mels), features.MELS, int(lengths.max()))
    for k, mel in enumerate(mels):
        signal[k, :, : len(mel)] = torch.from_numpy(np.ascontiguousarray(mel.T))
    return signal, lengths


def flat(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return all numbers one after the other, (sum,), and how many there are in each row, (B,)."""
    return torch.tensor([u for row in rows for u in row]), torch.tensor([len(row) for row in rows])
