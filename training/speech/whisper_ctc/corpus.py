"""Synthesises a Panjabi corpus into shards of log-mel power (natural logarithm, float16, 10 ms a frame).

    python -m speech.whisper_ctc.corpus --data DIR --hours 2 --seed 1 --out WORK/train

Shards are named by seed and number. A finished shard is kept: an interrupted run continues where it stopped.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tyro

from ..arrays import Floats
from ..data import corpus
from ..data.shards import Writer
from ..sounds import acoustics, features
from ..sounds.features import RATE
from ..texts import sentences
from ..voices.speakers import Plan, Speakers

BATCH = 120  # utterances that share one mp3 bit rate
LONGEST = 20  # seconds
CODED = 0.2  # share of the utterances that are coded as mp3
PAUSES = (0.02, 0.7)  # seconds between pieces
ENDS = 0.6  # seconds of silence at most at each end of a word on its own
HELD = ("hf_beta", "hm_omega")  # Kokoro's voices that are never trained on


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
        if not set(voice.split("+")) & set(HELD):
            return engine, voice, how


def spoken(
    speakers: Speakers, source: Iterator[tuple[str, list[str]]], n: int, rng: np.random.Generator, held: bool = False
) -> Iterator[tuple[dict[str, str], Floats]]:
    """Speak `n` utterances of `source`: yield {kind, text, voice} and the samples, (m,) at 16 kHz.

    Utterances that an engine could not say and those above LONGEST seconds are left out.
    """
    plans = [(*next(source), *planned(speakers, rng, held)) for _ in range(n)]
    jobs = [(piece, engine, voice, how) for _, pieces, engine, voice, how in plans for piece in pieces]
    said = iter(speakers.spoken(jobs))
    for kind, pieces, engine, voice, _ in plans:
        sounds = [one[0] for _ in pieces if (one := next(said)) is not None]
        if len(sounds) == len(pieces) and all(len(one) > 0.1 * RATE for one in sounds):
            samples = _joined(sounds, rng)
            if len(samples) < LONGEST * RATE:
                yield {"kind": kind, "text": " ".join(pieces), "voice": f"{engine}:{voice}"}, samples


def varied(samples: Floats, rng: np.random.Generator) -> Floats:
    """Play half of the utterances faster or slower, which sounds like another voice."""
    return acoustics.resampled(samples, RATE, rng.uniform(0.88, 1.15)) if rng.random() < 0.5 else samples


def _ended(samples: Floats, rng: np.random.Generator) -> Floats:
    """Add silence at both ends, more often short than long."""
    before, behind = (int(ENDS * RATE * rng.random() ** 2) for _ in range(2))
    return np.pad(samples, (before, behind))


def shard(
    path: Path, speakers: Speakers, source: Iterator[tuple[str, list[str]]], seconds: float, rng: np.random.Generator
) -> None:
    """Write one shard of at least `seconds`; `source` is that of `sentences.endless`."""
    writer, done = Writer(path), 0.0
    babble: Floats | None = None
    while done < seconds:
        rows = list(spoken(speakers, source, BATCH, rng))
        dry = [varied(samples, rng) for _, samples in rows]
        dry = [
            _ended(one, rng) if what["kind"] in sentences.ISOLATED else one
            for (what, _), one in zip(rows, dry, strict=True)
        ]
        sound = [corpus.recorded(samples, rng, babble) for samples in dry]
        babble = sum((np.resize(one, LONGEST * RATE) for one in sound[:4]), np.zeros(LONGEST * RATE, np.float32))
        corpus.some_through_mp3(sound, CODED, rng)
        for (what, _), samples in zip(rows, sound, strict=True):
            mel = features.log_mel(samples, features.WHISPER)
            writer.add(mel, **what)
            done += len(mel) / 100
    writer.close()


def main(
    data: Path,
    hours: float,
    out: Path,
    shard_minutes: float = 15,
    seed: int = 1,
    texts: str = "mixed",
    engine: str | None = None,
) -> None:
    """Synthesise the corpus that the command line asks for."""
    speakers, shares = Speakers("pa", engine), sentences.TEXTS[texts]

    def make(path: Path, seconds: float, rng: np.random.Generator) -> None:
        shard(path, speakers, sentences.endless(data, "train", rng, shares), seconds, rng)

    corpus.made(out, hours, shard_minutes, seed, make)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
