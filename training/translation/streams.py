"""Endless streams of examples: `(source language, source, target language, target)`.

A source is a text, or a list of words in which None stands for a mask.
"""

import random
import re
from collections.abc import Iterator, Sequence

from .corpus import Pair
from .phrases import Phrases
from .placeholders import Lexicon, mask, masked
from .variants import varied, words

Source = str | list[str | None]
Example = tuple[str, Source, str, str]
Made = tuple[str, str, str]
"""The language of a single sentence, the sentence, and its translation by a network, with placeholders."""


WEIGHTS = {
    f"indicvoices:{name}": weight
    for weight, names in (
        (1.5, "everyday wikipedia domain topic icebreaker"),
        (0.5, "grocery-slot digital-slot gov-slot"),
        (0.7, "grocery digital gov"),
    )
    for name in names.split()
} | {"pb-page": 0.5}
"""How often a pass over the pairs gives a pair of the source, where it is not once."""
SHARE, LATIN = 0.8, 0.9
"""How many names of the lexicon, and how many other Latin words that both texts have, become placeholders."""
JOINED = 0.08
DIGIT = re.compile("[0-9੦-੯]")
PLACEHOLDER = re.compile("[\ue000-\ue019]")
MARK = "\ue02f"
"""Stands before machine-made sources."""
OTHER = {"en": "pa", "pa": "en"}


def passes(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """The pairs in random order, again and again, each as often as the weight of its source says."""
    weights = [WEIGHTS.get(source.split(":")[0] if source.startswith("pb") else source, 1.0) for _, _, source in pairs]
    while True:
        order = [pair for pair, weight in zip(pairs, weights, strict=True) for _ in range(int(weight + rng.random()))]
        rng.shuffle(order)
        yield from order


def directed(en: str, pa: str, rng: random.Random, lexicon: Lexicon | None, back: bool | None = None) -> Example:
    """A pair as an example of either direction, its source varied, with placeholders in both texts.

    Other whole numbers of the target are in words: a translation has digits only through placeholders.
    """
    if back if back is not None else rng.random() < 0.5:
        pa, en = masked(varied(pa, "pa", rng), en, "pa", rng, lexicon, SHARE, LATIN)
        return "pa", pa, "en", words(en, "en")
    en, pa = masked(varied(en, "en", rng), pa, "en", rng, lexicon, SHARE, LATIN)
    return "en", en, "pa", words(pa, "pa")


def parallel(pairs: Sequence[Pair], rng: random.Random, lexicon: Lexicon | None = None) -> Iterator[Example]:
    """Pairs in either direction; some are joined with the pair before, if its source is the same."""
    last: dict[str, Pair] = {}
    for pair in passes(pairs, rng):
        en, pa, source = pair
        before = last.get(source)
        if before and rng.random() < JOINED:
            en, pa = f"{before[0]} {en}", f"{before[1]} {pa}"
        last[source] = pair
        example = directed(en, pa, rng, lexicon)
        if not DIGIT.search(example[3]):
            yield example


def generated(phrases: Phrases, rng: random.Random, lexicon: Lexicon | None = None) -> Iterator[Example]:
    """Sentences of the phrase book.

    What a woman says of herself is only taught from Panjabi: the English sentence does not show it.
    """
    while True:
        en, pa, from_panjabi = phrases.draw(rng)
        yield directed(en, pa, rng, lexicon, True if from_panjabi else None)


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
        text = mask(rng.choice(texts), language)[0]
        source: Source = [*text.split()] if rng.random() < 0.1 else noised(text, rng)
        yield language, source, language, text


def back(rows: Sequence[Made], rng: random.Random) -> Iterator[Example]:
    """Single sentences as targets of their translations, which are marked (Caswell and others, 2019)."""
    while True:
        language, text, translation = rng.choice(rows)
        yield OTHER[language], f"{MARK} {varied(translation, OTHER[language], rng)}", language, text


def forward(rows: Sequence[Made], rng: random.Random) -> Iterator[Example]:
    """Single sentences with a teacher's translations as targets (Kim and Rush, 2016)."""
    while True:
        language, text, translation = rng.choice(rows)
        yield language, varied(text, language, rng), OTHER[language], translation


def sane(text: str, translation: str) -> bool:
    """Whether a translation may be one: of a like length, without loops, with the same placeholders."""
    parts, n_words = translation.split(), len(text.split())
    marks = [sorted(PLACEHOLDER.findall(one)) for one in (text, translation)]
    return (
        0 < len(parts) <= 2.2 * n_words + 4
        and n_words <= 2.2 * len(parts) + 4
        and (len(parts) < 6 or len(set(parts)) > 0.55 * len(parts))
        and marks[0] == marks[1]
        and not DIGIT.search(translation)
    )
