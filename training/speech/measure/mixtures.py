"""Recordings of one or two people who speak in turn, of which it is known who speaks when."""

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..arrays import Floats, Ints, Mask
from ..data import held, real
from ..sounds import acoustics
from ..sounds.features import RATE
from ..texts import sentences
from ..voices import espeak
from ..voices.speakers import HELD_VARIANTS

FRAME = 160
# A pause of one speaker that is shorter than 0.3 s is speech, as in NIST's Rich Transcription.
PAUSE = 30
# Speech is at most this far below a turn's loud frames, dB.
RANGE_DB = 25
LONGEST_S = 40
CONDITIONS = ("clean", "telephone", "noise")
Clips = list[Floats]
Mixture = tuple[Floats, Ints]  # samples, and who speaks in each frame: a number from 0, or -1 for nobody


def bridged(speech: Mask, frames: int) -> Mask:
    """Count pauses that are shorter than so many frames as speech."""
    out = speech.copy()
    for before, after in itertools.pairwise(np.flatnonzero(speech)):
        out[before:after] |= after - before <= frames
    return out


def is_speech(samples: Floats) -> Mask:
    """Whether each frame of a clean recording is speech, by its energy above the hum of mains and machines."""
    n = len(samples) // FRAME
    pieces = acoustics.band(samples, 300, 7000)[: n * FRAME].reshape(n, FRAME)
    power = np.convolve((pieces**2).mean(1), np.ones(15) / 15, "same") + 1e-12
    return bridged(10 * np.log10(power / np.percentile(power, 95)) > -RANGE_DB, PAUSE)


def trimmed(samples: Floats) -> Floats:
    """Cut off what is not speech at both ends."""
    speech = np.flatnonzero(is_speech(samples))
    return samples[speech[0] * FRAME : (speech[-1] + 1) * FRAME]


def english(data: Path) -> list[Clips]:
    """Return the clips of each speaker of `en-accented` with three of them, in a random order of speakers."""
    clips = defaultdict(list)
    for path in sorted((data / "speech/en-accented/flac").glob("*.flac")):
        clips[path.stem.split("-", 1)[1]].append(trimmed(real.read(path)))
    speakers = sorted(name for name, own in clips.items() if len(own) == 3)
    random.Random(7).shuffle(speakers)
    return [clips[name] for name in speakers]


def panjabi(data: Path) -> list[Clips]:
    """Return the digit strings of both speakers."""
    clips = defaultdict(list)
    for speaker, _, samples, _ in real.panjabi(data):
        clips[speaker].append(trimmed(samples))
    return list(clips.values())


def synthetic(data: Path, n_sentences: int = 20) -> list[Clips]:
    """Return Panjabi sentences by each variant of espeak-ng that is kept apart."""
    engine, texts, draw = espeak.Espeak(), sentences.prompts(data)["test", "natural"], random.Random(7)
    return [
        [
            trimmed(acoustics.resampled(engine.say(text, f"pa+{variant}")[0], espeak.RATE))
            for text in draw.sample(texts, n_sentences)
        ]
        for variant in HELD_VARIANTS
    ]


def turns(clips: Clips, draw: random.Random) -> Iterator[Floats]:
    """Pieces of 1.5 to 5 seconds of a speaker's clips, of one loudness."""
    for clip in draw.sample(clips, len(clips)):
        at = 0
        while len(clip) - at > RATE:
            turn = clip[at : at + int(draw.uniform(1.5, 5) * RATE)]
            at += len(turn)
            yield (turn / acoustics.loudness(turn) * 0.05).astype(np.float32)


def mixed(speakers: Sequence[Clips], draw: random.Random) -> Mixture:
    """Join the speakers' turns, with pauses up to 0.8 s, until one has no more to say or LONGEST_S is reached."""
    sounds: list[Floats] = []
    labels: list[Ints] = []
    for spoken in zip(*(turns(clips, draw) for clips in speakers), strict=False):
        for who, turn in enumerate(spoken):
            speech = is_speech(turn)
            pause = int(draw.uniform(0, 80))
            sounds += [turn[: len(speech) * FRAME], np.zeros(pause * FRAME, np.float32)]
            labels += [np.where(speech, who, -1), np.full(pause, -1)]
        if sum(map(len, sounds)) > LONGEST_S * RATE:
            break
    return np.concatenate(sounds), np.concatenate(labels)


def heard(samples: Floats, condition: str, rng: np.random.Generator) -> Floats:
    """Return samples of the same length in a recording condition."""
    if condition == "telephone":
        return held.over_telephone(samples)
    return acoustics.with_noise(samples, 10, rng).astype(np.float32) if condition == "noise" else samples
