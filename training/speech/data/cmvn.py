"""Measures global CMVN statistics: mean and standard deviation of each mel in average speech.

    python -m speech.data.cmvn --shards DIR/sentences DIR/kokoro … --out speech/sounds/cmvn.json

Short recordings are normalised with them, because a second of speech is too short to estimate a mean from: a clip of
one vowel would lose that vowel's spectrum.
"""

import json
from pathlib import Path

import numpy as np
import tyro

from ..arrays import AnyFloats, Floats
from .shards import Shard, found

MOST = 200  # utterances of a folder
LONG = 200  # frames of the shortest utterance that is used
ENOUGH = 120  # frames: a shorter recording is normalised as if average speech filled it up to this length


def loudness(mel: AnyFloats) -> np.floating:
    """Return the mean over the mel bins of each bin's 0.9 quantile over the frames; `mel`: (frames, mels)."""
    return np.quantile(mel, 0.9, axis=0).mean()


def averages(folder: str | Path) -> Floats:
    """Return mean (relative to the loudness) and standard deviation of each mel over a folder of shards, (2, 80).

    Only utterances of at least LONG frames are used.
    """
    rows = [
        (shard, k)
        for shard in map(Shard, found(folder))
        for k, item in enumerate(shard.items)
        if item["frames"] >= LONG
    ]
    out = []
    for shard, k in rows[:: max(1, len(rows) // MOST)]:
        mel = np.asarray(shard.mel(k), np.float32)
        out.append((mel.mean(0) - loudness(mel), mel.std(0, ddof=1)))
    return np.mean(out, 0)


def main(shards: list[str], out: Path) -> None:
    """Write the statistics of the folders that the command line names as JSON."""
    mean, deviation = np.mean([averages(folder) for folder in shards], 0)
    rounded = {name: [round(float(v), 3) for v in row] for name, row in (("mean", mean), ("deviation", deviation))}
    out.write_text(json.dumps({"frames": ENOUGH, **rounded}) + "\n")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
