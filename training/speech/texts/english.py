"""What counts as the same English text: the normalisation before words or digits are compared.

Recognisers write `Forty-nine`, `49` or `forty nine` for the same words. Error rates are measured between texts in lower
case, without punctuation, with numerals as the words that are said for them.
"""

import re

from .numbers import EN, en

WRITTEN_OUT = {"%": " percent", "&": " and ", "+": " plus "}
# Titles are said in full; recognisers write them short.
TITLES = {"mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "messrs": "messers"}
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
ORDINALS["twelve"] = "twelfth"
DIGITS = {word: str(digit) for digit, word in enumerate(EN[:10])} | {"oh": "0", "o": "0"}
TIMES = {"double": 2, "triple": 3}


def ordinal(number: int) -> str:
    """Return the words of an ordinal number below a million, such as `twenty first`."""
    *before, last = en(number).split()
    regular = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return " ".join([*before, ORDINALS.get(last, regular)])


def numeral(written: str) -> str:
    """Return the words of a numeral such as `7`, `1850`, `6,439` or `0071`.

    Four digits without a comma are said as a year; long numerals and those with a leading zero digit by digit.
    """
    digits = written.replace(",", "")
    if (digits[0] == "0" and len(digits) > 1) or len(digits) > 6:
        return " ".join(EN[int(digit)] for digit in digits)
    if len(digits) == 4 and "," not in written and int(digits) % 1000 >= 10:
        century, year = int(digits[:2]), int(digits[2:])
        return f"{en(century)} {'hundred' if year == 0 else f'oh {EN[year]}' if year < 10 else en(year)}"
    return en(int(digits))


def words(text: str) -> list[str]:
    """Return the words of a text for comparison: lower case, no punctuation, numerals and titles as they are said."""
    text = text.lower().replace("’", "'")
    for sign, written in WRITTEN_OUT.items():
        text = text.replace(sign, written)
    text = re.sub(r"\b(\d+)s\b", lambda found: f" {plural(numeral(found[1]))} ", text)
    text = re.sub(r"\b(\d{1,6})(?:st|nd|rd|th)\b", lambda found: f" {ordinal(int(found[1]))} ", text)
    text = re.sub(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+", lambda found: f" {numeral(found[0])} ", text)
    text = re.sub(r"\b([ap])\.?\s?m\b\.?", r"\1m", text)
    text = re.sub(r"[^\w\s'.]+|_", " ", text)
    text = re.sub(r"['.]", "", text)
    return [TITLES.get(word, word) for word in text.split()]


def plural(spoken: str) -> str:
    """Return the plural of a number's words: `fourteen eighties`."""
    return f"{spoken[:-1]}ies" if spoken.endswith("y") else f"{spoken}s"


def digits(text: str) -> str:
    """Return the digits that a text says, as numerals or as words; `double` and `triple` repeat the next one."""
    said, times = [], 1
    for word in re.findall(r"[a-z]+|\d", text.lower()):
        if word in TIMES:
            times = TIMES[word]
            continue
        digit = word if word.isdigit() else DIGITS.get(word)
        said += [digit] * times if digit else []
        times = 1
    return "".join(said)
