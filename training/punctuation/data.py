"""The staged texts in; units (sentences with what may follow each word) by pool and part out.

A part is train, dev or test. Pairs have the part that `translation.prepared` gave them, so that nothing is trained on
that the translator is measured with. Common Voice has the parts of `corpus.hashed`, the stories those of
`corpus.late`. The sources in `UNSEEN` are only for the test.
"""

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from translation import cleaning, corpus, phrases
from translation.corpus import Pair

from .marks import ANY, COMMA, END, NONE, Unit, marked

PROMPTS = {
    **dict.fromkeys(("everyday", "icebreaker"), "everyday"),
    **dict.fromkeys(("domain", "topic", "district"), "questions"),
    "wikipedia": "encyclopaedia",
    **dict.fromkeys(("grocery", "digital", "gov"), "templates"),
}
"""The pool of each kind of speech prompts; other kinds are no sentences."""
UNSEEN = ("nhs-covid19-app", "simple-android")
CODE = re.compile(r"[%{}<>$_@\\]")
DRAWN = 12_000
"""Sentences of the phrase book."""


@dataclass
class Pool:
    """Units of one kind."""

    units: list[Unit]
    ordered: bool = False
    """Whether the units follow each other as they are."""


Pools = dict[str, Pool]


def pool(source: str) -> str:
    """The pool of a pair's source."""
    if source in UNSEEN:
        return "unseen"
    if source.startswith("pb"):
        return "stories"
    if not source.startswith("indicvoices:"):
        return "apps"
    name = source.removeprefix("indicvoices:").removesuffix("-template")
    return PROMPTS.get(name, "")


def units(texts: Iterable[str], language: str, end: int = 0) -> list[Unit]:
    """The units of texts; those without a final mark end in `end`, or are left out if it is 0.

    Texts with codes that are filled in later are left out.
    """
    return [unit for text in texts if not CODE.search(text) and (unit := marked(text, language, end))]


def spoken(text: str) -> Unit | None:
    """A sentence without any marks, as Common Voice has them in Panjabi."""
    unit = marked(text, "pa", END)
    return unit and Unit(unit.words, tuple(NONE | COMMA if one == NONE else one for one in unit.sets))


def stories(data: str | Path, part: str) -> list[str]:
    """The Panjabi rows of the stories of dev or test, in their order."""
    rows = [line.split("\t") for line in corpus.lines(Path(data) / "text/parallel/pratham-stories.tsv.gz")]
    late = corpus.late(source for _, _, source in rows)
    rows = [row for row in rows if late.get(corpus.story(row[2])) == part]
    rows.sort(key=lambda row: corpus.story(row[2]))  # a stable sort: the order within a story stays
    return [cleaning.danda(cleaning.plain(row[1])) for row in rows]


def of_pairs(pairs: Iterable[Pair], language: str) -> Pools:
    """The pools of pairs. An app's text without a final mark is a label and no sentence."""
    found: Pools = {}
    for pair in pairs:
        name = pool(pair[2])
        end = END if name in ("everyday", "questions", "encyclopaedia", "templates") else 0
        text = pair[1] if language == "pa" else pair[0]
        if name and name != "stories":
            found.setdefault(name, Pool([])).units += units([text], language, end)
    return found


def drawn(language: str, count: int, rng: random.Random) -> list[Unit]:
    """Units of the phrase book."""
    book = phrases.Phrases()
    pairs = [book.draw(rng)[:2] for _ in range(count)]
    return units((en if language == "en" else pa for en, pa in pairs), language)


def training(data: str | Path, parts: dict[str, list[Pair]]) -> dict[str, Pools]:
    """The pools to train on, by language; `parts` is what `prepared.read` gave."""
    pairs = [pair for pair in parts["train"] if pair[2] not in UNSEEN]
    single, rng = corpus.single(data, parts), random.Random(39)
    kept = {language: [text for text in single[language] if common(text) == "train"] for language in single}
    names = {corpus.clean(line) for line in corpus.lines(Path(data) / "text/mono/pratham-stories-pa.txt.gz")}
    told = [cleaning.danda(cleaning.plain(text)) for text in single["pa"] if text in names]
    pages = [cleaning.danda(cleaning.plain(pair[1])) for pair in pairs if pair[2].startswith("pb-page")]
    voices = [unit for text in kept["pa"] if text not in names and (unit := spoken(text))]
    panjabi = of_pairs(pairs, "pa") | {
        "stories": Pool(units(told, "pa", ANY), ordered=True),
        "pages": Pool(units(pages, "pa")),
        "voices": Pool(voices),
        "phrases": Pool(drawn("pa", DRAWN, rng)),
    }
    english = of_pairs([pair for pair in pairs if not pair[2].startswith("indicvoices:everyday")], "en") | {
        "voices": Pool(units(kept["en"], "en")),
        "phrases": Pool(drawn("en", DRAWN, rng)),
    }
    return {"pa": panjabi, "en": english}


def common(text: str) -> str:
    """The part of a sentence of Common Voice."""
    return corpus.hashed(corpus.bare(text))


def held(data: str | Path, parts: dict[str, list[Pair]], part: str) -> dict[str, list[Unit]]:
    """The documents to measure on, as lists of units by name: all with marks at the ends of their units.

    `part` is "dev" or "test". The stories are in their order; the rest is in a random order that is always the same.
    """
    everyday = phrases.rows(phrases.FOLDER / "held.txt")
    pairs = [pair for pair in parts[part] if pair[2] not in UNSEEN]
    english = [text for text in corpus.single(data, parts)["en"] if common(text) == part]
    found = of_pairs(pairs, "pa")
    both = found["everyday"].units + found["questions"].units + found["encyclopaedia"].units
    documents = {
        "stories": units(stories(data, part), "pa", ANY),
        "prompts": [unit for unit in both if unit.sets[-1] != END],
        "templates": [unit for unit in found["templates"].units if unit.sets[-1] != END],
        "apps": found["apps"].units,
        "everyday": units((corpus.clean(pa) for _, pa in everyday), "pa"),
        "english": units(english, "en"),
        "everyday-english": units((corpus.clean(en) for en, _ in everyday), "en"),
    }
    if part == "test":
        whole = [pair for pairs in parts.values() for pair in pairs if pair[2] in UNSEEN]
        documents["unseen"] = of_pairs(whole, "pa")["unseen"].units
    for name, found_units in documents.items():
        if name != "stories":
            random.Random(name).shuffle(found_units)
    return documents
