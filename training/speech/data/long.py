"""Joins the held-out sentences to one long mp3, with a table of what is said when; `akhar-bench long` reads both.

    python -m speech.data.long --clips DIR/test/clean/wav --out DIR/long

At 8 kb/s, 34 minutes are what fits into a request.
"""

import itertools
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from ..arrays import Floats
from ..sounds import acoustics
from ..sounds.features import RATE
from . import clips


def joined(folder: Path, seconds: float, rng: np.random.Generator) -> tuple[Floats, list[tuple[float, float, str]]]:
    """Join the clips of a folder with silence of 0.2 to 1.2 s between them, at most `seconds` in all.

    The clips are repeated in another order each time. Returns the samples at 16 kHz and (start, end, text) of each
    clip, in seconds.
    """
    every = list(clips.read(folder))
    parts: list[Floats] = []
    rows: list[tuple[int, int, str]] = []
    at = 0
    for k in itertools.chain.from_iterable(rng.permutation(len(every)) for _ in itertools.count()):
        samples, text = every[k].samples, every[k].text
        silence = np.zeros(int(rng.uniform(0.2, 1.2) * RATE), np.float32)
        if (at + len(silence) + len(samples)) / RATE > seconds:
            break
        parts += [silence, samples]
        at += len(silence) + len(samples)
        rows.append((at - len(samples), at, text))
    return np.concatenate(parts), [(a / RATE, b / RATE, text) for a, b, text in rows]


def main(
    folder: Annotated[Path, tyro.conf.arg(name="clips")], out: Path, minutes: float = 34.5, kilobits: int = 8
) -> None:
    """Write the mp3 and its table."""
    samples, rows = joined(folder, minutes * 60, np.random.default_rng(1))
    out.parent.mkdir(parents=True, exist_ok=True)
    acoustics.as_mp3(samples, out.with_suffix(".mp3"), kilobits)
    lines = [f"{start:.3f}\t{end:.3f}\t{text}" for start, end, text in rows]
    out.with_suffix(".tsv").write_text("\n".join(["start\tend\ttext", *lines]) + "\n")
    print(f"{len(samples) / RATE / 60:.1f} minutes, {len(rows)} clips, {out.with_suffix('.mp3').stat().st_size} bytes")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
