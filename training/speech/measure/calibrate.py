"""Fits the `[confidence]` table of speech-en, by which Panjabi that is sent as English gets a warning, and measures it.

    python -m speech.measure.calibrate clips --data DIR --out FOLDER
    for part in fit test; do
        ../target/release/examples/evidence en FOLDER/$part >FOLDER/$part.jsonl
    done
    python -m speech.measure.calibrate fit --evidence FOLDER --low 0.5

`clips` writes wav files of Panjabi and of English, half of the voices to FOLDER/fit, the others to FOLDER/test. `fit`
fits the share of right letters, none of which is right in Panjabi, by logistic regression to what the
program prints: the mean log-probability that aligner-en gives the letters of a text, and that of Moonshine's tokens.
It prints the table, and how many texts of each set get a warning.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tyro

from ..arrays import Doubles, Floats
from ..data import real
from ..data.clips import Clip, write
from ..sounds import acoustics
from ..texts import english, metrics, reading
from ..voices import espeak
from ..whisper_ctc.evidence import Evidence, agreement, fitted, probabilities, table

PARTS = ("fit", "test")
N_SENTENCES = 60  # that espeak-ng reads, of each language and part
VARIANTS = {"fit": ("m1", "f2", "m3", "f5"), "test": ("m2", "f1", "m4", "f4")}
VOICES = {"pa": "pa", "en": "en-us"}
TEXTS = {"fit": "dev", "test": "test"}  # the part of the sentences that is read
Spoken = tuple[str, str, Floats, str]  # part, name, samples, what is said


class Answer(NamedTuple):
    """What the model wrote for a clip: the letters, and the evidence for each segment as (letters, both means)."""

    name: str
    spoken: str
    text: str
    segments: list[tuple[int, float, float]]

    @property
    def kind(self) -> str:
        """The set that the clip is of."""
        return self.name.split("~")[0]


def half(who: str, everybody: list[str]) -> str:
    """Return the part of a speaker: every second one is for the fit."""
    return PARTS[sorted(everybody).index(who) % 2]


def people(data: Path) -> Iterator[Spoken]:
    """Yield what people say. The one reader of en-read-matthes and the spontaneous clips are for the test."""
    for who, name, samples, text in real.panjabi(data):
        yield half(who, [*real.NAMES.values()]), f"pa-digits~{name}", samples, text
    for name, samples, _ in real.spontaneous(data):
        yield "test", f"pa-spontaneous~{name}", samples, ""
    for name, samples, text in real.reading(data, "en-read-matthes"):
        yield "test", f"en-read~{name}", samples, text
    for k, (name, samples, text) in enumerate(real.reading(data, "en-misc-tests")):
        yield PARTS[k % 2], f"en-misc~{name}", samples, text
    accented = [*real.accented(data)]
    for who, kind, name, samples, text in accented:
        yield half(who, [*{speaker for speaker, *_ in accented}]), f"en-{kind}~{name}", samples, text
    digits = [row for k, row in enumerate(real.english(data)) if k % 10 == 0]
    for who, name, samples, text in digits:
        yield half(who, [*{speaker for speaker, *_ in digits}]), f"en-fsdd~{name}", samples, text


def said(engine: espeak.Espeak, rng: np.random.Generator, text: str, voice: str) -> Floats:
    """Return what a voice reads, (n,) in [-1, 1] at 16 kHz."""
    samples, _ = engine.say(text, voice, rng.uniform(140, 180), rng.uniform(35, 65))
    return acoustics.resampled(np.float32(0.5 / np.abs(samples).max()) * samples, espeak.RATE)


def synthetic(data: Path) -> Iterator[Spoken]:
    """Yield sentences that espeak-ng reads."""
    engine, rng = espeak.Espeak(), np.random.default_rng(18)
    for language, voice in VOICES.items():
        for part in PARTS:
            chosen = reading.sentences(data, language)[TEXTS[part]]
            for k, at in enumerate(rng.permutation(len(chosen))[:N_SENTENCES]):
                variant = VARIANTS[part][k % len(VARIANTS[part])]
                samples = said(engine, rng, chosen[at], f"{voice}+{variant}")
                yield part, f"{language}-espeak~{variant}-{k:02}", samples, chosen[at]


def clips(data: Path, out: Path) -> None:
    """Write the folders `fit` and `test` of clips."""
    every = [*people(data), *synthetic(data)]
    for part in PARTS:
        some = (Clip(f"{name}.wav", samples, text) for where, name, samples, text in every if where == part)
        write(out / part, some)


def answers(path: Path) -> list[Answer]:
    """Read what `inference/examples/evidence.rs` printed."""
    rows = map(json.loads, path.read_text().splitlines())
    return [
        Answer(row["file"], row["spoken"], row["text"], [(*segment,) for segment in row["segments"]]) for row in rows
    ]


def means(answer: Answer) -> tuple[float, float] | None:
    """Return both means of the evidence over the letters of a text; None where it has no letters with evidence."""
    n = sum(letters for letters, _, _ in answer.segments)
    if not n:
        return None
    acoustic, language = (sum(one[0] * one[k] for one in answer.segments) / n for k in (1, 2))
    return acoustic, language


def weighed(answer: Answer) -> Evidence | None:
    """Return the evidence for a whole text; None where it has no letters that the aligner can spell."""
    found = means(answer)
    if not found:
        return None
    written, spoken = ("".join(english.words(text)) for text in (answer.text, answer.spoken))
    longest = max(len(written), len(spoken))
    right = 0.0 if answer.kind.startswith("pa-") else 1 - metrics.distance(spoken, written) / longest
    return Evidence(*found, right, longest)


def warned(weights: Doubles, answer: Answer, low: float) -> bool:
    """Return whether the service warns of a segment of the text."""
    each = [Evidence(acoustic, language, 0.0, n) for n, acoustic, language in answer.segments]
    return bool(each) and bool((probabilities(weights, each) < low).any())


def report(weights: Doubles, found: list[Answer], low: float) -> Iterator[str]:
    """Yield a line about each set: how many clips have no text, how many texts get a warning, what is right."""
    for kind in sorted({answer.kind for answer in found}):
        of_kind = [answer for answer in found if answer.kind == kind]
        n_warned = sum(warned(weights, answer, low) for answer in of_kind)
        known = [one for one in map(weighed, of_kind) if one]
        n_empty = sum(not answer.text for answer in of_kind)
        line = f"{kind} | {len(of_kind)} clips, {n_empty} empty, {n_warned} warned"
        yield f"{line} | {agreement(weights, known, low)}" if known else line


def fit(evidence: Path, low: float = 0.5) -> None:
    """Print the table, and how many texts of each set get a warning; `evidence`: the folder of `clips`."""
    found = {part: answers(evidence / f"{part}.jsonl") for part in PARTS}
    weights = fitted([one for one in map(weighed, found["fit"]) if one])
    for part in PARTS:
        print(part, *report(weights, found[part], low), sep="\n")
    print(table(weights, low=low))


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"clips": clips, "fit": fit}, description=__doc__)
