"""Speaks a training corpus into shards of features.

    python -m speech.corpus --data DIR --language pa --kind words --hours 3 --seed 1 --out DIR/words

Shards are named by seed and number, so that several runs with other seeds add up; a shard that is there is kept.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from . import numbers, texts, world
from .features import RATE, log_mel
from .shards import Writer
from .voices import ENGINES, Speakers

BATCH = 150  # utterances of a kind of mp3
KILOBITS = [8, 16, 16, 24, 32, 32, 48]
GAP = 0.35  # seconds at most of the room's own silence at each end


def wait():
    """Stays still while the file named in the environment is there."""
    name = os.environ.get("AKHAR_PAUSE_FILE")
    while name and Path(name).exists():
        time.sleep(2)


def texts_of(data, language, kind, rng):
    """Endless texts of a kind."""
    if kind == "words":
        while True:
            yield texts.phrase(data, language, rng)
    if kind == "digits":
        while True:
            yield numbers.digits(language, rng)
    pool = texts.sentences(data, language)["train"]
    while True:
        for k in rng.permutation(len(pool)):
            yield pool[k]


def aged(samples, rng, babble):
    """Silence at the ends, a level, and the world."""
    ends = (rng.random(2) ** 2 * GAP * RATE).astype(int)
    samples = np.pad(samples, ends)
    samples = samples * (10 ** rng.uniform(-1.2, -0.05) / (np.abs(samples).max() + 1e-9))
    other = np.resize(babble, len(samples)) if babble is not None else None
    return world.worldly(samples, rng, other).astype(np.float32)


def copied(pieces, copies, rng):
    """Every utterance so many times, after the first at other speeds and so by other voices."""
    return pieces + [
        (job, world.resampled(samples, RATE, rng.uniform(0.88, 1.14)))
        for _ in range(copies - 1)
        for job, samples in pieces
    ]


def shard(path, speakers, source, seconds, rng, copies=1):
    """One pair of files with about so many seconds, those of copies counted."""
    writer, done, babble = Writer(path), 0.0, None
    while done < seconds:
        wait()
        jobs = [(next(source), *speakers.plan(rng)) for _ in range(BATCH)]
        pieces = [(job, one[0]) for job, one in zip(jobs, speakers.spoken(jobs)) if one and len(one[0]) > 0.15 * RATE]
        pieces = copied(pieces, copies, rng)
        sound = [aged(samples, rng, babble) for _, samples in pieces]
        babble = sound[0] + np.resize(sound[1], len(sound[0])) + np.resize(sound[2], len(sound[0]))
        packed = np.flatnonzero(rng.random(len(sound)) < 0.2)
        if len(packed):
            for k, out in zip(packed, world.through_mp3([sound[k] for k in packed], int(rng.choice(KILOBITS)))):
                sound[k] = out
        for (job, _), samples in zip(pieces, sound):
            mel = log_mel(samples)
            writer.add(mel, text=job[0], voice=job[2])
            done += len(mel) / 100
    writer.close()


def made(arguments, make):
    """Every shard of `out`, `seed`, `hours` and `shard_minutes` that is not there, by `make` with path, seconds and rng."""
    seconds = arguments.shard_minutes * 60
    for k in range(max(1, round(arguments.hours * 60 / arguments.shard_minutes))):
        path = Path(arguments.out) / f"{arguments.seed:02}-{k:03}"
        if path.with_suffix(".json").exists():
            continue
        started = time.time()
        make(path, seconds, np.random.default_rng([arguments.seed, k]))
        print(path.name, f"{seconds / (time.time() - started):.0f} x real time", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--kind", choices=("words", "sentences", "digits"), required=True)
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--shard-minutes", type=float, default=30)
    parser.add_argument("--copies", type=int, default=1, help="how often each utterance goes its way through the world")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=ENGINES, help="its voices alone")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    speakers = Speakers(arguments.language, arguments.engine)

    def make(path, seconds, rng):
        source = texts_of(arguments.data, arguments.language, arguments.kind, rng)
        shard(path, speakers, source, seconds, rng, arguments.copies)

    made(arguments, make)


if __name__ == "__main__":
    main()
