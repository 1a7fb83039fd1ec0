"""A text as written in; the same with errors as a recogniser makes them out.

Letters become others that sound alike, or are lost or added, and words are cut, joined or lost. The marks stay
where they were: a lost word leaves its mark to the word before it.
"""

import random

from .marks import NONE, Unit

ALIKE = (
    *("ਕਖਗਘ", "ਚਛਜਝ", "ਟਠਡਢ", "ਤਥਦਧ", "ਪਫਬਭ", "ਨਣੰਂ", "ਰੜਲ", "ਸਹ", "ਯਵ", "ਿੀੇੈ", "ੁੂੋੌ", "ਾੈੌਹ", "ਅਆਏਐ", "ਉਊਓਔ", "ਇਈ"),
    *("aeiou", "bp", "dt", "gkcq", "szx", "vwf", "mn", "rl", "jy"),
)
_ALIKE = {c: group.replace(c, "") for group in ALIKE for c in group}
_LOST = "ੱੰ਼੍ਂ"  # signs that are lost more often than letters
CUT = 0.15  # of the rate of wrong letters: the rate at which a word is cut, joined to the next or lost


def misspelt(word: str, rate: float, rng: random.Random) -> str:
    """A word in which the share `rate` of the letters is wrong; at least one letter is left."""
    out = []
    for c in word:
        if rng.random() >= (2 * rate if c in _LOST else rate):
            out.append(c)
            continue
        kind = rng.random()
        if kind < 0.3 or c in _LOST:
            continue
        near = _ALIKE.get(c, "")
        out.append(rng.choice(near) if near else c)
        if kind > 0.85:
            out.append(rng.choice(word))
    return "".join(out) or word


def disturbed(unit: Unit, rate: float, rng: random.Random) -> Unit:
    """The unit with the share `rate` of its letters wrong, and words cut, joined and lost; `rate` is above 0."""
    words: list[str] = []
    sets: list[int] = []
    for word, found in zip(unit.words, unit.sets, strict=True):
        chance = rng.random() / (CUT * rate)
        joined = words and sets[-1] == NONE
        if chance < 1 and joined:  # lost
            sets[-1] = found
        elif chance < 2 and joined:
            words[-1] += misspelt(word, rate, rng)
            sets[-1] = found
        elif chance < 3 and len(word) > 4:
            at = rng.randrange(2, len(word) - 1)
            words += [misspelt(word[:at], rate, rng), misspelt(word[at:], rate, rng)]
            sets += [NONE, found]
        else:
            words.append(misspelt(word, rate, rng))
            sets.append(found)
    return Unit(tuple(words), tuple(sets))
