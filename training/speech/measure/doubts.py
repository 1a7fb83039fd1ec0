"""Fits the `[confidence.doubt]` table of speech-pa, by which texts that are mostly wrong get a warning.

    python -m speech.measure.doubts clips --data DIR --out FOLDER
    for part in fit test; do for language in pa en; do
        ../target/release/examples/evidence $language FOLDER/$part >FOLDER/$part.$language.jsonl
    done; done
    python -m speech.measure.doubts fit --evidence FOLDER

`clips` writes wav files: Panjabi sentences by espeak-ng and what people say in Panjabi, and what is not Panjabi: people
who speak English, six other languages by espeak-ng, melodies of plain tones and of vowels. Half of the voices, people
and languages are for the fit. A text is wrong if more than 30 % of its letters are, or if no Panjabi is spoken. `fit`
prints the table, and the share of wrong texts and of right sentences with a warning. A warning comes where the doubt of
a segment is above one half, or where speech-en's text is clearly likelier (`worker/src/operations/detection.rs`).
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tyro
from figures import wilson
from scipy.optimize import minimize

from ..arrays import Doubles, Floats
from ..data import real
from ..data.clips import Clip, write
from ..sounds.features import RATE
from ..texts import metrics, reading
from ..voices import espeak
from ..whisper_ctc.evidence import table
from .calibrate import PARTS, TEXTS, VARIANTS, Answer, Spoken, answers, means, people, said

N_SENTENCES = 400  # of each part, in Panjabi
N_MELODIES = 12  # of each part and kind
LONGEST_S = 15  # of recordings of people
VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410))  # formants, Hz
WRONG = 0.3  # a text with more wrong letters is wrong
UNSURE, CLEAR, LOWEST = 1.0, 0.5, -9.0  # inference/src/speech/words/likeliest.rs
WEIGHT = 3.0  # of a text that is wrong, beside one that is right
MOST_FALSE = 0.005  # of the right sentences for the fit


def melody(rng: np.random.Generator, has_vowels: bool) -> Floats:
    """Return twelve notes of a voice or of an instrument, (n,) in [-1, 1] at 16 kHz."""
    notes = []
    for _ in range(12):
        n, pitch = int(RATE * rng.uniform(0.25, 0.6)), 110 * 2 ** (rng.integers(0, 24) / 12)
        at, formants = np.arange(n), VOWELS[rng.integers(len(VOWELS))]
        phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.01 * np.sin(2 * np.pi * 5.5 * at / RATE))) / RATE
        note = np.zeros(n)
        for harmonic in range(1, min(30, int(7000 / pitch) + 1)):
            near = sum(np.exp(-(((harmonic * pitch - hz) / (120 + 0.06 * hz)) ** 2)) for hz in formants)
            note += (near / harmonic**0.3 if has_vowels else 1 / harmonic) * np.sin(harmonic * phase)
        notes.append(note * np.minimum(1, np.minimum(at / 800, (n - at) / 1600)))
    tune = np.concatenate(notes)
    return np.float32(0.5 / np.abs(tune).max()) * tune.astype(np.float32)


def made(data: Path) -> Iterator[Spoken]:
    """Yield what espeak-ng reads in Panjabi and in other languages, and melodies."""
    engine, rng = espeak.Espeak(), np.random.default_rng(7)
    foreign = tomllib.loads((Path(__file__).parents[1] / "texts/foreign.toml").read_text())
    for k, (language, texts) in enumerate(foreign.items()):
        part = PARTS[k % 2]
        for n, text in enumerate(texts):
            voice = VARIANTS[part][n % len(VARIANTS[part])]
            yield part, f"{language}~{n}", said(engine, rng, text, f"{language}+{voice}"), ""
    for part in PARTS:
        chosen = reading.sentences(data, "pa")[TEXTS[part]]
        for k, at in enumerate(rng.permutation(len(chosen))[:N_SENTENCES]):
            voice = VARIANTS[part][k % len(VARIANTS[part])]
            yield part, f"pa-espeak~{k:03}", said(engine, rng, chosen[at], f"pa+{voice}"), chosen[at]
        for k in range(N_MELODIES):
            yield part, f"tones~{k}", melody(rng, False), ""
            yield part, f"sung~{k}", melody(rng, True), ""


def clips(data: Path, out: Path) -> None:
    """Write the folders `fit` and `test` of clips."""
    every = [(part, name, samples[: LONGEST_S * RATE], text) for part, name, samples, text in people(data)]
    for name, samples, text in real.read_aloud(data):
        every.append(("test", f"pa-read~{name.replace('/', '-')}", samples, text))
    every += [*made(data)]
    for part in PARTS:
        write(out / part, (Clip(f"{name}.wav", samples, text) for to, name, samples, text in every if to == part))


class Text(NamedTuple):
    """What speech-pa wrote: (segments, 3) of 1 and both means; whether it is wrong; whether English was heard."""

    kind: str
    segments: Doubles
    is_wrong: bool
    is_english: bool


def odds(answer: Answer, weights: tuple[float, float, float]) -> float:
    """Return the logarithm of the odds of a text by the `[confidence]` of its model."""
    found = means(answer)
    if not found:
        return LOWEST
    return max(LOWEST, weights[0] + sum(weight * mean for weight, mean in zip(weights[1:], found, strict=True)))


def confidence(model: str) -> tuple[float, float, float]:
    """Return intercept and weights of a manifest's `[confidence]`."""
    found = tomllib.loads((Path(__file__).parents[3] / f"models/{model}.toml").read_text())["confidence"]
    return found["intercept"], found["acoustic"], found["language"]


