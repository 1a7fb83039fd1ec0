"""What a translation must copy is replaced by placeholders before the network sees a text, and put back afterwards.

This file is the specification of the same function in the service; `tests/fixtures/seq2seq/placeholders.json` holds
cases made by it. A placeholder is one character of Unicode's private use area: U+E000 to U+E009 for numbers (kind
"number"), U+E010 to U+E019 for everything else ("word"). The kth item of a kind in a text gets the kth character;
items behind the tenth of a kind stay as they are. A private-use character in a text is itself copied as a word, so the
text of a user cannot be taken for a placeholder.

The text is read from left to right. At a place that no letter, digit, mark or underscore precedes, the first of these
that fits is taken, as long as its pattern allows; `spans` says it exactly.

1. web addresses, e-mail and payment addresses, host names;
2. format specifiers (%1$s), names in braces or angle brackets, private-use characters;
3. numbers with their signs, separators, currency sign before and per cent sign behind, in Latin or Gurmukhi digits. Two
   or more groups of digits with single spaces between are one number where each later group has two digits or more. A
   number with small Latin letters behind (5kg, 14th, 10am) is the number alone; with others (4G, 64GB) it is a word;
4. words of Latin letters with digits (IPv4, COVID-19);
5. names of the lexicon, the longest first;
6. in Panjabi, runs of Latin words;
7. runs of characters that neither language writes (other scripts, emoji).

A number is put back as it stood; in English always with Latin digits. A name of the lexicon is put back in the script
of the target.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

LIMIT = 10  # placeholders of a kind in one text
FIRST = {"number": 0xE000, "word": 0xE010}
RESERVED = range(0xE020, 0xE030)  # pieces without a use yet
GURMUKHI_DIGITS = str.maketrans("੦੧੨੩੪੫੬੭੮੯", "0123456789")

_D = "[0-9੦-੯]"
_LINK = r"[^\s<>\"'()\[\]{}।]"
_LATIN = r"[A-Za-z]+(?:['’&+.-][A-Za-z]+)*"
_WORDS = [
    re.compile(rf"(?:https?://|www\.){_LINK}*[A-Za-z0-9/]"),
    re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*"),
    re.compile(
        r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:com|org|net|edu|gov|io|in|uk)" rf"(?:/(?:{_LINK}*[A-Za-z0-9/])?)?"
    ),
    re.compile(r"%(?:[0-9]\$)?(?:[sdiufx@]|l?[du]|zu)(?![A-Za-z0-9])"),
    re.compile(r"\{\{[^{}\s]{1,40}\}\}|%?\{[^{}\s]{1,40}\}|</?[A-Za-z][A-Za-z0-9_]{0,40}/?>"),
    re.compile("[\ue000-\uf8ff]"),
]
CLOSED = 3
"""From this one of the patterns above on, the end is certain."""
_NUMBER = re.compile(rf"[+−-]?[₹$€£]?{_D}+(?:[.,:/–−-]{_D}+)*(?: {_D}{{2,}}(?:[.,:/–−-]{_D}+)*)*%?")
_SUFFIX = re.compile("[A-Za-z0-9]+")
_MIXED = re.compile("[A-Za-z]+-?[0-9]+[A-Za-z0-9]*(?:[.-][A-Za-z0-9]+)*")
_RUN = re.compile(rf"{_LATIN}(?: {_LATIN})*")
_FOREIGN = re.compile(
    "[^\u0000-\u024f\u02bc\u0300-\u036f\u0964\u0965\u0a00-\u0a7f\u2000-\u206f\u20a0-\u20bf\u2190-\u21ff\u2200-\u22ff"
    "\u2100-\u214f\ue000-\uf8ff]+"
)
_LETTER = re.compile("[A-Za-z\u0a00-\u0a7f]")


class Span(NamedTuple):
    """A part of a text that is copied: its place, its kind, what is put back, and what both languages call it."""

    start: int
    end: int
    kind: str
    value: str
    key: str


class Lexicon:
    """Names by their form in either language; forms are words with single spaces between."""

    LONGEST = 3  # words of a form

    def __init__(self, rows: Sequence[tuple[str, str, str]] = ()) -> None:
        """`rows` are English, Panjabi and "both", "en" (only from English) or "pa" (only from Panjabi).

        Of several rows with one form, the first is used.
        """
        self.forms: dict[str, dict[str, tuple[str, str]]] = {"en": {}, "pa": {}}
        for en, pa, way in rows:
            if way != "pa":
                self.forms["en"].setdefault(en, (pa, en.lower()))
            if way != "en":
                self.forms["pa"].setdefault(pa, (en, en.lower()))

    def find(self, text: str, start: int, language: str) -> Span | None:
        """The longest name at `start`."""
        forms = self.forms[language]
        if not forms:
            return None
        ends, end = [], start
        for _ in range(self.LONGEST):
            while end < len(text) and is_inside(text[end]):
                end += 1
            if end == start or not is_inside(text[end - 1]):
                break
            ends.append(end)
            if end >= len(text) or text[end] != " ":
                break
            end += 1
        for end in reversed(ends):
            if found := forms.get(text[start:end]):
                return Span(start, end, "word", found[0], found[1])
        return None


def is_inside(c: str) -> bool:
    """Whether the character continues a word: a letter, a digit, a mark or an underscore."""
    return c == "_" or unicodedata.category(c)[0] in "LMN"


def number(text: str, start: int, match: re.Match[str]) -> tuple[int, str]:
    """The end and the kind of a number, by what stands behind it."""
    end = match.end()
    if end < len(text) and is_inside(text[end]) and " " in match[0]:
        return start + match[0].rindex(" "), "number"
    suffix = _SUFFIX.match(text, end)
    if not suffix or text[end - 1] == "%":
        return end, "number"
    letters = suffix[0]
    if letters.isalpha() and (letters.islower() or letters in ("AM", "PM")):
        return end, "number"
    return suffix.end(), "word"


def spans(text: str, language: str, lexicon: Lexicon | None = None) -> list[Span]:
    """What is copied of a text in NFC, in order."""
    found: list[Span] = []
    at = 0
    while at < len(text):
        span = None
        if (
            not at
            or not is_inside(text[at - 1])
            or _FOREIGN.match(text, at)
            or text[at] in "{<%"
            or "\ue000" <= text[at] <= "\uf8ff"
        ):
            span = item(text, at, language, lexicon)
        if span:
            found.append(span)
        at = span.end if span else at + 1
    return found


def item(text: str, at: int, language: str, lexicon: Lexicon | None) -> Span | None:
    """What is copied at this place."""

    def word(end: int) -> Span:
        return Span(at, end, "word", text[at:end], text[at:end])

    for k, pattern in enumerate(_WORDS):
        match = pattern.match(text, at)
        # A format specifier (%s_1), a closing bracket and a private-use character need no end of a word.
        if match and (k >= CLOSED or not re.match("[A-Za-z0-9_]", text[match.end() : match.end() + 1])):
            return word(match.end())
    if match := _NUMBER.match(text, at):
        end, kind = number(text, at, match)
        if kind == "word":
            return word(end)
        value = text[at:end]
        plain = value.translate(GURMUKHI_DIGITS)
        return Span(at, end, kind, plain if language == "pa" else value, re.sub("[,−–]", "", plain))
    if match := _MIXED.match(text, at):
        return word(match.end())
    if lexicon and (named := lexicon.find(text, at, language)):
        return named
    if language == "pa" and (match := _RUN.match(text, at)):
        return word(match.end())
    if match := _FOREIGN.match(text, at):
        return word(match.end())
    return None


def placed(text: str, chosen: Sequence[tuple[Span, str]]) -> str:
    """The text with each span replaced by its placeholder; the spans are in order."""
    out, at = [], 0
    for span, placeholder in chosen:
        out += [text[at : span.start], placeholder]
        at = span.end
    return "".join([*out, text[at:]])


def mask(text: str, language: str, lexicon: Lexicon | None = None) -> tuple[str, dict[str, str]]:
    """The text with placeholders, and what each one is put back as. `text` is in NFC, `language` is "en" or "pa"."""
    counts = dict.fromkeys(FIRST, 0)
    chosen = []
    for span in spans(text, language, lexicon):
        if counts[span.kind] < LIMIT:
            chosen.append((span, chr(FIRST[span.kind] + counts[span.kind])))
            counts[span.kind] += 1
    return placed(text, chosen), {placeholder: span.value for span, placeholder in chosen}


def restore(text: str, values: dict[str, str]) -> str:
    """The text with each placeholder put back. A value that the text lacks is appended."""
    left = [value for placeholder, value in values.items() if placeholder not in text]
    return " ".join(["".join(values.get(c, c) for c in text), *left]).strip()


def apart(text: str, values: dict[str, str]) -> str:
    """The translation with a space where a value in Latin letters and Gurmukhi letters would be one word.

    A point or an underscore may stand between them.
    """
    for placeholder, value in values.items():
        if re.search("[A-Za-z]$", value):
            text = re.sub(f"({placeholder}[._]*)(?=[\u0a00-\u0a7f])", r"\1 ", text)
        if re.match("[A-Za-z]", value):
            text = re.sub(f"([\u0a00-\u0a7f][._]*)(?={placeholder})", r"\1 ", text)
    return text


def has_words(text: str) -> bool:
    """Whether anything is left to translate."""
    return bool(_LETTER.search(text))


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
    mine = spans(source, language, lexicon)
    theirs = spans(target, "pa" if language == "en" else "en", lexicon)
    taken: list[Span] = []
    out = []
    for span in mine:
        match = next((t for t in theirs if (t.kind, t.key) == (span.kind, span.key) and t not in taken), None)
        if not match and span.kind == "word" and (place := found(target, span.value, taken)):
            match = Span(*place, span.kind, span.value, span.key)
        if match and not any(t.start < match.end and match.start < t.end for t in taken):
            taken.append(match)
            out.append((span, match))
    for word in re.finditer(_LATIN, target) if language == "en" else ():
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
