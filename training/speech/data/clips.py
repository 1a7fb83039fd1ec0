"""Folders of wav clips, 16 bits at 16 kHz, with a table of what is said, `clips.tsv`; `akhar-bench` reads them too.

A line of the table is a file, its text and, where they are known, the starts of words as `number:second`.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.io import wavfile

from ..arrays import AnyFloats
from ..sounds.acoustics import resampled
from ..sounds.features import RATE


class Clip(NamedTuple):
    """A recording: samples (n,) in [-1, 1] at 16 kHz, and what is said."""

    name: str  # of the file
    samples: AnyFloats
    text: str = ""
    starts: Sequence[tuple[int, float]] = ()  # word number, second


def wav(samples: AnyFloats) -> bytes:
    """Return a wav file of samples in [-1, 1] at 16 kHz, (n,), with 16 bits each."""
    content = io.BytesIO()
    wavfile.write(content, RATE, (np.clip(samples, -1, 1) * 32767).astype("<i2"))
    return content.getvalue()


def write(folder: Path, clips: Iterable[Clip]) -> int:
    """Write clips and their table; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    table = ["file\ttext\tword_starts"]
    for clip in clips:
        (folder / clip.name).write_bytes(wav(clip.samples))
        table.append(f"{clip.name}\t{clip.text}\t{' '.join(f'{word}:{start:.4f}' for word, start in clip.starts)}")
    (folder / "clips.tsv").write_text("\n".join(table) + "\n")
    return len(table) - 1


def read(folder: Path) -> Iterator[Clip]:
    """Yield the clips of a folder; without a table those of all wav files, and no text is known."""
    table = folder / "clips.tsv"
    lines = table.read_text().splitlines()[1:] if table.exists() else sorted(p.name for p in folder.glob("*.wav"))
    for line in lines:
        name, text, starts, *_ = *line.split("\t"), "", ""
        rate, samples = wavfile.read(folder / name)
        samples = samples.astype(np.float32) / np.float32(32768 if samples.dtype.kind == "i" else 1)
        samples = resampled(samples if samples.ndim == 1 else samples.mean(1), rate)
        pairs = (pair.split(":") for pair in starts.split())
        yield Clip(name, samples, text, [(int(word), float(start)) for word, start in pairs])
