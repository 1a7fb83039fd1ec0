"""What the acoustic models write: an alphabet for each language, text to units and back.

A unit is what CTC emits at one frame: `▁` (a space), or a letter. In Gurmukhi a letter with its nukta and a
subjoined letter with its virama are one unit each, so that no sign can come out without what it belongs to.
"""

import re
import unicodedata

import numpy as np

SPACE, BLANK = "▁", "<blk>"
NUKTA, VIRAMA = "\u0a3c", "\u0a4d"
GURMUKHI = "ਅਆਇਈਉਊਏਐਓਔਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜਾਿੀੁੂੇੈੋੌਂੰੱ"
COMPOSED = [c + NUKTA for c in "ਸਖਗਜਫਲ"] + [VIRAMA + c for c in "ਹਰਵ"]
SIGNS = "ਾਿੀੁੂੇੈੋੌਂੰੱ" + NUKTA + VIRAMA
ALPHABETS = {
    "pa": [SPACE, *GURMUKHI, *COMPOSED],
    "en": [SPACE, *"abcdefghijklmnopqrstuvwxyz", "'"],
}


def vocabulary(language):
    """Unit by id; the blank last."""
    return ALPHABETS[language] + [BLANK]


def blank(language):
    return len(ALPHABETS[language])


def plain(text, language):
    """NFC words of the alphabet with single spaces, or None where something else is written (a digit, Latin)."""
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


def split(text, language):
    """The units of plain text, or None where it holds something that is none."""
    marked = text.replace(" ", SPACE)
    found = PATTERN[language].findall(marked)
    return found if sum(map(len, found)) == len(marked) else None


def encode(text, language):
    index = {u: i for i, u in enumerate(ALPHABETS[language])}
    return [index[u] for u in split(text, language)]


def decode(ids, language):
    """Words with single spaces; a sign that stands alone belongs to the word before it."""
    text = "".join(ALPHABETS[language][i] for i in ids).replace(SPACE, " ")
    return " ".join(re.sub(f" +(?=[{SIGNS}])", "", text).split())


def greedy(best, language):
    """Best id of each frame, (frames,), to text: repeats folded, blanks dropped."""
    kept = [a for k, a in enumerate(best) if a != blank(language) and (k == 0 or a != best[k - 1])]
    return decode(kept, language)


def confidence(log_probs, language):
    """Mean of the highest probability of each unit of the greedy path, spaces left out; 0 where there is none."""
    best, peaks, start = log_probs.argmax(1), [], 0
    for end in range(1, len(best) + 1):
        if end == len(best) or best[end] != best[start]:
            if best[start] not in (0, blank(language)):
                peaks.append(np.exp(log_probs[start:end, best[start]].max()))
            start = end
    return float(np.mean(peaks)) if peaks else 0.0
