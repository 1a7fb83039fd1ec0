"""Measures speech recognition through a running service: every figure is of what a caller is answered.

    python -m speech.measure.served --language en --data DIR --url http://127.0.0.1:8080 --key KEY

The sets: real recordings (of `DIR/speech`), recordings in another language, sounds without speech; with `--held`, each
folder that `speech.data.held` wrote: words and sentences of synthetic voices, and when sentences begin where that is
known. `--only` measures some sets, or none. Recordings are sent one after another. The real-time factor is the
worker's own time (`Server-Timing`) over the recordings' length, so start the service with `AKHAR_INFERENCE_THREADS=1`.
`--program ../target/release/akhar`, instead of `--url` and `--key`, starts a service for the measurement.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import tyro
from figures import wilson
from running_service import Service, served

from ..arrays import AnyFloats
from ..data import clips, real
from ..data.shards import Shard
from ..sounds.features import RATE
from ..texts import english, metrics, units
from . import digit_strings, number_sentences
from .client import Answer, Client

WHOLE = "00-000"  # the shard beside the wav files of a folder of `--held`
PAUSE_S = 1.2  # of silence between two sentences: longer than what ends a segment
TOGETHER = 3  # sentences of a recording whose segments' starts are measured
NOISE_S = (1.0, 2.0, 5.0, 20.0)
HELD = ("clean", "degraded", "telephone", "babble", "mp3-16", "kokoro", "words")  # folders of `--held`


@dataclass
class Figures:
    """Counts of one set: what is compared (words, digits, characters), how much of it is wrong, and the time spent."""

    unit: str
    n_recordings: int = 0
    n_units: int = 0
    n_wrong: int = 0
    n_empty: int = 0
    n_doubted: int | None = None  # answers with the warning that the text is probably wrong
    seconds: float = 0.0
    work_s: float = 0.0

    def add(self, truth: Any, said: Any, answer: Answer, seconds: float) -> None:
        """Count one recording: the reference and the answer, as sequences of the same unit."""
        self.n_recordings += 1
        self.n_units += len(truth)
        self.n_wrong += metrics.distance(truth, said)
        self.n_empty += not answer.text
        self.seconds += seconds
        self.work_s += answer.work_s

    def summary(self) -> dict[str, Any]:
        """Return the counts with the share that is wrong, its 95 % Wilson interval and the real-time factor."""
        counts = {"recordings": self.n_recordings, "empty": self.n_empty, self.unit: self.n_units}
        if self.n_doubted is not None:
            counts["doubted"] = self.n_doubted
        speed = {"seconds": round(self.seconds, 1), "real_time_factor": round(self.work_s / max(1e-9, self.seconds), 4)}
        if not self.n_units:  # nothing is said: every word is wrong
            return counts | {"wrong": self.n_wrong} | speed
        low, high = wilson(self.n_wrong, self.n_units)
        share = {"share_wrong": round(self.n_wrong / self.n_units, 4), "interval": [round(low, 4), round(high, 4)]}
        return counts | {"wrong": self.n_wrong} | share | speed


Row = tuple[str, AnyFloats, str]  # name, samples at 16 kHz, what is said


def spoken_numbers(data: Path) -> Iterator[Row]:
    """Yield the ten-digit numbers of en-accented, without the recording in which another number is said."""
    for _, kind, name, samples, text in real.accented(data):
        if kind == "numbers" and len(text) == 10 and name != real.WRONG_CLIP:
            yield name, samples, text


def single_digits(data: Path) -> Iterator[Row]:
    """Yield every tenth single digit of en-fsdd."""
    return (row[1:] for k, row in enumerate(real.english(data)) if k % 10 == 0)


def panjabi_digits(data: Path, speaker: str = "") -> Iterator[Row]:
    """Yield the digit strings of pa-digits, or those of one speaker."""
    return (row[1:] for row in real.panjabi(data) if speaker in ("", row[0]))


def spontaneous(data: Path) -> Iterator[Row]:
    """Yield the spontaneous Panjabi clips that have an approximate transcript."""
    return (row for row in real.spontaneous(data) if row[2])


def read_aloud(data: Path, single: bool) -> Iterator[Row]:
    """Yield the sentence of pa-people-dev, or its single words."""
    return (row for row in real.read_aloud(data) if ("/" in row[0]) == single)


def sounds(rng: np.random.Generator) -> Iterator[tuple[str, AnyFloats]]:
    """Yield the name and the samples, (n,) in [-1, 1] at 16 kHz, of five seconds of sounds without speech."""
    n = RATE * 5
    t = np.arange(n) / RATE
    spectrum = np.fft.rfft(rng.normal(size=n))
    steps = np.arange(len(spectrum)) + 1
    for name, power in (("white", 0.0), ("pink", 0.5), ("brown", 1.0)):
        x = np.fft.irfft(spectrum / steps**power, n)
        yield name, 0.3 * x / np.abs(x).max()
    yield "tone", 0.2 * np.sin(2 * np.pi * 440 * t)
    yield "hum", sum((0.1 / k * np.sin(2 * np.pi * 50 * k * t) for k in range(1, 9)), np.zeros(n))
    chord = sum((0.1 * np.sin(2 * np.pi * f * t) for f in (261, 329, 392)), np.zeros(n))
    yield "chords", chord * np.exp(-3 * (t % 0.5))


def noises(_: Path) -> Iterator[Row]:
    """Yield silence and sounds without speech, in which nothing is said."""
    rng = np.random.default_rng(0)
    for seconds in NOISE_S:
        n = int(seconds * RATE)
        yield f"silence, {seconds} s", np.zeros(n), ""
        for name, samples in sounds(rng):
            yield f"{name}, {seconds} s", np.resize(samples, n), ""


def letters(text: str) -> str:
    """Return a Panjabi text without spaces, for the rate of wrong characters."""
    return (units.plain(text, "pa") or text).replace(" ", "")


Loader = Callable[[Path], Iterator[Row]]
Reader = Callable[[str], Any]


PANJABI: dict[str, tuple[str, Loader, Reader]] = {
    "pa-digits-F04": ("words", partial(panjabi_digits, speaker="F04"), str.split),
    "pa-digits-M01": ("words", partial(panjabi_digits, speaker="M01"), str.split),
    "pa-sentence": ("characters", partial(read_aloud, single=False), letters),
    "pa-single-words": ("words", partial(read_aloud, single=True), str.split),
    "pa-spontaneous": ("characters", spontaneous, letters),
    "another-language": ("words", lambda data: real.reading(data, "en-read-matthes"), str.split),
    "noise": ("words", noises, str.split),
}
ENGLISH: dict[str, tuple[str, Loader, Reader]] = {
    "en-read": ("words", lambda data: real.reading(data, "en-read-matthes"), english.words),
    "en-misc": ("words", lambda data: real.reading(data, "en-misc-tests"), english.words),
    "en-numbers": ("digits", spoken_numbers, english.digits),
    "en-fsdd": ("digits", single_digits, english.digits),
    "en-strings": ("strings", lambda _: digit_strings.digit_strings(), digit_strings.string),
    "en-number-sentences": (
        "sentences",
        lambda _: number_sentences.number_sentences(),
        number_sentences.numbers_said,
    ),
    "another-language": ("words", spontaneous, str.split),
    "panjabi-digits": ("words", panjabi_digits, str.split),
    "noise": ("words", noises, str.split),
}
# By language, each set's name: what is compared, where it comes from, how a text becomes it.
SETS = {"pa": PANJABI, "en": ENGLISH}
DOUBTED = {  # by language, the sets whose warnings are counted
    "pa": ("pa-digits-F04", "pa-digits-M01", "pa-spontaneous", "another-language"),
    "en": ("en-read", "en-misc", "en-numbers", "another-language", "panjabi-digits"),
}


def measure(client: Client, language: str, data: Path, name: str) -> Figures:
    """Send a set's recordings and compare the answers; the recordings of DOUBTED are sent again for their warnings."""
    unit, load, read = SETS[language][name]
    figures = Figures(unit, n_doubted=0 if name in DOUBTED[language] else None)
    for _, samples, text in load(data):
        answer = client.transcribe(samples, language)
        figures.add(read(text), read(answer.text), answer, len(samples) / RATE)
        if figures.n_doubted is not None:
            figures.n_doubted += client.doubts(samples, language)
    return figures


