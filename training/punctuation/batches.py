"""Pools of units in; batches of transcripts with errors and pauses out, as the network is trained on them."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import errors, grams, pauses
from .data import Pool, Pools
from .marks import Unit

WEIGHTS = {
    "pa": {
        "everyday": 20,
        "questions": 9,
        "encyclopaedia": 20,
        "templates": 7,
        "apps": 10,
        "stories": 7,
        "pages": 3,
        "voices": 12,
        "phrases": 12,
    },
    "en": {"questions": 8, "encyclopaedia": 20, "templates": 4, "apps": 8, "everyday": 1, "voices": 49, "phrases": 10},
}
"""How often a pool gives the units of a transcript, by language, in percent."""
ENGLISH = 0.2  # of the transcripts
WORDS = 128  # of a transcript
SHORT = 0.15  # of the transcripts: one to four units, at whose end the transcript ends
MIXED = 0.4  # of the transcripts: units of two pools
INSIDE = 0.2  # of the long transcripts: the first unit lacks its first words
WRONG, MOST_WRONG = 0.6, 0.15  # transcripts with errors; the highest share of their letters that is wrong
UNTIMED = 0.4  # of the transcripts have no pauses


class Batch(NamedTuple):
    """Transcripts, filled up with words of nothing."""

    grams: NDArray[np.int32]
    """[transcripts, words, grams.MOST]"""
    pauses: NDArray[np.float32]
    """[transcripts, words]"""
    sets: NDArray[np.uint8]
    """[transcripts, words]; 0 where there is no word"""


def taken(pools: Sequence[Pool], most: int, n_words: int, rng: random.Random) -> Unit:
    """Units of the pools one after another, until there are `n_words` words or `most` units."""
    words: list[str] = []
    sets: list[int] = []
    places = [rng.randrange(len(pool.units)) for pool in pools]
    for _ in range(most):
        which = rng.randrange(len(pools))
        units = pools[which].units
        places[which] = (places[which] + 1) % len(units) if pools[which].ordered else rng.randrange(len(units))
        words += units[places[which]].words
        sets += units[places[which]].sets
        if len(words) >= n_words:
            break
    return Unit(tuple(words), tuple(sets))


def transcript(pools: dict[str, Pools], rng: random.Random) -> Unit:
    """One transcript of at most WORDS words; a long one ends anywhere."""
    language = "en" if rng.random() < ENGLISH else "pa"
    names = list(WEIGHTS[language])
    chosen = rng.choices(names, list(WEIGHTS[language].values()), k=2 if rng.random() < MIXED else 1)
    short = rng.random() < SHORT
    from_pools = [pools[language][name] for name in chosen]
    unit = taken(from_pools, rng.randint(1, 4) if short else 2 * WORDS, 2 * WORDS, rng)
    if rng.random() < WRONG:
        unit = errors.disturbed(unit, rng.uniform(0.005, MOST_WRONG), rng)
    first = rng.randrange(12) if not short and rng.random() < INSIDE else 0
    return Unit(unit.words[first : first + WORDS], unit.sets[first : first + WORDS])


def batch(pools: dict[str, Pools], count: int, rng: random.Random, draws: np.random.Generator) -> Batch:
    """`count` transcripts; `draws` is for the pauses."""
    found = Batch(
        np.zeros((count, WORDS, grams.MOST), np.int32),
        np.full((count, WORDS), pauses.UNKNOWN, np.float32),
        np.zeros((count, WORDS), np.uint8),
    )
    for row in range(count):
        words, sets = transcript(pools, rng)
        found.grams[row, : len(words)] = grams.table(words)
        found.sets[row, : len(words)] = sets
        if rng.random() >= UNTIMED:
            found.pauses[row, : len(words)] = pauses.drawn(sets, draws)
    return found
