"""Endless streams of examples: `(source language, source, target language, target)`.

A source is a text, or a list of words in which None stands for a mask.
"""

import random
from collections.abc import Iterator, Sequence

from .corpus import Pair
from .phrases import Phrases
from .variants import varied

Source = str | list[str | None]
Example = tuple[str, Source, str, str]


def parallel(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Example]:
    """Pairs in either direction; one example in ten is two pairs joined."""
    while True:
        en, pa = rng.choice(pairs)[:2]
        if rng.random() < 0.1:
            more = rng.choice(pairs)
            en, pa = f"{en} {more[0]}", f"{pa} {more[1]}"
        if rng.random() < 0.5:
            yield "en", varied(en, "en", rng), "pa", pa
        else:
            yield "pa", varied(pa, "pa", rng), "en", en


def generated(phrases: Phrases, rng: random.Random) -> Iterator[Example]:
    """Sentences of the phrase book.

    What a woman says of herself is only taught from Panjabi: the English sentence does not show it.
    """
    while True:
        en, pa, from_panjabi = phrases.draw(rng)
        if not from_panjabi and rng.random() < 0.5:
            yield "en", varied(en, "en", rng), "pa", pa
        else:
            yield "pa", varied(pa, "pa", rng), "en", en


def noised(text: str, rng: random.Random) -> list[str | None]:
    """Words with spans masked (about 30 %), some dropped, some moved by up to three places."""
    words = text.split()
    out: list[str | None] = []
    k = 0
    order = sorted(range(len(words)), key=lambda i: i + rng.uniform(0, 3 if rng.random() < 0.3 else 0))
    words = [words[i] for i in order]
    while k < len(words):
        chance = rng.random()
        if chance < 0.15:
            out.append(None)
            k += rng.choice((1, 1, 2, 2, 3))
        elif chance < 0.2:
            k += 1
        else:
            out.append(words[k])
            k += 1
    return out or [None]


def denoise(texts: Sequence[str], language: str, rng: random.Random) -> Iterator[Example]:
    """Noised sentences, to be restored in the same language; one in ten is not noised."""
    while True:
        text = rng.choice(texts)
        source: Source = [*text.split()] if rng.random() < 0.1 else noised(text, rng)
        yield language, source, language, text


def back(rows: Sequence[Sequence[str]], rng: random.Random) -> Iterator[Example]:
    """Back-translated sentences; a row is (machine-made source, its language, true target, its language)."""
    while True:
        source, source_language, target, target_language = rng.choice(rows)
        yield source_language, varied(source, source_language, rng), target_language, target