def kinds(folder: Path) -> list[str]:
    """Return the synthesiser of each clip of a folder where its index says it, such as "flite" of "flite:awb"."""
    names = [item["voice"] for item in Shard(folder / WHOLE).items]
    return [name.split(":")[0] for name in names if ":" in name]


def held(client: Client, language: str, folder: Path) -> dict[str, Figures]:
    """Send what synthetic voices said; returns the figures by what is compared: words, and of Panjabi characters.

    Where several synthesisers spoke Panjabi, the characters of each are counted too, such as "characters-flite".
    """
    readers: dict[str, Reader] = (
        {"words": english.words} if language == "en" else {"words": str.split, "characters": str}
    )
    found = {unit: Figures(unit) for unit in readers}
    spoken = kinds(folder) if language == "pa" else []
    several = len(set(spoken)) > 1
    for k, (_, samples, text, _) in enumerate(clips.read(folder / "wav")):
        answer = client.transcribe(samples, language)
        for unit, read in readers.items():
            counted = [found[unit]]
            if several and unit == "characters":
                counted.append(found.setdefault(f"{unit}-{spoken[k]}", Figures(unit)))
            for figures in counted:
                figures.add(read(text), read(answer.text), answer, len(samples) / RATE)
    return found


def joined(rows: Iterable[clips.Clip]) -> Iterator[tuple[AnyFloats, list[float]]]:
    """Yield recordings of some sentences with pauses between, and the second at which each sentence begins."""
    timed = [(row.samples, start) for row in rows if (start := dict(row.starts).get(0)) is not None]
    silence = np.zeros(int(PAUSE_S * RATE), np.float32)
    for at in range(0, len(timed) - TOGETHER + 1, TOGETHER):
        pieces, starts, n = [], [], 0
        for samples, start in timed[at : at + TOGETHER]:
            pieces += [samples, silence]
            starts.append(n / RATE + start)
            n += len(samples) + len(silence)
        yield np.concatenate(pieces), starts


