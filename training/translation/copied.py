"""Generated sentences of which numbers, dates, times, money, phone numbers, addresses and names must come through.

    python -m translation.copied --from en --kind money --count 1000 > sentences.tsv
    cut -f1 sentences.tsv | akhar translate --from en --to pa > translations.txt
    python -m translation.copied --check sentences.tsv translations.txt

A line of `sentences.tsv` is a sentence and what its translation must contain, once. The kind `any` has
sentences of all kinds. `--check` prints the share of translations that do.

    python -m translation.copied --from pa --kind digits --data DATA --count 559 > sentences.tsv
    python -m translation.copied --from pa --kind words --pairs WORK/pairs --count 1000 > sentences.tsv
    python -m translation.copied --check sentences.tsv translations.txt --words en

have numbers in words: strings of digits that people of DATA/speech say, and further strings; and held-out sentences of
dev and test with other numbers in the place of their figures. `--kind spoken` makes sentences with numbers as people
say them: so many each, about so many, ranges, times. With `--words`, the language of the translations, they must have
the numbers in words and no other number above one.
"""

import functools
import random
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro
from speech.texts import numbers

from . import names, prepared
from .corpus import Pair
from .phrases import mail, site
from .placeholders import GURMUKHI_DIGITS
from .variants import spoken

CARRIERS = {
    "number": {
        "en": ["The number is {}.", "There are {} books in the library.", "My roll number is {}", "We sold {} today."],
        "pa": ["ਨੰਬਰ {} ਹੈ।", "ਲਾਇਬ੍ਰੇਰੀ ਵਿੱਚ {} ਕਿਤਾਬਾਂ ਹਨ।", "ਮੇਰਾ ਰੋਲ ਨੰਬਰ {} ਹੈ", "ਅਸੀਂ ਅੱਜ {} ਵੇਚੇ।"],
    },
    "date": {
        "en": ["The meeting is on {}.", "He was born on {}.", "Remind me on {}"],
        "pa": ["ਮੀਟਿੰਗ {} ਨੂੰ ਹੈ।", "ਉਸ ਦਾ ਜਨਮ {} ਨੂੰ ਹੋਇਆ ਸੀ।", "ਮੈਨੂੰ {} ਨੂੰ ਯਾਦ ਕਰਾਓ"],
    },
    "time": {
        "en": ["The train leaves at {}.", "Wake me up at {}", "The shop opens at {} every day."],
        "pa": ["ਰੇਲਗੱਡੀ {} ਵਜੇ ਚੱਲਦੀ ਹੈ।", "ਮੈਨੂੰ {} ਵਜੇ ਜਗਾਓ", "ਦੁਕਾਨ ਰੋਜ਼ {} ਵਜੇ ਖੁੱਲ੍ਹਦੀ ਹੈ।"],
    },
    "money": {
        "en": ["Send {} to my brother.", "This shirt costs {}.", "I have paid {} today"],
        "pa": ["ਮੇਰੇ ਭਰਾ ਨੂੰ {} ਭੇਜੋ।", "ਇਸ ਕਮੀਜ਼ ਦਾ ਮੁੱਲ {} ਹੈ।", "ਮੈਂ ਅੱਜ {} ਦਿੱਤੇ ਹਨ"],
    },
    "phone": {
        "en": ["Call me on {}.", "My phone number is {}", "Send the message to {} now."],
        "pa": ["ਮੈਨੂੰ {} 'ਤੇ ਫ਼ੋਨ ਕਰੋ।", "ਮੇਰਾ ਫ਼ੋਨ ਨੰਬਰ {} ਹੈ", "ਸੁਨੇਹਾ ਹੁਣੇ {} ਨੂੰ ਭੇਜੋ।"],
    },
    "name": {
        "en": ["My name is {}.", "I met {} yesterday.", "Have you seen {}?", "{} is coming home tomorrow."],
        "pa": ["ਮੇਰਾ ਨਾਮ {} ਹੈ।", "ਮੈਂ ਕੱਲ੍ਹ {} ਨੂੰ ਮਿਲਿਆ।", "ਕੀ ਤੁਸੀਂ {} ਨੂੰ ਵੇਖਿਆ ਹੈ?", "{} ਕੱਲ੍ਹ ਘਰ ਆ ਰਿਹਾ ਹੈ।"],
    },
    "address": {
        "en": ["Write to {} today.", "The form is at {}", "Have you seen {}?"],
        "pa": ["ਅੱਜ {} 'ਤੇ ਲਿਖੋ।", "ਫਾਰਮ {} 'ਤੇ ਹੈ", "ਕੀ ਤੁਸੀਂ {} ਵੇਖਿਆ ਹੈ?"],
    },
    "place": {
        "en": ["I live in {}.", "We are going to {} tomorrow.", "Is there a train to {}?"],
        "pa": ["ਮੈਂ {} ਵਿੱਚ ਰਹਿੰਦਾ ਹਾਂ।", "ਅਸੀਂ ਕੱਲ੍ਹ {} ਜਾ ਰਹੇ ਹਾਂ।", "ਕੀ {} ਲਈ ਕੋਈ ਰੇਲਗੱਡੀ ਹੈ?"],
    },
}
MONTHS = {
    "en": ("January February March April June July August September October November December").split(),
    "pa": ["ਜਨਵਰੀ", "ਫ਼ਰਵਰੀ", "ਮਾਰਚ", "ਅਪ੍ਰੈਲ", "ਜੂਨ", "ਜੁਲਾਈ", "ਅਗਸਤ", "ਸਤੰਬਰ", "ਅਕਤੂਬਰ", "ਨਵੰਬਰ", "ਦਸੰਬਰ"],
}
TO_GURMUKHI = {latin: gurmukhi for gurmukhi, latin in GURMUKHI_DIGITS.items()}


