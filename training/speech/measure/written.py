"""Measures the written form: the share of generated sentences whose numbers in words become the right figures.

    python -m speech.measure.written --lang pa --count 1000

Each sentence has a number: a cardinal to crores, one with a half or a quarter, a decimal, an ordinal, a sum of money, a
percentage, a time, a date, a year or a telephone number. The words are spelt by `speech.texts.numbers` and by this
file, not by the program. Wrong sentences are printed: as spoken, as they should be written, and as they are.
"""

import random
from collections import Counter
from collections.abc import Callable
from typing import Literal

import tyro
from program import written

from ..texts.numbers import EN_MONTHS, PA_MONTHS
from ..texts.numbers import en as en_small
from ..texts.numbers import pa as pa_small

Language = Literal["pa", "en"]
Said = tuple[str, str]
"""Words, and what is written for them."""

CARRIERS = {
    "pa": {
        "cardinal": ["ਲਾਇਬ੍ਰੇਰੀ ਵਿੱਚ {} ਕਿਤਾਬਾਂ ਹਨ", "ਉੱਥੇ {} ਲੋਕ ਆਏ", "ਪਿੰਡ ਦੀ ਆਬਾਦੀ {} ਹੈ"],
        "part": ["ਉਹ {} ਘੰਟੇ ਬੈਠਾ ਰਿਹਾ", "ਮੈਨੂੰ {} ਕਿਲੋ ਆਟਾ ਚਾਹੀਦਾ ਹੈ"],
        "decimal": ["ਇਸ ਦੀ ਲੰਬਾਈ {} ਹੈ", "ਅੰਕ {} ਹਨ"],
        "ordinal": ["ਉਹ {} ਜਮਾਤ ਵਿੱਚ ਹੈ", "ਇਹ {} ਸਦੀ ਦੀ ਗੱਲ ਹੈ"],
        "money": ["ਮੇਰੇ ਭਰਾ ਨੂੰ {} ਭੇਜੋ", "ਇਸ ਕਮੀਜ਼ ਦਾ ਮੁੱਲ {} ਹੈ", "ਮੈਂ ਅੱਜ {} ਦਿੱਤੇ ਹਨ"],
        "percent": ["ਵੋਟਾਂ {} ਪਈਆਂ", "ਕੀਮਤ {} ਵਧੀ ਹੈ"],
        "time": ["ਰੇਲਗੱਡੀ {} ਵਜੇ ਚੱਲਦੀ ਹੈ", "ਮੈਨੂੰ {} ਵਜੇ ਜਗਾਓ"],
        "date": ["ਮੀਟਿੰਗ {} ਨੂੰ ਹੈ", "ਉਸ ਦਾ ਜਨਮ {} ਨੂੰ ਹੋਇਆ ਸੀ"],
        "year": ["ਉਹ {} ਵਿੱਚ ਆਇਆ ਸੀ", "ਸਾਲ {} ਦੀ ਗੱਲ ਹੈ"],
        "phone": ["ਮੇਰਾ ਫ਼ੋਨ ਨੰਬਰ {} ਹੈ", "ਸੁਨੇਹਾ {} ਨੂੰ ਭੇਜੋ"],
    },
    "en": {
        "cardinal": ["There are {} books in the library.", "We sold {} today.", "About {} people came."],
        "part": ["He waited for {} hours.", "I need {} kilos of flour."],
        "decimal": ["Its length is {}.", "The score was {} today."],
        "ordinal": ["He is in the {} row.", "This is about the {} century."],
        "money": ["Send {} to my brother.", "This shirt costs {}.", "I have paid {} today."],
        "percent": ["Prices rose by {}.", "Only {} of them voted."],
        "time": ["The train leaves at {}.", "The shop opens at {} every day."],
        "date": ["The meeting is on {}.", "He was born on {}."],
        "year": ["He came in {}.", "The year {} was good."],
        "phone": ["My phone number is {}.", "Send the message to {} now."],
    },
}
DIGITS = {"pa": [pa_small(n) for n in range(10)], "en": [en_small(n) for n in range(10)]}
PA_HALVES = {6: "ਡੇਢ", 10: "ਢਾਈ"}
EN_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip


