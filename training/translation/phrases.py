"""Everyday sentences made from a phrase book: any number of pairs `(en, pa)`.

`phrasebook/` holds fixed phrases, sentence templates, nouns with gender and cases, and verbs with their forms; all were
written for this project. About a third of the pairs are plain sentences (subject, verb, object, time) from `Grammar`.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .corpus import clean
from .grammar import Grammar
from .words import Forms, article, lists, nouns, sections

FOLDER = Path(__file__).parent / "phrasebook"
SLOT = re.compile(r"\{([a-z]+)(\d?)(?:\.([a-z]+))?\}")
NUMBERS = (
    ("two", "ਦੋ"),
    ("three", "ਤਿੰਨ"),
    ("four", "ਚਾਰ"),
    ("five", "ਪੰਜ"),
    ("six", "ਛੇ"),
    ("seven", "ਸੱਤ"),
    ("eight", "ਅੱਠ"),
    ("nine", "ਨੌਂ"),
    ("ten", "ਦਸ"),
    ("twenty", "ਵੀਹ"),
)
# Hours of the clock, by number.
HOURS = dict(enumerate([*NUMBERS[:9], ("eleven", "ਗਿਆਰਾਂ"), ("twelve", "ਬਾਰਾਂ")], 2))
LATIN = (
    "Firefox Linux Android GitHub Python Wikipedia WhatsApp Google USB PDF HTML Wi-Fi GPS SIM PIN VPN Ubuntu Chrome "
    "Windows YouTube Rust README.md index.html LibreOffice Mozilla OpenStreetMap Signal Telegram SQL JSON"
).split()
HOLDERS = ["%s", "%d", "%1$s", "%2$s", "{name}", "{count}", "X", "%1$d", "$user"]


CONSONANTS = ["b", "c", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "sh", "tr"]


def letters(rng: random.Random, low: int = 2, high: int = 8) -> str:
    """A made-up Latin word of `low` // 2 to `high` // 2 syllables: the model has to copy it."""

    def syllable() -> str:
        return rng.choice(CONSONANTS) + rng.choice("aeiou")

    return "".join(syllable() for _ in range(rng.randint(low // 2, high // 2))) + rng.choice(["", "n", "x", "r", "s"])


def latin(rng: random.Random) -> str:
    """A Latin word, known or made up, in some capitalisation."""
    word = rng.choice(LATIN) if rng.random() < 0.5 else letters(rng)
    return rng.choice([word, word, word.capitalize(), word.upper() if len(word) < 5 else word])


def mail(rng: random.Random) -> str:
    """A made-up e-mail address."""
    return f"{letters(rng)}@{rng.choice(['example', letters(rng)])}.{rng.choice(['com', 'org', 'in', 'net'])}"


def site(rng: random.Random) -> str:
    """A made-up web address."""
    return (
        rng.choice(["", "https://", "www."])
        + f"{letters(rng)}.{rng.choice(['com', 'org', 'in'])}"
        + rng.choice(["", f"/{letters(rng)}"])
    )


def number(rng: random.Random) -> str:
    """A whole number of one to five digits; small ones are more likely."""
    return str(int(10 ** rng.uniform(0.35, rng.choice((2, 2, 3, 5)))))


# What fills a slot with the same text in both languages.
MADE: dict[str, Callable[[random.Random], str]] = {
    "latin": latin,
    "mail": mail,
    "site": site,
    "n": number,
    "version": lambda rng: ".".join(str(rng.randint(0, 130)) for _ in range(rng.randint(1, 3))),
    "holder": lambda rng: rng.choice(HOLDERS),
    "phone": lambda rng: "".join(rng.choice("0123456789") for _ in range(rng.choice((5, 7, 10)))),
    "year": lambda rng: str(rng.randint(1900, 2040)),
    "dom": lambda rng: str(rng.randint(1, 31)),
    "age": lambda rng: str(rng.randint(5, 90)),
    "clock": lambda rng: f"{rng.randint(1, 12)}:{rng.randint(0, 59):02d}",
}


@dataclass
class Filler:
    """What fills a slot."""

    english: Forms
    panjabi: Forms
    gender: str = "m"
    agreeing: Sequence[str] = ()
    """Panjabi forms that agree with a noun: one, or masculine, feminine and their plurals; empty for a noun."""


def agreed(forms: Sequence[str], suffix: str, feminine: bool) -> str:
    """One of the forms of `Filler.agreeing`; the slot's suffix "s" asks for the plural, "f" for the feminine."""
    four = [*forms] * (4 if len(forms) == 1 else 1)
    return four[{"s": 2, "f": 1}.get(suffix, 0) + (1 if feminine and suffix != "f" else 0)]


def rows(path: Path) -> list[tuple[str, str]]:
    """The lines `English = Panjabi` of a file without sections."""
    pairs = (line.split(" = ") for line in sections(path)[""])
    return [(en.strip(), pa.strip()) for en, pa in pairs]


class Phrases:
    """Draws pairs from the phrase book in `folder`; the sentences of `held.txt` never come up."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.nouns, self.lists = nouns(folder / "nouns.txt"), lists(folder / "lists.txt")
        self.templates, self.fixed = rows(folder / "templates.txt"), rows(folder / "fixed.txt")
        self.held = {clean(side) for row in rows(folder / "held.txt") for side in row}
        # A template of one word is drawn half as often as a sentence.
        self.weights = [0.5 if len(en.split()) < 2 else 1.0 for en, _ in self.templates]
        self.grammar = Grammar(folder / "verbs.txt", self.nouns, self.lists)

    def filler(self, kind: str, rng: random.Random) -> Filler:
        """What fills a slot of this class."""
        if kind in MADE:
            text = MADE[kind](rng)
            return Filler({"": text}, {"": text})
        if kind == "num":
            en, pa = rng.choice(NUMBERS)
            return Filler({"": en}, {"": pa})
        if kind == "hour":
            k = rng.randint(2, 12)
            en, pa = (str(k), str(k)) if rng.random() < 0.4 else HOURS[k]
            return Filler({"": en}, {"": pa})
        if kind in self.nouns:
            return Filler(*rng.choice(self.nouns[kind]))
        en, forms = rng.choice(self.lists[kind])
        return Filler({"": en, "a": article(en), "s": en, "f": en}, {"": forms[0]}, agreeing=forms)

    def fillers(self, en: str, pa: str, rng: random.Random) -> dict[tuple[str, str], Filler]:
        """What fills the slots of a template, by class and number."""
        slots: dict[tuple[str, str], Filler] = {}
        for kind, mark, _ in SLOT.findall(en) + SLOT.findall(pa):
            if (kind, mark) in slots:
                continue
            slots[kind, mark] = self.filler(kind, rng)
            plural = kind in self.nouns and "s" in (s for k, _, s in SLOT.findall(en + pa) if k == kind)
            while plural and not slots[kind, mark].english.get("s"):
                slots[kind, mark] = self.filler(kind, rng)
        return slots

    def filled(self, en: str, pa: str, rng: random.Random) -> tuple[str, str, int]:
        """A template with its slots filled: English, Panjabi, and 1 if the Panjabi says that a woman speaks, else 0."""
        speaker = int("«" in pa and rng.random() < 0.2)
        slots = self.fillers(en, pa, rng)
        genders: dict[str, str] = {}
        for (kind, _), filler in slots.items():
            if kind in self.nouns:
                genders.setdefault(kind, filler.gender)
        # The adjectives of a template agree with the first noun of its Panjabi.
        feminine = next((genders[kind] for kind, _, _ in SLOT.findall(pa) if kind in genders), "m") == "f"

        def english(match: re.Match[str]) -> str:
            forms = slots[match[1], match[2]].english
            return forms.get(match[3] or "", forms[""])

        def panjabi(match: re.Match[str]) -> str:
            filler = slots[match[1], match[2]]
            if filler.agreeing:
                return agreed(filler.agreeing, match[3] or "", feminine)
            return filler.panjabi.get(match[3] or "", filler.panjabi[""])

        pa = re.sub("«([^|»]*)\\|([^»]*)»", lambda m: m[1 + speaker], pa)
        pa = re.sub(r"\[([a-z]+):([^|\]]*)\|([^\]]*)\]", lambda m: m[3 if genders[m[1]] == "f" else 2], pa)
        pa = re.sub("<([^|>]*)\\|([^>]*)>", lambda m: m[2 if feminine else 1], pa)
        en, pa = SLOT.sub(english, en), SLOT.sub(panjabi, pa)
        return en[:1].upper() + en[1:] if en.endswith((".", "?", "!")) else en, pa, speaker

    def draw(self, rng: random.Random) -> tuple[str, str, int]:
        """A drawn pair: English, Panjabi, and 1 if the Panjabi says that a woman speaks, else 0.

        A quarter are fixed phrases, two fifths templates, the rest sentences of the grammar.
        """
        chance = rng.random()
        if chance < 0.25:
            en, pa = rng.choice(self.fixed)
            en = rng.choice(en.split(" / "))
            speaker = 0
        elif chance < 0.65:
            en, pa, speaker = self.filled(*rng.choices(self.templates, self.weights)[0], rng)
        else:
            en, pa, speaker = self.grammar.sentence(rng)
        en, pa = clean(en), clean(pa)
        return (en, pa, speaker) if self.held.isdisjoint((en, pa)) else self.draw(rng)