def digits(rng: random.Random, length: int) -> str:
    """A number of so many digits, without a leading zero."""
    return str(rng.randrange(10 ** (length - 1), 10**length))


def date(rng: random.Random, language: str) -> tuple[str, list[str]]:
    """A date in digits, or with the name of a month, which is translated."""
    day, month, year = rng.randrange(1, 29), rng.randrange(1, 13), str(rng.randrange(1900, 2040))
    if rng.random() < 0.5:
        text = rng.choice((f"{day:02}/{month:02}/{year}", f"{day}-{month}-{year}", f"{year}-{month:02}-{day:02}"))
        return text, [text]
    return f"{day} {rng.choice(MONTHS[language])} {year}", [str(day), year]


def money(rng: random.Random, language: str) -> tuple[str, list[str]]:
    """A sum with the sign of a currency, or with the word for rupees."""
    amount = digits(rng, rng.randrange(1, 8))
    if len(amount) > 3 and rng.random() < 0.5:
        amount = f"{int(amount):,}"
    if rng.random() < 0.5:
        text = rng.choice("₹$€£") + amount + rng.choice(("", ".50"))
        return text, [text]
    return f"{amount} {'rupees' if language == 'en' else 'ਰੁਪਏ'}", [amount]


def phone(rng: random.Random) -> str:
    """A phone number of ten digits."""
    number = digits(rng, 10)
    return rng.choice((number, f"+91 {number[:5]} {number[5:]}", f"{number[:5]}-{number[5:]}", f"0{number}"))


@functools.cache
def people_and_places() -> tuple[list[names.Row], list[names.Row]]:
    """The rows of the lexicon for people and for places that are used in both directions."""
    lines = names.sections(names.FOLDER / "names.txt")["places"]
    places = {line.partition(" = ")[0] for line in lines}
    rows = [row for row in names.written() if row[2] == "both"]
    return [row for row in rows if row[0] not in places], [row for row in rows if row[0] in places]


def drawn(kind: str, language: str, rng: random.Random) -> tuple[str, list[str]]:
    """A sentence, and what its translation must contain."""
    if kind in ("name", "place"):
        en, pa, _ = rng.choice(people_and_places()[kind == "place"])
        text, expected = (en, [pa]) if language == "en" else (pa, [en])
    elif kind in ("date", "money"):
        text, expected = (date if kind == "date" else money)(rng, language)
    else:
        text = {
            "number": lambda: digits(rng, rng.randrange(1, 11)),
            "time": lambda: f"{rng.randrange(1, 13)}:{rng.randrange(60):02}",
            "phone": lambda: phone(rng),
            "address": lambda: rng.choice((mail, site))(rng),
        }[kind]()
        expected = [text]
    if language == "pa" and kind not in ("name", "place", "address") and rng.random() < 0.5:
        text = text.translate(TO_GURMUKHI)
    return rng.choice(CARRIERS[kind][language]).format(text), expected


FIGURE = re.compile(r"(?<![\w.,:/%$₹'-])\d{1,5}(?![\w%]|[.,:/-]\w)")
APART = re.compile(r"\d\W{1,2}\d|[{}]")  # in words, figures beside each other would be one string of digits
SPELL = {"pa": numbers.pa, "en": numbers.en}
NUMBER_WORDS = {
    "pa": {*numbers.PA[2:], "ਸੌ", "ਹਜ਼ਾਰ", "ਲੱਖ"},
    "en": {*numbers.EN[2:], *numbers.EN_TENS, "hundred", "thousand"},
}
"""The words of numbers above one."""
OTHER = {"pa": "en", "en": "pa"}


