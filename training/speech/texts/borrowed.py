"""English words in Gurmukhi spelling, as transcripts of Panjabi write them, with how often each is drawn.

They are those of two PyPI packages, whose files are read where they are installed (`requirements-words.txt`): indicear
0.1.0 (Apache-2.0; its counts are of the transcripts of IndicVoices, CC BY 4.0) and codemix-restore-shunyalabs 0.4.0
(MIT).
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from .. import packages
from ..arrays import Doubles
from . import units

COUNTED = (("indicear", "lexicon.json"),)
COUNTED_SHA256 = "35f521315ba9b79be4be4b03b772cd92cc584d16ab07abf2fa253cbf9f1fb520"
LISTED = (("codemix-restore-shunyalabs", "pa_merged.json"),)
LISTED_SHA256 = "5d58d2481eaf5d470100281ea471c84ae425a84f3b95845e2c5d5a4b9e2c2b1e"
SHORTEST = 3  # units of a word of the second list; shorter ones are Panjabi words too
Lexicon = tuple[list[str], Doubles]  # words, and the probability of drawing each


def merged(counted: Mapping[str, Sequence[str | float]], listed: Mapping[str, str]) -> dict[str, float]:
    """Return how often each word is counted; a word of the second list alone counts once.

    `counted`: spelling to (English word, count, …). `listed`: spelling to English; phrases are left out, and spellings
    that end in a letter twice, which are mistakes.
    """
    out = {word: float(row[1]) for word, row in counted.items() if units.plain(word, "pa") == word}
    for word, english in listed.items():
        found = units.split(word, "pa") if units.plain(word, "pa") == word else None
        if found and english.isalpha() and " " not in word and len(found) >= SHORTEST and found[-1] != found[-2]:
            out.setdefault(word, 1.0)
    return out


def lexicon_of(counts: Mapping[str, float]) -> Lexicon:
    """Return words with the probability of drawing each, in proportion to the square root of its count."""
    weight = np.sqrt(np.array(list(counts.values())))
    return list(counts), weight / weight.sum()


@cache
def counts() -> dict[str, float]:
    """Return how often each word is counted. Raises FileNotFoundError where a package is not installed."""
    counted = json.loads(packages.contents(COUNTED, COUNTED_SHA256))["langs"]["pa"]
    return merged(counted, json.loads(packages.contents(LISTED, LISTED_SHA256)))


@cache
def lexicon() -> Lexicon:
    """Return the words of both packages."""
    return lexicon_of(counts())
