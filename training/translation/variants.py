"""Other ways a source may be written: as speech recognition gives it, in lower case, without its final point."""

import random
import re
import unicodedata

from speech.texts import numbers

INSIDE = "'’-"  # kept between letters


def words(text: str, language: str) -> str:
    """The text with its whole numbers up to 99,999 in words; `language` is "pa" or "en"."""
    say = numbers.pa if language == "pa" else numbers.en
    return re.sub(r"(?<![\w.,:/%$])\d{1,5}(?![\w.,:/%$]\w|\w)", lambda m: say(int(m[0])), text)


def spoken(text: str, language: str, say: bool = True) -> str:
    """The text in lower case without punctuation and danda; with `say`, numbers are in words."""
    text = words(text, language) if say else text
    kept = []
    for k, c in enumerate(text.lower()):
        inner = 0 < k < len(text) - 1 and text[k - 1].isalpha() and text[k + 1].isalpha()
        if unicodedata.category(c)[0] in "LMN" or c in "\u200c\u200d" or (c in INSIDE and inner):
            kept.append("'" if c == "’" else c)
        else:
            kept.append(" ")
    return " ".join("".join(kept).split())


def varied(text: str, language: str, rng: random.Random) -> str:
    """One drawn variant: 20 % spoken, 10 % lower case, 10 % without the final point, the rest as written."""
    chance = rng.random()
    if chance < 0.2:
        return spoken(text, language, rng.random() < 0.7) or text
    if chance < 0.3:
        return text.lower()
    if chance < 0.4:
        return text.rstrip(" .।!") or text
    return text