def strings(data: Path, language: str, count: int) -> list[tuple[str, list[str]]]:
    """Strings of digits: those of the recordings, and then drawn ones, alone or in a sentence."""
    lines = (data / "speech/pa-digits/transcripts.tsv").read_text().splitlines()[1:]
    values = [[numbers.PA.index(word) for word in line.split("\t")[4].split()] for line in lines]
    rng, drawn_rng = random.Random(f"digits {language}"), np.random.default_rng(1)
    while len(values) < count:
        values.append([numbers.PA.index(word) for word in numbers.digits("pa", drawn_rng).split()])
    carriers = ["{}", CARRIERS["phone"][language][1]]
    out: list[tuple[str, list[str]]] = []
    for nth, digits in enumerate(values[:count]):
        here, there = (" ".join(SPELL[side](n) for n in digits) for side in (language, OTHER[language]))
        out.append(((carriers[0] if nth < len(lines) else rng.choice(carriers)).format(here), [there]))
    return out


HALVES = {3: ("ਡੇਢ", "one and a half"), 5: ("ਢਾਈ", "two and a half")}
SCALES = [(100, "ਸੌ", "hundred"), (1000, "ਹਜ਼ਾਰ", "thousand"), (100_000, "ਲੱਖ", "lakh")]
SPOKEN = {
    "pa": ["ਉਸ ਨੂੰ {} ਰੁਪਏ ਮਿਲੇ।", "ਮੈਨੂੰ {} ਰੁਪਏ ਚਾਹੀਦੇ ਹਨ।", "ਉੱਥੇ {} ਲੋਕ ਆਏ।"],
    "en": ["They got {} rupees.", "I need {} rupees.", "We paid {} rupees today."],
}
SPOKEN_TIMES = {
    "pa": ["ਦੁਕਾਨ {} ਵਜੇ ਤੱਕ ਖੁੱਲ੍ਹੀ ਹੈ।", "ਉਹ {} ਵਜੇ ਆਵੇਗਾ।"],
    "en": ["The shop is open from {}.", "We work from {}."],
}


