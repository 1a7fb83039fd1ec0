"""Fits the `[confidence.word]` table of a speech model, how likely a word is right, and measures its calibration.

    for set in clean degraded telephone; do
        ../target/release/examples/evidence pa EVAL/$set/wav >WORK/$set.jsonl
    done
    python -m speech.measure.words --evidence WORK/*.jsonl --eval EVAL
    python -m speech.measure.words --evidence FOLDER/fit.jsonl FOLDER/test.jsonl

`inference/examples/evidence.rs` prints of each word the number of its letters and both means of its evidence. A word is
right if the alignment with what is said pairs all of it with the same. EVAL/SET/00-000.json names the voice of each
clip. The expected calibration error is that of words by voices that the weights are not fitted to: each voice is left
out once. A set that has none, such as English of which no word can be right, counts as one voice. So do the two of
`speech.measure.calibrate clips`, which have different people.
"""

import json
from itertools import chain, islice
from operator import ne
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import tyro

from ..arrays import Doubles
from ..texts import english
from ..texts.metrics import aligned
from ..whisper_ctc.evidence import Evidence, fitted, probabilities, table

BINS = 10


class Word(NamedTuple):
    """A recognised word of a set: its voice, its evidence, and whether it is right."""

    kind: str
    voice: str
    evidence: Evidence


def right_words(spoken: list[str], found: list[str]) -> list[bool]:
    """Return for each found word whether an alignment with the fewest errors pairs it with an equal one."""
    pairs = aligned(spoken, found, ne, 1)
    return [i is not None and spoken[i] == found[j] for i, j in pairs if j is not None]


def tokens(text: str) -> list[str]:
    """Return the words that are compared: numerals as words, and English without case and punctuation."""
    is_panjabi = any("\u0a00" <= c <= "\u0a7f" for c in text)
    return text.split() if is_panjabi else english.words(text)


def right_of(spoken: str, found: list[str]) -> list[bool]:
    """Return for each found word whether all of it is right."""
    parts = [tokens(word) for word in found]
    right = iter(right_words(tokens(spoken), [*chain.from_iterable(parts)]))
    return [all([*islice(right, len(part))]) for part in parts]


def words(path: Path, evaluation: Path | None) -> list[Word]:
    """Return the words with evidence of a set. Without voices, a word's voice is the name of the set."""
    known = evaluation / path.stem / "00-000.json" if evaluation else None
    items = json.loads(known.read_text()) if known and known.is_file() else []
    every = []
    for row in map(json.loads, path.read_text().splitlines()):
        voice = items[int(row["file"].split(".")[0])]["voice"] if items else path.stem
        kind = path.stem if items else row["file"].split("~")[0]
        right = right_of(row["spoken"], [word for word, *_ in row["words"]])
        for (_, n, acoustic, language), is_right in zip(row["words"], right, strict=True):
            if n:
                every.append(Word(kind, voice, Evidence(acoustic, language, float(is_right), 1)))
    return every


def left_out(found: list[Word]) -> Doubles:
    """Return for each word the confidence by weights that are fitted to the words of all other voices, (n,)."""
    confidence = np.zeros(len(found))
    for voice in {word.voice for word in found}:
        weights = fitted([word.evidence for word in found if word.voice != voice])
        own = [n for n, word in enumerate(found) if word.voice == voice]
        confidence[own] = probabilities(weights, [found[n].evidence for n in own])
    return confidence


def calibration_error(confidence: Doubles, right: Doubles) -> float:
    """Return the mean distance between confidence and accuracy over ten bins of equal width, weighted by words."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return sum(abs((confidence - right)[bins == k].sum()) for k in range(BINS)) / len(right)


def main(evidence: list[Path], evaluation: Annotated[Path | None, tyro.conf.arg(name="eval")] = None) -> None:
    """Print how well confidence and what is right agree, of all words, of each set and of each voice; and the table."""
    found = [*chain.from_iterable(words(path, evaluation) for path in evidence)]
    confidence, right = left_out(found), np.array([word.evidence.right for word in found])
    kinds, voices = ([getattr(word, name) for word in found] for name in ("kind", "voice"))
    groups = {"all": np.ones(len(found), bool)}
    groups |= {name: np.array(names) == name for names in (kinds, voices) for name in sorted(set(names))}
    for name, own in groups.items():
        means = f"right {right[own].mean():.3f}, expected {confidence[own].mean():.3f}"
        print(f"{name} | {own.sum()} words | {means} | ECE {calibration_error(confidence[own], right[own]):.3f}")
    print(table(fitted([word.evidence for word in found]), "confidence.word"))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
