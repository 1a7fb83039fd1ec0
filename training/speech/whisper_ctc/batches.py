"""Batches for the network on Whisper's encoder, from shards or from the frozen encoder's outputs beside them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from torch import Tensor

from ..arrays import Floats
from ..data import batches
from ..data.batches import Row
from ..data.shards import found
from ..sounds import features
from .encoder import WIDTH, out_length

LONGEST = 1600  # frames of 10 ms that joined utterances have at most


def rows(folder: str | Path, layer: int) -> list[Row]:
    """Return the utterances of a folder, or of one shard named without suffix, with the input of layer `layer`.

    For `layer` 0 that is features; shards that have not been encoded for another layer are left out.
    """
    if not layer:
        return batches.rows(folder, "pa")
    out = []
    for path in found(folder):
        if (outputs := path.with_suffix(f".layer{layer}")).exists():
            source, at = np.memmap(outputs, np.float16, "r").reshape(-1, WIDTH), 0
            for row in batches.rows(path, "pa"):
                frames = out_length(row.frames)
                out.append(row._replace(source=source, start=at, frames=frames))
                at += frames
    return out


def turned(signal: Tensor, layer: int) -> Tensor:
    """Return (B, C, T) as the network takes it: features so, and the inputs of a layer as (B, T, C)."""
    return signal.transpose(1, 2) if layer else signal


class Batches(batches.Batches):
    """Batches of features, whose changes are those of Whisper's front end, or of a layer's inputs."""

    JOINED, MOST, ALIKE, PAUSED, BABBLE, POOL = 0.4, 4, 0, 0.25, 0.3, 24

    def __init__(self, folders: Mapping[str, float], layer: int, seed: list[int], frames: int, strength: float) -> None:
        """Read the folders, given with their weights; the rest is as in `data.batches`."""
        self.layer = layer
        self.MOST = 1 if layer else self.MOST
        every = [rows(folder, layer) for folder in folders]
        frames_of = (lambda frames: frames) if layer else out_length
        super().__init__(every, list(folders.values()), seed, frames, strength, frames_of)

    def changed(self, picked: Sequence[Row], ids: Sequence[int]) -> Floats:
        """Return the network's input for utterances, (frames, 80) or (frames, 512), augmented."""
        if self.layer:
            return self._dropped(picked[0].values(), 12)
        values = features.normalised(self.spaced(picked, ids), features.WHISPER)
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
