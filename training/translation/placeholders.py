"""Pairs with placeholders for training, where both texts have what a translation copies.

The program finds what is copied, as it does when it translates; `inference/src/seq2seq/placeholders.rs` says what that
is.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from program import Stream

LIMIT = 10  # placeholders of a kind in one text
FIRST = {"number": 0xE000, "word": 0xE010}
RESERVED = range(0xE020, 0xE030)  # pieces without a use yet
GURMUKHI_DIGITS = str.maketrans("੦੧੨੩੪੫੬੭੮੯", "0123456789")
_LATIN = re.compile(r"[A-Za-z]+(?:['’&+.-][A-Za-z]+)*")


class Span(NamedTuple):
    """A part of a text that is copied: its place, its kind, what is put back, and what both languages call it."""

    start: int
    end: int
    kind: str
    value: str
    key: str


class Lexicon:
    """Names by their form in either language, and the program that finds them."""

    def __init__(self, rows: Sequence[tuple[str, str, str]] = ()) -> None:
        """`rows` are English, Panjabi and "both", "en" (only from English) or "pa" (only from Panjabi).

        Of several rows with one form, the first is used.
        """
        self.stream = Stream("text")
        self.stream.ask({"step": "lexicon", "rows": "".join("\t".join(row) + "\n" for row in rows)})


@cache
def _without_names() -> Lexicon:
    return Lexicon()


def _found(
    text: str, language: str, lexicon: Lexicon | None, in_words: bool = False
) -> tuple[str, dict[str, str], list[Span]]:
    """What the program finds in a text in NFC: the text with placeholders, what each is put back as, and the items."""
    names = lexicon or _without_names()
    reply, _ = names.stream.ask({"step": "mask", "text": text, "language": language, "in_words": in_words})
    items = [span(text, language, *item) for item in reply["items"]]
    return reply["text"], dict(reply["values"]), items


def span(text: str, language: str, start: int, end: int, kind: str, value: str) -> Span:
    """An item of the program: a number's key is without its separators, and a name's is in English."""
    here = text[start:end]
    if kind == "number":
        return Span(start, end, kind, value, re.sub("[,−–]", "", here.translate(GURMUKHI_DIGITS)))
    if kind == "name":
        return Span(start, end, "word", value, (here if language == "en" else value).lower())
    return Span(start, end, kind, value, here)


def mask(
    text: str, language: str, lexicon: Lexicon | None = None, in_words: bool = False
) -> tuple[str, dict[str, str]]:
    """The text with placeholders, and what each one is put back as. `text` is in NFC, `language` is "en" or "pa".

    With `in_words`, numbers in words are replaced too, as the service does. Texts to learn from keep them.
    """
    masked, values, _ = _found(text, language, lexicon, in_words)
    return masked, values


def restore(translation: str, values: dict[str, str]) -> str:
    """The translation with each placeholder put back. A value that the translation lacks is appended."""
    reply, _ = _without_names().stream.ask(
        {"step": "restore", "translation": translation, "values": list(values.items())}
    )
    return reply["text"]


def placed(text: str, chosen: Sequence[tuple[Span, str]]) -> str:
    """The text with each span replaced by its placeholder; the spans are in order."""
    out, at = [], 0
    for span, placeholder in chosen:
        out += [text[at : span.start], placeholder]
        at = span.end
    return "".join([*out, text[at:]])


def is_inside(c: str) -> bool:
    """Whether the character continues a word: a letter, a digit, a mark or an underscore."""
    return c == "_" or unicodedata.category(c)[0] in "LMN"


def found(text: str, value: str, taken: Sequence[Span]) -> tuple[int, int] | None:
    """Where the value stands as whole words, outside of the spans that are taken."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        whole = not (start and is_inside(text[start - 1])) and not (end < len(text) and is_inside(text[end]))
        if whole and not any(span.start < end and start < span.end for span in taken):
            return start, end
        start = text.find(value, start + 1)
    return None


def paired(
    source: str,
    target: str,
    language: str,
    lexicon: Lexicon | None = None,
    also: Callable[[str], bool] = lambda _: False,
) -> list[tuple[Span, Span]]:
    """What `mask` would replace in the source, where the target has it too, in the order of the source.

    `language` is that of the source. An English source's other Latin words are taken too, where the Panjabi target has
    them and `also` says so of the word.
    """
    mine = _found(source, language, lexicon)[2]
    theirs = _found(target, "pa" if language == "en" else "en", lexicon)[2]
    taken: list[Span] = []
    out = []
    for span in mine:
        match = next((t for t in theirs if (t.kind, t.key) == (span.kind, span.key) and t not in taken), None)
        if not match and span.kind == "word" and (place := found(target, span.value, taken)):
            match = Span(*place, span.kind, span.value, span.key)
        if match and not any(t.start < match.end and match.start < t.end for t in taken):
            taken.append(match)
            out.append((span, match))
    for word in _LATIN.finditer(target) if language == "en" else ():
        place, whole = found(source, word[0], mine), found(target, word[0], taken)
        if place and whole and also(word[0]):
            span = Span(*place, "word", word[0], word[0])
            mine.append(span)
            taken.append(Span(*whole, "word", word[0], word[0]))
            out.append((span, taken[-1]))
    return sorted(out)


def masked(
    source: str,
    target: str,
    language: str,
    rng: random.Random,
    lexicon: Lexicon | None = None,
    share: float = 1.0,
    latin: float = 1.0,
) -> tuple[str, str]:
    """A pair for training: what stands in both texts is replaced. `language` is that of the source.

    The placeholders are mostly those that `mask` would give the source; one time in three others, in any order, so that
    each one is learnt. Of the names of the lexicon, `share` are replaced, and of the other Latin words that a Panjabi
    target keeps, `latin`.
    """
    left = {kind: list(range(LIMIT)) for kind in FIRST}
    if rng.random() < 1 / 3:
        for kind in FIRST:
            rng.shuffle(left[kind])
    mine, theirs = [], []
    for span, match in paired(source, target, language, lexicon, lambda _: rng.random() < latin):
        named = span.kind == "word" and span.value != source[span.start : span.end]
        if left[span.kind] and not (named and rng.random() >= share):
            placeholder = chr(FIRST[span.kind] + left[span.kind].pop(0))
            mine.append((span, placeholder))
            theirs.append((match, placeholder))
    return placed(source, mine), placed(target, sorted(theirs))
