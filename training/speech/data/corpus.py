"""Synthesises a training corpus into shards of features.

    python -m speech.data.corpus --data DIR --language pa --kind words --hours 3 --seed 1 --out DIR/words

Shards are named by seed and number, so runs with different seeds add up in one folder. A finished shard is kept: an
interrupted run continues where it stopped.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import tyro

from ..arrays import AnyFloats, Floats
from ..sounds import acoustics
from ..sounds.features import RATE, log_mel
from ..texts import numbers, reading
from ..voices.speakers import Job, Speakers
from .shards import Writer

BATCH = 150  # utterances that share one mp3 bit rate
KILOBITS = [8, 16, 16, 24, 32, 32, 48]  # kb/s
GAP = 0.35  # seconds of silence at most at each end
Make = Callable[[Path, float, np.random.Generator], None]  # writes one shard: path, seconds, rng


def texts_of(data: str | Path, language: str, kind: str, rng: np.random.Generator) -> Iterator[str]:
    """Yield texts without end: of kind "words", "digits" or "sentences"."""
    if kind == "words":
        while True:
            yield reading.phrase(data, language, rng)
    if kind == "digits":
        while True:
            yield numbers.digits(language, rng)
    pool = reading.sentences(data, language)["train"]
    while True:
        for k in rng.permutation(len(pool)):
            yield pool[k]


def recorded(samples: AnyFloats, rng: np.random.Generator, babble: AnyFloats | None) -> Floats:
    """Add silence at the ends, a random level (peak -24 to -1 dB of full scale) and recording conditions.

    `babble`: samples of other voices, of any length, that may become the noise.
    """
    ends = (rng.random(2) ** 2 * GAP * RATE).astype(int)
    samples = np.pad(samples, ends)
    samples = samples * (10 ** rng.uniform(-1.2, -0.05) / (np.abs(samples).max() + 1e-9))
    other = np.resize(babble, len(samples)) if babble is not None else None
    return acoustics.degraded(samples, rng, other).astype(np.float32)


def copied(pieces: list[tuple[Job, Floats]], copies: int, rng: np.random.Generator) -> list[tuple[Job, Floats]]:
    """Return every utterance `copies` times, all but the first at another speed, which sounds like another voice."""
    return pieces + [
        (job, acoustics.resampled(samples, RATE, rng.uniform(0.88, 1.14)))
        for _ in range(copies - 1)
        for job, samples in pieces
    ]


def some_through_mp3(sound: list[Floats], share: float, rng: np.random.Generator) -> None:
    """Encode and decode about this share of the utterances as mp3, at one random bit rate, in place."""
    coded = np.flatnonzero(rng.random(len(sound)) < share)
    if len(coded):
        decoded = acoustics.through_mp3([sound[k] for k in coded], int(rng.choice(KILOBITS)))
        for k, out in zip(coded, decoded, strict=True):
            sound[k] = out


def shard(
    path: Path,
    speakers: Speakers,
    source: Iterator[str],
    seconds: float,
    rng: np.random.Generator,
    copies: int = 1,
) -> None:
    """Write one shard of at least `seconds` of sound, copies included, from the texts of `source`."""
    writer, done = Writer(path), 0.0
    babble: Floats | None = None
    while done < seconds:
        jobs = [(next(source), *speakers.plan(rng)) for _ in range(BATCH)]
        spoken = zip(jobs, speakers.spoken(jobs), strict=True)
        pieces = [(job, one[0]) for job, one in spoken if one and len(one[0]) > 0.15 * RATE]
        pieces = copied(pieces, copies, rng)
        sound = [recorded(samples, rng, babble) for _, samples in pieces]
        babble = sound[0] + np.resize(sound[1], len(sound[0])) + np.resize(sound[2], len(sound[0]))
        some_through_mp3(sound, 0.2, rng)
        for (job, _), samples in zip(pieces, sound, strict=True):
            mel = log_mel(samples)
            writer.add(mel, text=job[0], voice=job[2])
            done += len(mel) / 100
    writer.close()


def made(out: Path, hours: float, shard_minutes: float, seed: int, make: Make) -> None:
    """Write every shard that is missing by `make`."""
    seconds = shard_minutes * 60
    for k in range(max(1, round(hours * 60 / shard_minutes))):
        path = out / f"{seed:02}-{k:03}"
        if path.with_suffix(".json").exists():
            continue
        started = time.time()
        make(path, seconds, np.random.default_rng([seed, k]))
        print(path.name, f"{seconds / (time.time() - started):.0f} x real time", flush=True)


@dataclass
class Options:
    """What the command line says."""

    data: Path
    language: Literal["pa", "en"]
    kind: Literal["words", "sentences", "digits"]
    hours: float
    out: Path
    shard_minutes: float = 30
    copies: int = 1
    """How often each utterance gets recording conditions."""
    seed: int = 1
    engine: str | None = None
    """Its voices alone."""


def main(options: Options) -> None:
    """Synthesise the corpus that the command line asks for."""
    speakers = Speakers(options.language, options.engine)

    def make(path: Path, seconds: float, rng: np.random.Generator) -> None:
        source = texts_of(options.data, options.language, options.kind, rng)
        shard(path, speakers, source, seconds, rng, options.copies)

    made(options.out, options.hours, options.shard_minutes, options.seed, make)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
