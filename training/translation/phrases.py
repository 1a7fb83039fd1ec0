"""Everyday sentences made from a phrase book: pairs `(en, pa)` without end.

`phrasebook/` holds fixed phrases, sentence templates, nouns with gender and cases, and verbs with their forms; all written
for this project. A third of what comes out are plain sentences (subject, verb, object, time) from `Grammar`.
"""

import re
from pathlib import Path

from .corpus import clean
from .grammar import Grammar
from .words import article, lists, nouns, sections

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
LATIN = [
    "Firefox",
    "Linux",
    "Android",
    "GitHub",
    "Python",
    "Wikipedia",
    "WhatsApp",
    "Google",
    "USB",
    "PDF",
    "HTML",
    "Wi-Fi",
    "GPS",
    "SIM",
    "PIN",
    "VPN",
    "Ubuntu",
    "Chrome",
    "Windows",
    "YouTube",
    "Rust",
    "README.md",
    "index.html",
    "LibreOffice",
    "Mozilla",
    "OpenStreetMap",
    "Signal",
    "Telegram",
    "SQL",
    "JSON",
]
HOLDERS = ["%s", "%d", "%1$s", "%2$s", "{name}", "{count}", "X", "%1$d", "$user"]


def letters(rng, low=2, high=8):
    """A made-up Latin word: what it is does not matter, only that it stays."""
    syllable = lambda: (
        rng.choice(["b", "c", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "sh", "tr"])
        + rng.choice("aeiou")
    )
    return "".join(syllable() for _ in range(rng.randint(low // 2, high // 2))) + rng.choice(["", "n", "x", "r", "s"])


def latin(rng):
    word = rng.choice(LATIN) if rng.random() < 0.5 else letters(rng)
    return rng.choice([word, word, word.capitalize(), word.upper() if len(word) < 5 else word])


def mail(rng):
    return f"{letters(rng)}@{rng.choice(['example', letters(rng)])}.{rng.choice(['com', 'org', 'in', 'net'])}"


def site(rng):
    return (
        rng.choice(["", "https://", "www."])
        + f"{letters(rng)}.{rng.choice(['com', 'org', 'in'])}"
        + rng.choice(["", f"/{letters(rng)}"])
    )


def number(rng):
    return str(int(10 ** rng.uniform(0.35, rng.choice((2, 2, 3, 5)))))


MADE = {
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


class Phrases:
    """`spoken_by(rng)` -> (en, pa, ...), clean; `rng` is a `random.Random`."""

    def __init__(self, folder=FOLDER):
        self.nouns, self.lists = nouns(folder / "nouns.txt"), lists(folder / "lists.txt")
        read = lambda name: [tuple(part.strip() for part in row.split(" = ")) for row in sections(folder / name)[""]]
        self.templates, self.fixed = read("templates.txt"), read("fixed.txt")
        self.held = {clean(side) for row in read("held.txt") for side in row}
        # A template that is only a word needs no seat of its own as often as a sentence.
        self.weights = [0.5 if len(en.split()) < 2 else 1.0 for en, _ in self.templates]
        self.grammar = Grammar(folder / "verbs.txt", self.nouns, self.lists)

    def drawn(self, kind, rng):
        """What fills a slot: (English forms, Panjabi forms, gender), forms by the slot's suffix."""
        if kind in MADE:
            text = MADE[kind](rng)
            return {"": text}, {"": text}, "m"
        if kind == "num":
            en, pa = rng.choice(NUMBERS)
            return {"": en}, {"": pa}, "m"
        if kind == "hour":
            k = rng.randint(2, 12)
            words = (
                ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
                ["ਦੋ", "ਤਿੰਨ", "ਚਾਰ", "ਪੰਜ", "ਛੇ", "ਸੱਤ", "ਅੱਠ", "ਨੌਂ", "ਦਸ", "ਗਿਆਰਾਂ", "ਬਾਰਾਂ"],
            )
            return (
                ({"": str(k)}, {"": str(k)}, "m")
                if rng.random() < 0.4
                else ({"": words[0][k - 2]}, {"": words[1][k - 2]}, "m")
            )
        if kind in self.nouns:
            return rng.choice(self.nouns[kind])
        en, forms = rng.choice(self.lists[kind])
        return {"": en, "a": article(en), "s": en, "f": en}, {"": forms[0], "forms": forms}, "m"

    def filled(self, en, pa, rng):
        slots, gender, speaker = {}, None, int("«" in pa and rng.random() < 0.2)
        genders = {}
        for text in (en, pa):
            for kind, mark, suffix in SLOT.findall(text):
                if (kind, mark) not in slots:
                    slots[kind, mark] = self.drawn(kind, rng)
                    while (
                        kind in self.nouns
                        and "s" in (s for k, _, s in SLOT.findall(en + pa) if k == kind)
                        and not slots[kind, mark][0].get("s")
                    ):
                        slots[kind, mark] = self.drawn(kind, rng)
                if kind in self.nouns:
                    genders[kind] = genders.get(kind) or slots[kind, mark][2]
        for kind, _, _ in SLOT.findall(pa):
            gender = gender or genders.get(kind)
        feminine = (gender or "m") == "f"

        def place(side):
            def put(match):
                kind, mark, suffix = match.groups()
                forms = slots[kind, mark][side]
                if side and "forms" in forms:
                    four = forms["forms"] * (4 if len(forms["forms"]) == 1 else 1)
                    return four[{"s": 2, "f": 1}.get(suffix, 0) + (1 if feminine and suffix != "f" else 0)]
                return forms[suffix or ""] if (suffix or "") in forms else forms[""]

            return put

        pa = re.sub("«([^|»]*)\\|([^»]*)»", lambda m: m[1 + speaker], pa)
        pa = re.sub(r"\[([a-z]+):([^|\]]*)\|([^\]]*)\]", lambda m: m[3 if genders[m[1]] == "f" else 2], pa)
        pa = re.sub("<([^|>]*)\\|([^>]*)>", lambda m: m[2 if feminine else 1], pa)
        en, pa = SLOT.sub(place(0), en), SLOT.sub(place(1), pa)
        return en[:1].upper() + en[1:] if en.endswith((".", "?", "!")) else en, pa, speaker

    def spoken_by(self, rng):
        """(en, pa, whether a woman speaks: then only the way from Panjabi is taught)."""
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
        return (en, pa, speaker) if self.held.isdisjoint((en, pa)) else self.spoken_by(rng)
