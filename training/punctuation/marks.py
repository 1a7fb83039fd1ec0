"""Written text in; words as a recogniser gives them out, each with the marks that may follow it.

The marks behind a word are a set, because a text does not always say which one is right: an everyday request without a
final mark ends in a danda or a question mark, and a bracket stands where a speaker may make a comma. A set is the sum
of `1 << label`.
"""

import re
import unicodedata
from typing import NamedTuple

from speech.texts import numbers
from translation import variants

LABELS = ("none", "comma", "danda", "question")
"""What follows a word, in the order of the network's outputs. In English a danda is a full stop."""
NONE, COMMA, DANDA, QUESTION = (1 << k for k in range(4))
ANY = NONE | COMMA | DANDA | QUESTION
END = DANDA | QUESTION
_MARKS = dict.fromkeys("।॥!", DANDA) | {"?": QUESTION, ",": COMMA, ";": COMMA | DANDA}
_MARKS |= dict.fromkeys(":–—…()[]/", NONE | COMMA)
_ORDER = (QUESTION, DANDA, COMMA, COMMA | DANDA, NONE | COMMA, ANY, NONE)  # the first that stands behind a word counts
_SHORT = frozenset("mr mrs ms dr st no vs etc e.g i.e".split())


class Unit(NamedTuple):
    """A text that stands for itself: a sentence or a few."""

    words: tuple[str, ...]
    sets: tuple[int, ...]
    """What may follow each word."""


def said(text: str, language: str) -> str:
    """The text with its numbers in words: hours and minutes each, long numbers digit by digit."""
    digits = numbers.PA if language == "pa" else numbers.EN
    text = re.sub(r"(?<=\d),(?=\d)", "", text)
    text = variants.words(re.sub(r"(?<=\d)[.:/](?=\d)", " ", text), language)
    return re.sub(r"\d", lambda found: f" {digits[int(found[0])]} ", text)


def _spoken(text: str, k: int) -> bool:
    """Whether the character at `k` belongs to a word: a letter, mark or digit, or an apostrophe between letters."""
    inner = text[k] in "'’" and 0 < k < len(text) - 1 and text[k - 1].isalpha() and text[k + 1].isalpha()
    return inner or unicodedata.category(text[k])[0] in "LMN" or text[k] in "\u200c\u200d"


def spelt(text: str) -> list[tuple[str, str]]:
    """The words in lower case, each with all characters between it and the next word."""
    pieces: list[tuple[str, str]] = []
    for k, c in enumerate(text):
        if not _spoken(text, k):
            if pieces:
                pieces[-1] = (pieces[-1][0], pieces[-1][1] + c)
        elif pieces and not pieces[-1][1]:
            pieces[-1] = (pieces[-1][0] + c, "")
        else:
            pieces.append((c, ""))
    return [(word.lower().replace("’", "'"), rest) for word, rest in pieces]


def following(word: str, rest: str, language: str, last: bool) -> int:
    """The set of what may follow `word`, when `rest` stands behind it; 0 if `rest` says nothing at a text's end."""
    found = {_MARKS[c] for c in rest if c in _MARKS}
    if "." in rest:
        short = len(word) < 2 or word in _SHORT
        if language == "en":
            found.add(NONE if short and not last else DANDA)
        else:  # mostly abbreviations within a text
            found.add(DANDA if last else ANY)
    if " - " in rest:
        found.add(NONE | COMMA)
    return next((one for one in _ORDER if one in found), 0 if last else NONE)


def marked(text: str, language: str, end: int = 0) -> Unit | None:
    """The words of a text with the sets of what may follow; `language` is "pa" or "en".

    `end` is the set for a last word without a mark; if it is 0, such a text gives None. A comma or less at the end
    counts as no mark.
    """
    pieces = spelt(said(text, language))
    if not pieces:
        return None
    sets = [following(word, rest, language, k == len(pieces) - 1) for k, (word, rest) in enumerate(pieces)]
    if not sets[-1] or sets[-1] & NONE or sets[-1] == COMMA:
        sets[-1] = end
    return Unit(tuple(word for word, _ in pieces), tuple(sets)) if sets[-1] else None
