"""Utterances of shards; and batches of about equal length, of utterances or several of them one after the other."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from learning import grouped
from torch import Tensor

from ..arrays import Floats, Halves
from ..sounds import augment, features
from ..texts import phones, units
from .lengths import tight
from .shards import Shard, found

FEW = 5  # utterances of a voice: with fewer, the same ones would be repeated


class Row(NamedTuple):
    """One utterance: its features (frames, 80) before normalisation, or what an encoder made of them."""

    source: Halves  # of the whole shard
    start: int
    frames: int
    units: list[int]
    item: dict[str, Any]  # its entry in the shard's index
    phones: Sequence[int] = ()  # empty where they are not taught

    def values(self) -> Floats:
        """Return a copy as float32."""
        return np.asarray(self.source[self.start : self.start + self.frames], np.float32)


def rows(folder: str | Path, language: str, spelling: phones.Spelling | None = None) -> list[Row]:
    """Return the utterances of a folder, or of one shard named without suffix, whose text is plain."""
    out = []
    for path in found(folder):
        shard = Shard(path)
        for item in shard.items:
            text = item["text"]
            if (units.plain(text, language) or "") == text:
                said = spelling.phones(text) if spelling else ()
                out.append(Row(shard.rows, item["start"], item["frames"], units.encode(text, language), item, said))
    return out


class Batch(NamedTuple):
    """Input and targets of one step of a training; `letters` and `phones` are as `flat` gives them."""

    signal: Tensor  # (B, 80, T) float32, normalised
    lengths: Tensor  # (B,) frames
    letters: tuple[Tensor, Tensor]
    phones: tuple[Tensor, Tensor]


class Batches:
    """Draws batches without end; folders are drawn by weight, and features change each time they are drawn."""

    JOINED, MOST = 0.6, 8  # share of utterances that are joined to others, and how many at most
    ALIKE = 0.6  # how often another utterance is of the same voice
    PAUSED = 0.2  # how often silence goes before, behind or between utterances
    BABBLE, VOICES = 0.0, 4  # how often others speak at the same time, and how many at most
    POOL = 30  # batches drawn at a time, sorted by length among themselves

    def __init__(
        self,
        folders: Sequence[list[Row]],
        weights: Sequence[float],
        seed: list[int],
        frames: int,
        strength: float,
        out_length: Callable[[int], int],
    ) -> None:
        """Keep the utterances of each folder for which CTC has room.

        frames: padded frames of a batch; strength: how much features are changed, 0 to 1; out_length: the frames of a
        network for so many of an utterance. Raises ValueError where a folder has no utterance.
        """
        self.frames, self.strength, self.out_length = frames, strength, out_length
        self.rng = np.random.default_rng(seed)
        self.folders = [[row for row in some if tight(row.units) <= 0.9 * out_length(row.frames)] for some in folders]
        if not all(self.folders):
            raise ValueError(f"{len(folders)} folders of shards: one of them has no utterance")
        self.shares = np.array(weights) / sum(weights)
        self.voices: list[dict[str, list[int]]] = [{} for _ in folders]  # places in a folder by voice
        for places, some in zip(self.voices, self.folders, strict=True):
            for k, row in enumerate(some):
                places.setdefault(row.item["voice"], []).append(k)

    @cached_property
    def augment(self) -> augment.Augment:
        """The changes of features, whose noise takes seconds to make."""
        return augment.Augment()

    def hours(self, frame_s: float = 0.01) -> float:
        """Return the hours of all utterances."""
        return sum(row.frames for some in self.folders for row in some) * frame_s / 3600

    def drawn(self) -> Row:
        """Draw one utterance."""
        folder = self.folders[self.rng.choice(len(self.folders), p=self.shares)]
        return folder[self.rng.integers(len(folder))]

    def pick(self, longest: int) -> list[Row]:
        """Draw one utterance, or several of one folder, together at most `longest` frames if the first is."""
        rng = self.rng
        at = rng.choice(len(self.folders), p=self.shares)
        folder = self.folders[at]
        for _ in range(50):
            row = folder[rng.integers(len(folder))]
            if row.frames <= longest:
                break
        picked = [row]
        goal = rng.uniform(0, longest) if rng.random() < self.JOINED else 0
        same = self.voices[at][row.item["voice"]]
        while len(picked) < self.MOST:
            alike = len(same) >= FEW and rng.random() < self.ALIKE
            other = folder[same[rng.integers(len(same))] if alike else rng.integers(len(folder))]
            if sum(p.frames for p in picked) + other.frames > goal:
                break
            picked.append(other)
        return picked

    def spaced(self, picked: Sequence[Row], ids: Sequence[int]) -> Floats:
        """Return utterances one after the other, with pauses and augmented, (frames, 80), not normalised."""
        values = augment.spaced([row.values() for row in picked], self.PAUSED, self.rng)
        fastest = 0.85 * self.out_length(len(values)) / max(1, tight(ids))
        babble = self.BABBLE and self.rng.random() < self.BABBLE * self.strength
        others = [self.drawn().values() for _ in range(self.rng.integers(1, self.VOICES + 1))] if babble else []
        return self.augment(values, self.rng, fastest, self.strength, others)

    def changed(self, picked: Sequence[Row], ids: Sequence[int]) -> Floats:
        """Return the network's input for utterances: augmented, normalised and masked, (frames', 80)."""
        return augment.masked(features.normalised(self.spaced(picked, ids)), self.rng, self.strength)

    def endless(self, longest: Callable[[], int]) -> Iterator[Batch]:
        """Yield batches; `longest` is called before each pool and returns the frames that an utterance may have."""

        def size(picked: Sequence[Row]) -> int:
            return sum(row.frames for row in picked)

        while True:
            limit, drawn = longest(), list[list[Row]]()
            while sum(map(size, drawn)) < self.POOL * self.frames * 0.9:
                drawn.append(self.pick(limit))
            drawn.sort(key=lambda one: size(one) * (1 + 0.05 * self.rng.random()))
            groups = grouped(drawn, size, self.frames)
            for k in self.rng.permutation(len(groups)):
                letters = [together([row.units for row in picked]) for picked in groups[k]]
                values = [self.changed(picked, ids) for picked, ids in zip(groups[k], letters, strict=True)]
                spoken = [[phone for row in picked for phone in row.phones] for picked in groups[k]]
                yield Batch(*stacked(values), flat(letters), flat(spoken))


def together(texts: Sequence[list[int]]) -> list[int]:
    """Return the units of texts one after the other, with a space between two that are not empty."""
    out: list[int] = []
    for ids in texts:
        out += [0] * bool(out and ids) + ids
    return out


def stacked(values: Sequence[Floats]) -> tuple[Tensor, Tensor]:
    """Return rows (frames, C) as (B, C, T), padded with zeros, and the frames of each, (B,)."""
    lengths = torch.tensor([len(one) for one in values])
    signal = torch.zeros(len(values), values[0].shape[1], int(lengths.max()))
    for k, one in enumerate(values):
        signal[k, :, : len(one)] = torch.from_numpy(np.ascontiguousarray(one.T))
    return signal, lengths


def alike(
    lengths: Sequence[int], values: Callable[[int], Floats], frames: int = 4000
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yield all utterances in batches of about equal length: their numbers, and their values as `stacked`."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for group in grouped(order, lengths.__getitem__, frames):
        yield group, *stacked([values(k) for k in group])


def flat(numbers: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return all numbers one after the other, (sum,), and how many there are in each row, (B,)."""
    return torch.tensor([u for row in numbers for u in row]), torch.tensor([len(row) for row in numbers])
