"""The alphabets of the acoustic models, and the conversion from text to units and back.

A unit is what CTC emits at one frame: `▁` (a space) or a letter. In Gurmukhi a letter with its nukta is one unit, and
so is a subjoined letter with its virama: the model cannot write such a sign without its letter. `language` is "pa" or
"en" everywhere.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from ..arrays import Ints

SPACE, BLANK = "▁", "<blk>"
NUKTA, VIRAMA = "\u0a3c", "\u0a4d"
GURMUKHI = "ਅਆਇਈਉਊਏਐਓਔਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜਾਿੀੁੂੇੈੋੌਂੰੱ"
COMPOSED = [c + NUKTA for c in "ਸਖਗਜਫਲ"] + [VIRAMA + c for c in "ਹਰਵ"]
SIGNS = "ਾਿੀੁੂੇੈੋੌਂੰੱ" + NUKTA + VIRAMA
ALPHABETS = {
    "pa": [SPACE, *GURMUKHI, *COMPOSED],
    "en": [SPACE, *"abcdefghijklmnopqrstuvwxyz", "'"],
}


def vocabulary(language: str) -> list[str]:
    """Return the units in the order of their ids, the blank last."""
    return [*ALPHABETS[language], BLANK]


def blank(language: str) -> int:
    """Return the blank's id, which is also the number of units."""
    return len(ALPHABETS[language])


def plain(text: str, language: str) -> str | None:
    """Return the text's words in NFC with single spaces and without punctuation, English in lower case.

    Returns None where the text is empty or holds anything outside the alphabet, such as a digit.
    """
    text = unicodedata.normalize("NFC", text)
    if language == "en":
        text = text.lower().replace("’", "'").replace("‘", "'").replace("&", " and ")
        text = re.sub(r"[.,!?;:\"“”()\[\]…—–\-]+", " ", text)
        text = " ".join(w for w in (w.strip("'") for w in text.split()) if w)
    else:
        text = re.sub("[\u200b-\u200f\u2060\ufeff\u00ad]", "", text)
        text = text.replace("ਁ", "ਂ")
        text = re.sub(r"[.,!?;:'\"‘’“”()\[\]…—–\-।॥/]+", " ", text)
        text = " ".join(text.split())
    return text if text and split(text, language) else None


PATTERN = {
    lang: re.compile("|".join(sorted(map(re.escape, units), key=len, reverse=True)))
    for lang, units in ALPHABETS.items()
}


def split(text: str, language: str) -> list[str] | None:
    """Return the units of plain text, or None where it holds something that is not a unit."""
    marked = text.replace(" ", SPACE)
    found = PATTERN[language].findall(marked)
    return found if sum(map(len, found)) == len(marked) else None


def encode(text: str, language: str) -> list[int]:
    """Return the ids of the units of plain text; raises ValueError where `split` finds something else."""
    index = {u: i for i, u in enumerate(ALPHABETS[language])}
    found = split(text, language)
    if found is None:
        raise ValueError(f"{text!r} holds something that is not a unit of {language}")
    return [index[u] for u in found]


def decode(ids: Iterable[int], language: str) -> str:
    """Return the text of units, words with single spaces; a vowel sign behind a space is put to the word before it."""
    text = "".join(ALPHABETS[language][i] for i in ids).replace(SPACE, " ")
    return " ".join(re.sub(f" +(?=[{SIGNS}])", "", text).split())


def greedy(best: Ints | Sequence[int], language: str) -> str:
    """Return the text of the best id of each frame, (frames,): repeats are merged, then blanks are dropped."""
    kept = [int(a) for k, a in enumerate(best) if a != blank(language) and (k == 0 or a != best[k - 1])]
    return decode(kept, language)