def segment_starts(client: Client, language: str, folder: Path) -> dict[str, float]:
    """Return how far segments' starts are from the synthesiser's own account, ms, where there is one a sentence."""
    apart = []
    for samples, starts in joined(clips.read(folder / "wav")):
        segments = client.transcribe(samples, language).segments
        if len(segments) == len(starts):
            apart += [abs(start - segment["start"]) for start, segment in zip(starts, segments, strict=True)]
    if not apart:
        raise ValueError(f"no recording of {folder} has a segment for each sentence")
    middle, late = 1000 * np.quantile(apart, [0.5, 0.95])
    return {"segments": len(apart), "median_ms": round(float(middle), 1), "p95_ms": round(float(late), 1)}


@dataclass
class Options:
    """What the command line says."""

    language: Literal["pa", "en"]
    data: Path
    program: Path | None = None
    """`akhar`, to be started for this; instead of `--url` and `--key`."""
    url: str = ""
    key: str = ""
    held: Path | None = None
    """A folder with some of HELD."""
    only: tuple[str, ...] | None = None
    """Names of sets."""
    json: Path | None = None


def measured(options: Options, client: Client) -> Iterator[tuple[str, Any]]:
    """Yield the name and the figures of each set that the command line asks for."""
    language = options.language
    for name in SETS[language] if options.only is None else options.only:
        figures = measure(client, language, options.data, name)
        yield name, figures.summary()
    every = [options.held / name for name in HELD] if options.held else []
    folders = [folder for folder in every if (folder / "wav").exists()]
    for folder in folders:
        for unit, figures in held(client, language, folder).items():
            yield f"held-{folder.name}" + ("" if unit == "words" else f"-{unit}"), figures.summary()
    if language == "en" and any(clip.starts for folder in folders[:1] for clip in clips.read(folder / "wav")):
        yield "segment-starts", segment_starts(client, language, folders[0])


def main(options: Options) -> None:
    """Print each set's figures as a line of JSON, and write them all."""
    found: dict[str, Any] = {}
    with ExitStack() as stack:
        service = Service(options.url, options.key)
        if options.program:
            settings = {"AKHAR_DATA_DIR": stack.enter_context(TemporaryDirectory()), "AKHAR_INFERENCE_THREADS": "1"}
            service = stack.enter_context(served(options.program.resolve(), os.environ | settings))
        for name, figures in measured(options, Client(service.url, service.key)):
            found[name] = figures
            print(json.dumps({name: figures}, ensure_ascii=False), flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
