"""The texts that the synthesisers read: sentences, frequent words, numbers; a hash says which sentences are held out.

`data` is the data folder, `language` is "pa" or "en".
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path

import numpy as np

from ..arrays import Doubles
from . import numbers, units

HELD = {"test": range(3), "dev": range(3, 5)}  # of 100
LONGEST = 26  # words


def part(sentence: str) -> str:
    """Return "test" (3 of 100), "dev" (2 of 100) or "train" by the SHA-1 of the sentence in UTF-8, modulo 100."""
    at = int(hashlib.sha1(sentence.encode()).hexdigest(), 16) % 100
    return next((name for name, share in HELD.items() if at in share), "train")


@cache
def sentences(data: str | Path, language: str) -> dict[str, list[str]]:
    """Return the CC0 sentences of each part as plain text, without repeats, of at most LONGEST words."""
    out: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    seen = set()
    with gzip.open(Path(data) / f"text/mono/commonvoice-{language}.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            text = units.plain(line, language)
            if text and text not in seen and len(text.split()) <= LONGEST:
                seen.add(text)
                out[part(text)].append(text)
    return out


def _panjabi_counts(data: str | Path, most: int) -> dict[str, int]:
    """Return how often each of the first `most` forms of the frequency list is written."""
    counts: dict[str, int] = {}
    with gzip.open(Path(data) / "text/lexicon/unilex-pa-frequency.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.split("\t") for line in lines]
    for form, count in rows[:most]:
        plain = units.plain(form, "pa")
        if plain and " " not in plain and plain[0] not in units.SIGNS:
            counts[plain] = counts.get(plain, 0) + int(count)
    return counts


@cache
def words(data: str | Path, language: str, most: int = 40000) -> tuple[list[str], Doubles]:
    """Return frequent words and the probability of drawing each, in proportion to the square root of its count."""
    counts: dict[str, int] = {}
    if language == "pa":
        counts = _panjabi_counts(data, most)
    else:
        for sentence in sentences(data, language)["train"]:
            for word in sentence.split():
                counts[word] = counts.get(word, 0) + 1
    weight = np.sqrt(np.array(list(counts.values()), float))
    return list(counts), weight / weight.sum()


def phrase(data: str | Path, language: str, rng: np.random.Generator) -> str:
    """Draw one to three frequent words, or numbers in words (20 %), or English letters one by one (4 %)."""
    kind = rng.random()
    if kind < 0.2:
        return numbers.drawn(language, rng)
    if kind < 0.24 and language == "en":
        return " ".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), rng.integers(1, 8)))
    forms, weight = words(data, language)
    return " ".join(rng.choice(forms, rng.choice([1, 2, 3], p=[0.5, 0.3, 0.2]), p=weight))
