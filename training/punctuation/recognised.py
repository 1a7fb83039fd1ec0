"""Held-out Panjabi texts in; what speech-pa makes of them, with the words' times and the marks that belong there, out.

    python -m punctuation.recognised --data DATA --pairs WORK/pairs --out WORK/recognised.json

espeak-ng reads the texts with their punctuation, by the voices that no network was trained on. It pauses at commas and
for longer at the ends of sentences. The program transcribes them. Each word that it found is aligned with a word of the
text and gets the marks of that one.
"""

import difflib
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tyro
from manifests import replace
from running_service import Service, program, served
from speech.data.clips import wav
from speech.sounds.acoustics import resampled
from speech.texts import metrics
from speech.voices.espeak import RATE, Espeak
from speech.voices.speakers import HELD_VARIANTS
from translation import prepared

from . import pauses
from .data import held
from .marks import COMMA, DANDA, NONE, QUESTION, Unit

SETS = ("stories", "prompts", "everyday", "unseen")
WORDS = 45  # of a recording: it ends with the unit that reaches them
LONGEST = 60  # words of a unit; longer ones are left out
SIGNS = {COMMA: ",", DANDA: ".", QUESTION: "?"}
LEFT_OUT = 0.8  # what a word without a partner costs; two words cost as much as they differ, at most OTHER
OTHER = 1.2


def recordings(units: Sequence[Unit]) -> Iterator[Unit]:
    """The units, joined to about WORDS words."""
    words: list[str] = []
    sets: list[int] = []
    for unit in units:
        if len(unit.words) <= LONGEST:
            words += unit.words
            sets += unit.sets
        if len(words) >= WORDS or (unit is units[-1] and words):
            yield Unit(tuple(words), tuple(sets))
            words, sets = [], []


@cache
def unlike(a: str, b: str) -> float:
    """How much two words differ: 0 to OTHER."""
    return OTHER * (1 - difflib.SequenceMatcher(None, a, b, autojunk=False).ratio())


def aligned(text: Sequence[str], found: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Pairs of places of words in the text and in what was found, in order; None where a word has no partner."""
    return metrics.aligned(text, found, unlike, LEFT_OUT)


def carried(text: Unit, found: Sequence[str]) -> list[int]:
    """What may follow each word that was found; a word that was not leaves its mark to the word before it."""
    sets = [NONE] * len(found)
    last = None
    for i, j in aligned(text.words, found):
        if j is not None:
            last = j
        if i is not None and last is not None and sets[last] == NONE:
            sets[last] = text.sets[i]
    return sets


def transcribed(service: Service, espeak: Espeak, text: Unit, voice: str) -> dict[str, Any]:
    """The words of a text as they were recognised, what may follow each, and the pauses behind them in seconds."""
    marked = " ".join(word + SIGNS.get(one, "") for word, one in zip(*text, strict=True))
    sound = wav(resampled(espeak.say(marked, f"pa+{voice}", 150)[0], RATE))
    fields = {"model": "speech-pa", "response_format": "verbose_json", "timestamp_granularities[]": "word"}
    with service.posted("/v1/audio/transcriptions", ("clip.wav", sound), fields) as response:
        found = json.load(response)["words"]
    times = [max(0.0, round(b["start"] - a["end"], 3)) for a, b in itertools.pairwise(found)]
    words = [word["word"].lower() for word in found]
    return {"words": words, "sets": carried(text, words), "pauses": [*times, pauses.UNKNOWN]}


def main(data: Path, pairs: Path, out: Path) -> None:
    """Writes the transcripts of each set, and prints the share of words that is wrong."""
    texts = held(data, prepared.read(pairs), "test")
    found: dict[str, list[dict[str, Any]]] = {}
    espeak, wrong, n_words = Espeak(), 0, 0
    settings = {"AKHAR_INFERENCE_THREADS": "1"}
    with (
        TemporaryDirectory() as folder,
        served(program(), os.environ | settings | {"AKHAR_DATA_DIR": folder}) as service,
    ):
        for name in SETS:
            for k, text in enumerate(recordings(texts[name])):
                one = transcribed(service, espeak, text, HELD_VARIANTS[k % len(HELD_VARIANTS)])
                found.setdefault(name, []).append(one)
                both = aligned(text.words, one["words"])
                wrong += sum(i is None or j is None or text.words[i] != one["words"][j] for i, j in both)
                n_words += len(text.words)
    replace(out, (json.dumps({"wer": wrong / n_words, "sets": found}, ensure_ascii=False) + "\n").encode())
    print(f"{n_words} words, {wrong / n_words:.1%} wrong")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