def words(n: int, language: Language) -> str:
    """The words of a cardinal to crores."""
    if language == "pa":
        crores, rest = divmod(n, 10_000_000)
        return " ".join([pa_small(crores), "ਕਰੋੜ"] * (crores > 0) + [pa_small(rest)] * (rest > 0 or not crores))
    millions, rest = divmod(n, 1_000_000)
    return " ".join([en_small(millions), "million"] * (millions > 0) + [en_small(rest)] * (rest > 0 or not millions))


def figure(n: int, language: Language) -> str:
    """A cardinal in figures: no commas up to four digits, then by lakh and crore, or by thousands."""
    if n < 10_000:
        return str(n)
    if language == "en":
        return f"{n:,}"
    head, last = divmod(n, 1000)
    groups = [f"{last:03}"]
    while head:
        head, group = divmod(head, 100)
        groups.append(f"{group:02}" if head else str(group))
    return ",".join(reversed(groups))


def size(rng: random.Random) -> int:
    """A number from ten to nine crores, as often small as large."""
    return int(10 ** rng.uniform(1, 7.95))


def part(rng: random.Random, language: Language) -> Said:
    """A number with a half or a quarter."""
    n, quarters = rng.randrange(1, 60), rng.randrange(1, 4)
    written = f"{n}.{(25 * quarters):02}".rstrip("0")
    if language == "en":
        return f"{en_small(n)} and {('a quarter', 'a half', 'three quarters')[quarters - 1]}", written
    if 4 * n + quarters in PA_HALVES:
        return PA_HALVES[4 * n + quarters], written
    if quarters == 3:
        return f"ਪੌਣੇ {pa_small(n + 1)}", written
    return f"{('ਸਵਾ', 'ਸਾਢੇ')[quarters - 1]} {pa_small(n)}", written


def decimal(rng: random.Random, language: Language) -> Said:
    """A number with one to three digits behind the point."""
    n, digits = rng.randrange(1000), [rng.randrange(10) for _ in range(rng.randrange(1, 4))]
    point = {"pa": "ਦਸ਼ਮਲਵ", "en": "point"}[language]
    said = [words(n, language), point, *(DIGITS[language][digit] for digit in digits)]
    return " ".join(said), f"{n}.{''.join(map(str, digits))}"


def ordinal(rng: random.Random, language: Language) -> Said:
    """An ordinal from the fifth on."""
    n = int(10 ** rng.uniform(0.7, 3))
    said = words(n, language)
    if language == "pa":
        ending = rng.choice(("ਵੀਂ", "ਵੇਂ", "ਵਾਂ"))
        stem = said.removesuffix("ਂ").removesuffix("ਾ") if said.endswith("ਾਂ") else said.removesuffix("ਂ")
        irregular = {1: "ਇੱਕਵਾਂ", 2: "ਦੂਜਾ", 3: "ਤੀਜਾ", 4: "ਚੌਥਾ"}.get(n % 100)
        if irregular:
            return " ".join([*said.split()[:-1], irregular]), f"{n}{irregular[-2:] if n % 100 > 1 else 'ਵਾਂ'}"
        return stem + ending, f"{n}{ending}"
    *head, last = said.split()
    last = EN_ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return " ".join([*head, last]), f"{n}{ending}"


def money(rng: random.Random, language: Language) -> Said:
    """A sum in rupees, one in six with paise."""
    n = rng.randrange(2, 10) if rng.random() < 0.1 else size(rng)
    rupees, paise = ("ਰੁਪਏ", "ਪੈਸੇ") if language == "pa" else ("rupees", "paise")
    said, written = f"{words(n, language)} {rupees}", f"₹{figure(n, language)}"
    if rng.random() < 1 / 6:
        hundredths = rng.randrange(2, 100)
        return f"{said} {words(hundredths, language)} {paise}", f"{written}.{hundredths:02}"
    return said, written


def percent(rng: random.Random, language: Language) -> Said:
    """A share, one in four with a digit behind the point."""
    said, written = decimal(rng, language) if rng.random() < 0.25 else ("", "")
    if not said:
        n = rng.randrange(2, 101)
        said, written = words(n, language), str(n)
    return f"{said} {rng.choice(('ਪ੍ਰਤੀਸ਼ਤ', 'ਫ਼ੀਸਦੀ')) if language == 'pa' else 'percent'}", f"{written}%"