def halves(n: int, language: str) -> str:
    """So many halves in words: 3 is ਡੇਢ, 7 is ਸਾਢੇ ਤਿੰਨ."""
    if n in HALVES:
        return HALVES[n][language == "en"]
    whole = SPELL[language](n // 2)
    if n % 2 == 0:
        return whole
    return f"{whole} and a half" if language == "en" else f"ਸਾਢੇ {whole}"


def count_as_said(rng: random.Random, language: str) -> tuple[str, list[str]]:
    """So many each, about so many, or a range, and the numbers of its translation."""
    other = OTHER[language]
    size, *names = rng.choice(SCALES)
    scale = names[language == "en"]
    low = rng.choice((3, 4, 5, 6, 7, 8, 10, 12, 14))
    high = low + rng.choice((1, 2)) + low % 2
    spell = numbers.pa if other == "pa" else english
    values = [spell(n * size // 2) for n in (low, high)]
    kind = rng.choice(("each", "about", "range", "joined"))
    if kind == "each":
        said = f"{halves(low, language)} {halves(low, language)} {scale}"
        return said, [values[0], values[0]] if other == "pa" else [values[0]]
    if kind == "about" and language == "pa":
        return f"{halves(low, 'pa')} ਕੁ {scale}", values[:1]
    between = {"range": " ", "about": " ", "joined": " ਤੋਂ " if language == "pa" else " to "}[kind]
    return f"{halves(low, language)}{between}{halves(high, language)} {scale}", values


def english(n: int) -> str:
    """A number below ten million in English words."""
    millions, rest = divmod(n, 1_000_000)
    return " ".join(
        [numbers.en(millions), "million"] * (millions > 0) + [numbers.en(rest)] * (rest > 0 or not millions)
    )


def hours_as_said(rng: random.Random, language: str) -> tuple[str, list[str]]:
    """From one time of the day to another one, both at half past, and the numbers of its translation."""
    first, last = rng.sample(range(3, 12), 2)
    panjabi = [f"ਸਾਢੇ {numbers.pa(hour)}" for hour in (first, last)]
    if language == "pa":
        return " ਤੋਂ ".join(panjabi), [f"{numbers.en(hour)} thirty" for hour in (first, last)]
    return " to ".join(f"half past {numbers.en(hour)}" for hour in (first, last)), panjabi


def as_said(language: str, count: int) -> list[tuple[str, list[str]]]:
    """Sentences with numbers as people say them: so many each, about so many, ranges, times."""
    rng = random.Random(f"spoken {language}")
    out: list[tuple[str, list[str]]] = []
    for nth in range(count):
        make, carriers = (hours_as_said, SPOKEN_TIMES) if nth % 4 == 3 else (count_as_said, SPOKEN)
        said, expected = make(rng, language)
        out.append((rng.choice(carriers[language]).format(said), expected))
    return out


def has_words(text: str, language: str) -> bool:
    """Whether a text has words of numbers above one."""
    return not NUMBER_WORDS[language].isdisjoint(spoken(text, language, say=False).replace("-", " ").split())


def sentences(pairs: Sequence[Pair], language: str, count: int) -> list[tuple[str, list[str]]]:
    """Sentences in which other numbers, in words, stand for the figures, which both sides of the pair have."""
    rng = random.Random(f"words {language}")
    sides = []
    for en, pa, _ in pairs:
        found = [sorted(FIGURE.findall(text.translate(GURMUKHI_DIGITS))) for text in (en, pa)]
        n_figures = 0 if APART.search(en + pa) else len(re.findall(r"\d+", en))
        if found[0] == found[1] and 0 < len(found[0]) == n_figures and not (has_words(en, "en") or has_words(pa, "pa")):
            sides.append((en if language == "en" else pa).translate(GURMUKHI_DIGITS))
    out: list[tuple[str, list[str]]] = []
    while len(out) < count:
        values: list[int] = []

        def other(_: re.Match[str], values: list[int] = values) -> str:
            values.append(int(10 ** rng.uniform(0.31, rng.choice((1, 2, 5)))))
            return SPELL[language](values[-1])

        text = FIGURE.sub(other, rng.choice(sides))
        out.append((text, [SPELL[OTHER[language]](n) for n in values]))
    return out


def keeps_words(translation: str, expected: Sequence[str], language: str) -> bool:
    """Whether a translation has these numbers in words, and no other above one."""
    said = f" {spoken(translation, language, say=False)} ".replace("-", " ").replace(" and ", " ")
    for words in sorted(expected, key=len, reverse=True):
        if f" {words} " not in said:
            return False
        said = said.replace(f" {words} ", " , ", 1)
    return not has_words(said, language)


def comes_through(translation: str, expected: Sequence[str]) -> bool:
    """Whether each expected text stands in the translation as whole words, as often as it should."""
    return all(
        len(re.findall(rf"(?<![\w.,]){re.escape(text)}(?![\w]|[.,]\d)", translation)) == list(expected).count(text)
        for text in expected
    )


def held(pairs: Path) -> list[Pair]:
    """The pairs of dev and test."""
    parts = prepared.read(pairs)
    return [*parts["dev"], *parts["test"]]


def made(
    kind: str, language: str, count: int, data: Path | None, pairs: Path | None
) -> Iterable[tuple[str, Sequence[str]]]:
    """Sentences of a kind, each with what its translation must contain."""
    if kind == "digits":
        if data is None:
            raise SystemExit("the kind digits needs --data")
        return strings(data, language, count)
    if kind == "words":
        if pairs is None:
            raise SystemExit("the kind words needs --pairs")
        return sentences(held(pairs), language, count)
    if kind == "spoken":
        return as_said(language, count)
    rng = random.Random(f"{kind} {language}")
    return (drawn(rng.choice([*CARRIERS]) if kind == "any" else kind, language, rng) for _ in range(count))


def main(
    language: Annotated[Literal["en", "pa"], tyro.conf.arg(name="from")] = "en",
    kind: str = "number",
    count: int = 1000,
    check: tuple[str, str] | None = None,
    data: Path | None = None,
    pairs: Path | None = None,
    words: Literal["en", "pa"] | None = None,
) -> None:
    """Writes sentences, or checks their translations.

    The kind `digits` needs `data`, and `words` needs `pairs`, which translation.prepared wrote. `words` is the language
    of translations whose numbers in words are checked.
    """
    if not check:
        for sentence, expected in made(kind, language, count, data, pairs):
            print(sentence, *expected, sep="\t")
        return
    rows, said = (Path(path).read_text().splitlines() for path in check)
    is_right = functools.partial(keeps_words, language=words) if words else comes_through
    wrong = [(row, text) for row, text in zip(rows, said, strict=True) if not is_right(text, row.split("\t")[1:])]
    for row, text in wrong[:10]:
        print(row, text, sep="\t", file=sys.stderr)
    print(f"{1 - len(wrong) / len(rows):.4f} of {len(rows)}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
