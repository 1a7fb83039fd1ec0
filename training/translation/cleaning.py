"""Cleans rows of parallel text: glosses, typed dandas, names left out, tags, and rows that cannot be translations."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from . import placeholders
from .corpus import GURMUKHI, Pair

WORDS = 100  # words of one side; longer rows are left out
RATIO = 2.6  # words of one side against the other, three added to both
_GLOSS = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"\bName (\d+)\b")
_TAG = re.compile(r"<[A-Za-z_]+>")
_NOTE = re.compile(r" ?\[\d+\]")


def danda(pa: str) -> str:
    """Panjabi with its danda: `I` and `|` that end a sentence become `।`, with no space before it."""
    pa = re.sub(r"(?<=[\u0a00-\u0a7f'\"”’)]) ?[|](?=\s|$|[\"'”’])", "।", pa)
    pa = re.sub(r"(?<=[\u0a00-\u0a7f]) ?I(?=$|[\"'”’]$| [\u0a00-\u0a7f])", "।", pa)
    pa = re.sub(r"\s+([।?!,;])", r"\1", pa)
    pa = re.sub("(?<=[\u0a05-\u0a4d\u0a70\u0a71])(?=ਉੱਤੇ(?: |$))", " ", pa)
    return re.sub(r"।\s*\.$|।{2,}(?!\s*\d)", "।", pa)


def plain(text: str) -> str:
    """Text without the escapes of string files, with single spaces, in NFC, without doubled Gurmukhi marks."""
    text = html.unescape(text).replace("\\n", " ").replace("\\'", "'").replace("\\’", "’").replace('\\"', '"')
    text = unicodedata.normalize("NFC", "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Co")))
    text = re.sub("([\u0a01\u0a02\u0a3c\u0a3e-\u0a4d\u0a70\u0a71])\\1+", r"\1", text)
    return " ".join(re.sub(r" +([?!,;])(?=\s|$)", r"\1", text).split())


def unglossed(pa: str) -> str:
    """Panjabi without the Latin glosses behind its words; a gloss that no Gurmukhi word precedes stays as a word."""
    # `[x],ਸ਼ਬਦ [x]`: two ways to write one word, of which the second is kept.
    pa = re.sub(r"\[([^\[\]]*)\] ?, ?(?=[\u0a00-\u0a7f][^\[\]]*\[\1\])", "", pa)
    out, at, fresh = [], 0, False
    for match in _GLOSS.finditer(pa):
        before = pa[at : match.start()]
        out.append(before)
        # Gurmukhi since the last gloss, with nothing but a space between.
        fresh = bool(re.search(r"[\u0a00-\u0a7f\d] ?$", before))
        out.append("" if fresh else match[1])
        at = match.end()
    return " ".join("".join([*out, pa[at:]]).split())


def glosses(pa: str) -> list[str]:
    """The glosses of a Panjabi text."""
    return [gloss.strip() for gloss in _GLOSS.findall(pa) if gloss.strip()]


def names(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The English name that each `Name 12` of the rows stands for, by its number, as the glosses most often say."""
    votes: dict[str, Counter[str]] = {}
    for en, pa in rows:
        numbers, found = _NAME.findall(en), glosses(pa)
        if len(numbers) == 1 and found:
            for gloss in found:
                votes.setdefault(numbers[0], Counter())[gloss] += 1
    return {number: counts.most_common(1)[0][0] for number, counts in votes.items()}


def named(en: str, pa: str, known: dict[str, str]) -> str | None:
    """English with its names in place of `Name 12`; None where the Panjabi does not gloss that name."""
    found = set(glosses(pa))
    for number in _NAME.findall(en):
        if known.get(number) not in found:
            return None
        en = re.sub(rf"\bName {number}\b", known[number], en)
    return en


def prompt(en: str, pa: str, known: dict[str, str]) -> tuple[str, str] | None:
    """A row of the speech prompts, cleaned; None where it cannot be."""
    if "[" in en:  # a role to play, with its scene in brackets
        en, pa = (re.sub(r"[\[\]]", " ", text) for text in (en, pa))
    pa = _NOTE.sub("", pa)
    whole = named(en, pa, known)
    if whole is None:
        return None
    pa = danda(unglossed(pa)).rstrip(", ")
    whole = re.sub(r" +([.?!,;])(?=\s|$)", r"\1", whole)
    return None if re.search(r"[\[\]]", pa) else (whole, pa)


def fits(en: str, pa: str) -> bool:
    """Whether a row may be a translation, by scripts, lengths and tags."""
    if not en or not pa or GURMUKHI.search(en):
        return False
    if Counter(_TAG.findall(en)) != Counter(_TAG.findall(pa)):
        return False
    letters = placeholders.mask(pa, "pa")[0]
    if not GURMUKHI.search(letters):
        return en == pa
    a, b = len(en.split()), len(pa.split())
    return max(a, b) <= WORDS and 1 / RATIO < (a + 3) / (b + 3) < RATIO


def template(en: str, found: Sequence[str] = ()) -> str:
    """What rows of one template share: the English in lower case with numbers, tags, names and glosses masked."""
    text = _NAME.sub("§", en)
    for gloss in sorted(found, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(gloss)}(?!\w)", "§", text, flags=re.IGNORECASE)
    text = "".join(
        "§" if placeholders.FIRST["number"] <= ord(c) < placeholders.RESERVED.start else c
        for c in placeholders.mask(text, "en")[0]
    )
    text = re.sub(r"§\w+|§", "§", re.sub(r"[^\w§]+", " ", text.lower()))
    return re.sub(r"§( §)+| ?and (?=§)", "§", text).strip()


def cleaned(rows: Sequence[Pair]) -> list[tuple[Pair, str]]:
    """The rows that can be used, cleaned, each with its template. Exact duplicates are left out."""
    prompts = [(en, pa) for en, pa, source in rows if source.startswith("indicvoices")]
    known = names(prompts)
    out: dict[tuple[str, str], tuple[Pair, str]] = {}
    for en, pa, source in rows:
        en, pa = plain(en), plain(pa)
        found = glosses(pa) if source.startswith("indicvoices") else []
        shape = template(en, found)
        if source.startswith("indicvoices"):
            pair = prompt(en, pa, known)
            if pair is None:
                continue
            en, pa = pair
        else:
            pa = danda(pa)
        if fits(en, pa):
            out.setdefault((en, pa), ((en, pa, source), shape))
    return list(out.values())