def time(rng: random.Random, language: Language) -> Said:
    """A time of the day: in Panjabi by quarters, in English to the minute."""
    hour = rng.randrange(1, 13)
    if language == "en":
        minute = rng.randrange(1, 60)
        said = f"oh {en_small(minute)}" if minute < 10 else en_small(minute)
        return f"{en_small(hour)} {said}", f"{hour}:{minute:02}"
    quarters = rng.randrange(4)
    if quarters == 0:
        return pa_small(hour), str(hour)
    if quarters == 3:
        return f"ਪੌਣੇ {pa_small(hour % 12 + 1)}", f"{hour}:45"
    said = PA_HALVES.get(4 * hour + quarters) or f"{('ਸਵਾ', 'ਸਾਢੇ')[quarters - 1]} {pa_small(hour)}"
    return said, f"{hour}:{15 * quarters}"


def year(rng: random.Random, language: Language) -> Said:
    """A year from 1100 on."""
    n = rng.randrange(1900, 2040) if rng.random() < 0.7 else rng.randrange(1100, 1900)
    century, rest = divmod(n, 100)
    if language == "pa":
        return (f"{pa_small(century)} ਸੌ {pa_small(rest) if rest else ''}".strip() if n < 2000 else pa_small(n)), str(n)
    if rest == 0 or 2000 <= n < 2010:
        return (en_small(n) if n >= 2000 else f"{en_small(century)} hundred"), str(n)
    return f"{en_small(century)} {'oh ' if rest < 10 else ''}{en_small(rest)}", str(n)


def date(rng: random.Random, language: Language) -> Said:
    """A day and a month, half of them with a year."""
    day, month = rng.randrange(1, 32), rng.randrange(12)
    name = PA_MONTHS[month] if language == "pa" else EN_MONTHS[month].capitalize()
    said, written = f"{words(day, language)} {name}", f"{day} {name}"
    if language == "en" and day == 1:
        said, written = f"the first of {name}", f"the 1st of {name}"
    if rng.random() < 0.5:
        words_of_year, figures = year(rng, language)
        said, written = f"{said} {words_of_year}", f"{written} {figures}"
    return said, written


def phone(rng: random.Random, language: Language) -> Said:
    """A number of ten digits, one by one or in pairs."""
    if rng.random() < 0.3:
        pairs = [rng.randrange(10, 100) for _ in range(5)]
        return " ".join(words(pair, language) for pair in pairs), "".join(map(str, pairs))
    digits = [rng.randrange(10) for _ in range(10)]
    return " ".join(DIGITS[language][digit] for digit in digits), "".join(map(str, digits))


def cardinal(rng: random.Random, language: Language) -> Said:
    """A cardinal from ten on."""
    n = size(rng)
    return words(n, language), figure(n, language)


KINDS: dict[str, Callable[[random.Random, Language], Said]] = {
    "cardinal": cardinal, "part": part, "decimal": decimal, "ordinal": ordinal, "money": money, "percent": percent,
    "time": time, "date": date, "year": year, "phone": phone,
}  # fmt: skip


def drawn(language: Language, rng: random.Random) -> tuple[str, str, str]:
    """A sentence as it is spoken and as it is written, and the kind of its number."""
    kind = rng.choice(list(KINDS))
    said, written = KINDS[kind](rng, language)
    carrier = rng.choice(CARRIERS[language][kind])
    return carrier.format(said), carrier.format(written), kind


def main(lang: Language = "pa", count: int = 1000) -> None:
    """Draws sentences and prints the share that the program writes as it should."""
    rng = random.Random(f"written {lang}")
    sentences = [drawn(lang, rng) for _ in range(count)]
    wrong: Counter[str] = Counter()
    for (spoken, expected, kind), line in zip(
        sentences, written([said for said, _, _ in sentences], lang), strict=True
    ):
        if line != expected:
            wrong[kind] += 1
            print(spoken, expected, line, sep="\t")
    print(f"{1 - wrong.total() / count:.4f} of {count}", dict(wrong) or "")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
