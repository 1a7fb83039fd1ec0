"""What a source may look like besides as written: as speech recognition gives it, in lower case, cut at the end."""

import re
import unicodedata

from speech import numbers

INSIDE = "'’-"  # kept between letters


def words(text, language):
    """Whole numbers up to 99,999 become words."""
    say = numbers.pa if language == "pa" else numbers.en
    return re.sub(r"(?<![\w.,:/%$])\d{1,5}(?![\w.,:/%$]\w|\w)", lambda m: say(int(m[0])), text)


def spoken(text, language, say=True):
    """Lower case, no punctuation, no danda; numbers as words where `say`."""
    text = words(text, language) if say else text
    kept = []
    for k, c in enumerate(text.lower()):
        inner = 0 < k < len(text) - 1 and text[k - 1].isalpha() and text[k + 1].isalpha()
        if unicodedata.category(c)[0] in "LMN" or c in "\u200c\u200d" or (c in INSIDE and inner):
            kept.append("'" if c == "’" else c)
        else:
            kept.append(" ")
    return " ".join("".join(kept).split())


def varied(text, language, rng):
    """One look of a source; most stay as they are."""
    chance = rng.random()
    if chance < 0.2:
        return spoken(text, language, rng.random() < 0.7) or text
    if chance < 0.3:
        return text.lower()
    if chance < 0.4:
        return text.rstrip(" .।!") or text
    return text