def texts(evidence: Path, part: str) -> list[Text]:
    """Return the texts with evidence of a part."""
    english = {answer.name: answer for answer in answers(evidence / f"{part}.en.jsonl")}
    found = []
    for answer in answers(evidence / f"{part}.pa.jsonl"):
        if not answer.segments or (answer.kind.startswith("pa-") and not answer.spoken):
            continue
        of_pa, of_en = odds(answer, confidence("speech-pa")), odds(english[answer.name], confidence("speech-en"))
        spoken, written = answer.spoken.replace(" ", ""), answer.text.replace(" ", "")
        is_wrong = not answer.kind.startswith("pa-") or metrics.distance(spoken, written) > WRONG * len(spoken)
        segments = np.array([[1.0, acoustic, language] for _, acoustic, language in answer.segments])
        found.append(Text(answer.kind, segments, is_wrong, of_pa < UNSURE and of_en >= max(0.0, of_pa + CLEAR)))
    return found


def fitted(found: list[Text]) -> Doubles:
    """Return intercept and weights, (3,), whose sum is negative for `MOST_FALSE` of the right sentences."""
    some = [text for text in found if not text.is_english]
    x = np.concatenate([text.segments for text in some])
    shares = [(WEIGHT if text.is_wrong else 1.0) / len(text.segments) for text in some for _ in text.segments]
    right = [not text.is_wrong for text in some for _ in text.segments]
    centre, spread = x[:, 1:].mean(0), x[:, 1:].std(0)
    z = np.column_stack([x[:, 0], (x[:, 1:] - centre) / spread])

    def loss(weights: Doubles) -> float:
        scores = z @ weights
        logistic = np.logaddexp(0, scores) - np.array(right) * scores
        return float(np.array(shares) @ logistic + 0.3 * (weights[1:] ** 2).sum())

    weights = minimize(loss, np.zeros(3)).x[1:] / spread
    clean = [(text.segments[:, 1:] @ weights).min() for text in found if text.kind == "pa-espeak" and not text.is_wrong]
    return np.array([-np.quantile(clean, MOST_FALSE), *weights])


def fit(evidence: Path) -> None:
    """Print the table, and how many texts of each kind of the test get a warning."""
    weights = fitted(texts(evidence, "fit")).round(2)
    counts: dict[tuple[str, bool], list[bool]] = defaultdict(list)
    for text in texts(evidence, "test"):
        counts[text.kind, text.is_wrong].append(text.is_english or bool((text.segments @ weights < 0).any()))
    for (kind, is_wrong), warned in sorted(counts.items()):
        print(f"{kind}, {'wrong' if is_wrong else 'right'}: {sum(warned)} of {len(warned)} with a warning")
    wrong = [one for (_, is_wrong), warned in counts.items() if is_wrong for one in warned]
    for name, some in (("all wrong texts", wrong), ("right sentences", counts["pa-espeak", False])):
        low, high = wilson(sum(some), len(some))
        print(f"{name}: {100 * sum(some) / len(some):.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {len(some)}")
    print(table(weights, name="confidence.doubt"))


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"clips": clips, "fit": fit}, description=__doc__)
