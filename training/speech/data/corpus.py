"""Synthesises a training corpus into shards of features.

    python -m speech.data.corpus --data DIR --language en --kind words --hours 3 --seed 1 --out DIR/words
    python -m speech.data.corpus --data DIR --language pa --whisper --kind mixed --hours 2 --seed 1 --out WORK/train

With `--whisper` the features are those that speech-pa takes, two of Kokoro's voices are left out, and half of the
utterances are faster or slower. Shards are named by seed and number, so runs with different seeds add up in one folder.
A finished shard is kept: an interrupted run continues where it stopped.
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
from ..sounds.features import NEMO, RATE, WHISPER, log_mel
from ..texts import borrowed, numbers, reading, sentences
from ..voices.speakers import Plan, Speakers
from .shards import Writer

BATCH = 150  # utterances that share one mp3 bit rate
KILOBITS = [8, 16, 16, 24, 32, 32, 48]  # kb/s
CODED = 0.2  # share of the utterances that are coded as mp3
GAP = 0.35  # seconds of silence at most at each end
LONGEST = 20  # seconds
PAUSES = (0.02, 0.7)  # seconds between pieces
ENDS = 0.6  # seconds of silence at most at each end of a word on its own
PAUSED, LONG_PAUSE = 0.35, (0.1, 1.5)  # share of the ends that get a pause, and its seconds
SPEED = (0.88, 1.15)  # of an utterance that is played faster or slower, which sounds like another voice
HELD = ("hf_beta", "hm_omega")  # Kokoro's voices that speech-pa is never trained on
Source = Iterator[tuple[str, list[str]]]  # kind and pieces; one voice speaks the pieces with pauses between them


@dataclass
class Options:
    """What the command line says."""

    data: Path
    language: Literal["pa", "en"]
    kind: Literal["words", "sentences", "digits", "mixed", "conversation", "isolated", "amounts"]
    hours: float
    out: Path
    whisper: bool = False
    shard_minutes: float = 30
    copies: int = 1
    """How often each utterance gets recording conditions, all but the first at another speed."""
    seed: int = 1
    engine: str | None = None
    """Its voices alone."""
    pauses: bool = False
    """With `--whisper`: put pauses with clicks and breaths before and behind some utterances."""


def texts_of(data: Path, language: str, kind: str, rng: np.random.Generator) -> Source:
    """Yield texts without end."""
    if kind in sentences.TEXTS:
        lexicon = borrowed.lexicon() if kind == "conversation" else None
        yield from sentences.endless(data, "train", rng, sentences.TEXTS[kind], lexicon)
    while kind == "words":
        yield kind, [reading.phrase(data, language, rng)]
    while kind == "digits":
        yield kind, numbers.digits(language, rng)
    pool = reading.sentences(data, language)["train"]
    while True:
        for k in rng.permutation(len(pool)):
            yield kind, [pool[k]]


def recorded(samples: AnyFloats, rng: np.random.Generator, babble: AnyFloats | None) -> Floats:
    """Add silence at the ends, a random level (peak -24 to -1 dB of full scale) and recording conditions.

    `babble`: samples of other voices, of any length, that may become the noise.
    """
    ends = (rng.random(2) ** 2 * GAP * RATE).astype(int)
    samples = np.pad(samples, ends)
    samples = samples * (10 ** rng.uniform(-1.2, -0.05) / (np.abs(samples).max() + 1e-9))
    other = np.resize(babble, len(samples)) if babble is not None else None
    return acoustics.degraded(samples, rng, other).astype(np.float32)


def some_through_mp3(sound: list[Floats], rng: np.random.Generator) -> None:
    """Encode and decode about CODED of the utterances as mp3, at one random bit rate, in place."""
    coded = np.flatnonzero(rng.random(len(sound)) < CODED)
    if len(coded):
        decoded = acoustics.through_mp3([sound[k] for k in coded], int(rng.choice(KILOBITS)))
        for k, out in zip(coded, decoded, strict=True):
            sound[k] = out


def _joined(pieces: list[Floats], rng: np.random.Generator) -> Floats:
    """Join pieces of one voice with pauses between them."""
    out = [pieces[0]]
    for piece in pieces[1:]:
        pause = PAUSES[0] + rng.random() ** 2 * (PAUSES[1] - PAUSES[0])
        out += [np.zeros(int(pause * RATE), np.float32), piece]
    return np.concatenate(out)


def planned(speakers: Speakers, rng: np.random.Generator, held: bool) -> Plan:
    """Draw engine, voice and way of speaking of one utterance, without the voices of HELD."""
    while True:
        engine, voice, how = speakers.plan(rng, held)
        if speakers.language == "en" or not set(voice.split("+")) & set(HELD):
            return engine, voice, how


def spoken(
    speakers: Speakers, source: Source, n: int, rng: np.random.Generator, held: bool = False
) -> Iterator[tuple[dict[str, object], Floats]]:
    """Speak `n` utterances of `source`: yield {kind, text, voice, times} and the samples, (m,) at 16 kHz.

    `times`: (number, second) of each word whose start is known. Utterances that an engine could not say and those above
    LONGEST seconds are left out.
    """
    plans = [(*next(source), *planned(speakers, rng, held)) for _ in range(n)]
    jobs = [(piece, engine, voice, how) for _, pieces, engine, voice, how in plans for piece in pieces]
    said = iter(speakers.spoken(jobs))
    for kind, pieces, engine, voice, _ in plans:
        sounds = [one for _ in pieces if (one := next(said)) is not None]
        if len(sounds) == len(pieces) and all(len(one[0]) > 0.1 * RATE for one in sounds):
            samples, times = _joined([one[0] for one in sounds], rng), sounds[0][1] if len(sounds) == 1 else []
            if len(samples) < LONGEST * RATE:
                yield {"kind": kind, "text": " ".join(pieces), "voice": f"{engine}:{voice}", "times": times}, samples


def varied(what: dict[str, object], samples: Floats, options: Options, rng: np.random.Generator) -> Floats:
    """Return an utterance as speech-pa is trained on it: at times at another speed, a word on its own amid silence."""
    if not options.whisper:
        return samples
    if rng.random() < 0.5:
        samples = acoustics.resampled(samples, RATE, rng.uniform(*SPEED))
    ends = [int(ENDS * RATE * rng.random() ** 2) for _ in range(2)] if what["kind"] in sentences.ISOLATED else [0, 0]
    samples = np.pad(samples, ends)
    if not options.pauses:
        return samples
    seconds = [rng.uniform(*LONG_PAUSE) * (rng.random() < PAUSED) for _ in range(2)]
    before, after = (acoustics.pause(int(s * RATE), rng) * np.abs(samples).max() for s in seconds)
    return np.concatenate([before, samples, after])


def shard(path: Path, speakers: Speakers, source: Source, options: Options, rng: np.random.Generator) -> None:
    """Write one shard of at least the minutes that are asked for, copies included, from the texts of `source`."""
    writer = Writer(path)
    babble: Floats | None = None
    while writer.at < options.shard_minutes * 6000:
        rows = [(what, varied(what, samples, options, rng)) for what, samples in spoken(speakers, source, BATCH, rng)]
        rows += [
            (what, acoustics.resampled(samples, RATE, rng.uniform(*SPEED)))
            for _ in range(options.copies - 1)
            for what, samples in rows
        ]
        sound = [recorded(samples, rng, babble) for _, samples in rows]
        babble = sum((np.resize(one, LONGEST * RATE) for one in sound[:3]), np.zeros(LONGEST * RATE, np.float32))
        some_through_mp3(sound, rng)
        for (what, _), samples in zip(rows, sound, strict=True):
            writer.add(log_mel(samples, WHISPER if options.whisper else NEMO), text=what["text"], voice=what["voice"])
    writer.close()


def made(out: Path, hours: float, minutes: float, seed: int, make: Callable[[Path, np.random.Generator], None]) -> None:
    """Write every shard of `minutes` that is missing: `make` is given its path and its random numbers."""
    for k in range(max(1, round(hours * 60 / minutes))):
        path = out / f"{seed:02}-{k:03}"
        if path.with_suffix(".json").exists():
            continue
        started = time.time()
        make(path, np.random.default_rng([seed, k]))
        print(path.name, f"{minutes * 60 / (time.time() - started):.0f} x real time", flush=True)


def main(options: Options) -> None:
    """Write every shard that is missing."""
    speakers = Speakers(options.language, options.engine)

    def make(path: Path, rng: np.random.Generator) -> None:
        shard(path, speakers, texts_of(options.data, options.language, options.kind, rng), options, rng)

    made(options.out, options.hours, options.shard_minutes, options.seed, make)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
