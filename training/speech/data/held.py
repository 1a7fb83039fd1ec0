"""Synthesises the test set: the sentences kept for the tests, in the voices kept for the tests.

    python -m speech.data.held --data DIR --language pa --part test --out DIR/test

It writes shards of features and wav files at 16 kHz. `clean` is the sound of the engine; `degraded` is the same in a
room, with noise at 10 dB SNR, through an mp3 of 32 kb/s. `akhar-bench speech --clips` and `speech.measure.peer` read
the folders `wav`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import tyro
from scipy.io import wavfile

from ..arrays import Floats
from ..sounds import acoustics
from ..sounds.features import RATE, log_mel
from ..texts import reading
from ..voices.speakers import Speakers
from .shards import Writer

Row = tuple[str, str, Floats, list[tuple[int, float]]]  # text, voice, samples, (word number, start in seconds)


def spoken(data: str | Path, language: str, part: str, seed: int) -> list[Row]:
    """Speak up to 500 sentences of a part, each once, with 0.15 s of faint noise at both ends."""
    rng = np.random.default_rng(seed)
    speakers = Speakers(language)
    chosen = reading.sentences(data, language)[part]
    chosen = [chosen[k] for k in rng.permutation(len(chosen))[:500]]
    jobs = [(text, *speakers.plan(rng, held=True)) for text in chosen]
    out = []
    for start in range(0, len(jobs), 50):
        some = jobs[start : start + 50]
        for job, one in zip(some, speakers.spoken(some), strict=True):
            if one and len(one[0]) > 0.3 * RATE:
                quiet = int(0.15 * RATE)
                samples = np.pad(one[0], quiet) * np.float32(0.5 / np.abs(one[0]).max())
                samples += rng.normal(0, 1e-4, len(samples)).astype(np.float32)
                out.append((job[0], job[2], samples, [(k, t + 0.15) for k, t in one[1]]))
    return out


def degraded(samples: Floats, rng: np.random.Generator) -> Floats:
    """Put samples into a random room with noise at 10 dB SNR."""
    return acoustics.with_noise(acoustics.in_room(samples, acoustics.room(rng)), 10, rng).astype(np.float32)


def write(folder: Path, rows: Sequence[Row], sounds: Sequence[Floats]) -> None:
    """Write one shard, wav files and their table `wav/clips.tsv`; `sounds` are the samples to write for the rows."""
    writer = Writer(folder / "00-000")
    table = ["file\ttext\tword_starts"]
    (folder / "wav").mkdir(parents=True, exist_ok=True)
    for k, ((text, voice, _, times), samples) in enumerate(zip(rows, sounds, strict=True)):
        samples = samples / max(1, np.abs(samples).max() * 1.01)
        wavfile.write(folder / "wav" / f"{k:04}.wav", RATE, (samples * 32767).astype(np.int16))
        writer.add(log_mel(samples), text=text, voice=voice, times=times)
        starts = " ".join(f"{word}:{start:.4f}" for word, start in times)
        table.append(f"{k:04}.wav\t{text}\t{starts}")
    writer.close()
    (folder / "wav/clips.tsv").write_text("\n".join(table) + "\n")


def main(data: Path, language: Literal["pa", "en"], part: Literal["dev", "test"], out: Path) -> None:
    """Write the folders `clean` and `degraded` as the command line asks."""
    seed = 7000 + (part == "test")
    rows = spoken(data, language, part, seed)
    rng = np.random.default_rng(seed + 10)
    sounds = [samples for _, _, samples, _ in rows]
    write(out / "clean", rows, sounds)
    write(out / "degraded", rows, acoustics.through_mp3([degraded(s, rng) for s in sounds], 32))
    print(json.dumps({"utterances": len(rows), "minutes": round(sum(map(len, sounds)) / RATE / 60, 1)}))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
