"""What is read out: sentences, frequent words, numbers; the sentences held out are named by a hash."""

import gzip
import hashlib
from functools import cache
from pathlib import Path

import numpy as np

from . import numbers, units

HELD = {"test": range(3), "dev": range(3, 5)}  # of 100
LONGEST = 26  # words


def part(sentence):
    """test, dev or train."""
    at = int(hashlib.sha1(sentence.encode()).hexdigest(), 16) % 100
    return next((name for name, share in HELD.items() if at in share), "train")


@cache
def sentences(data, language):
    """{part: [plain sentence]} of the CC0 sentences, without repeats."""
    raw = gzip.open(Path(data) / f"text/mono/commonvoice-{language}.txt.gz", "rt", encoding="utf-8")
    out = {"train": [], "dev": [], "test": []}
    seen = set()
    for line in raw:
        text = units.plain(line, language)
        if text and text not in seen and len(text.split()) <= LONGEST:
            seen.add(text)
            out[part(text)].append(text)
    return out


@cache
def words(data, language, most=40000):
    """Frequent words and how often each is drawn: the root of its count."""
    if language == "pa":
        rows = [
            line.split("\t")
            for line in gzip.open(Path(data) / "text/lexicon/unilex-pa-frequency.tsv.gz", "rt", encoding="utf-8")
        ]
        counts = {}
        for form, count in rows[:most]:
            form = units.plain(form, language)
            if form and " " not in form and form[0] not in "ਾਿੀੁੂੇੈੋੌਂੰੱ\u0a3c\u0a4d":
                counts[form] = counts.get(form, 0) + int(count)
    else:
        counts = {}
        for sentence in sentences(data, language)["train"]:
            for word in sentence.split():
                counts[word] = counts.get(word, 0) + 1
    weight = np.sqrt(np.array(list(counts.values()), float))
    return list(counts), weight / weight.sum()


def phrase(data, language, rng):
    """One to three frequent words; or something of numbers; or letters spelt out."""
    kind = rng.random()
    if kind < 0.2:
        return numbers.said(language, rng)
    if kind < 0.24 and language == "en":
        return " ".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), rng.integers(1, 8)))
    forms, weight = words(data, language)
    return " ".join(rng.choice(forms, rng.choice([1, 2, 3], p=[0.5, 0.3, 0.2]), p=weight))
