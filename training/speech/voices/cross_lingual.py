"""Panjabi spoken by voices of other languages: each word as phones of the voice's own phone set.

The voices speak Italian, Czech, Finnish or Catalan. festival gets invented words and a lexicon with their phones, so
timing and intonation are the voice's own. Pico's voices get X-SAMPA. A sound that a language lacks becomes the nearest
one that it has; ਹ is left out where there is none.
"""

import itertools
from collections.abc import Iterator, Sequence

from ..texts.gurmukhi import ASPIRATED, LABIALS, NUKTA, TONES, silent, syllables
from . import festival

VOICES = {
    "lp_diphone": "it",
    "pc_diphone": "it",
    "czech_dita": "cs",
    "czech_krb": "cs",
    "czech_machac": "cs",
    "czech_ph": "cs",
    "suo_fi_lj_diphone": "fi",
    "hy_fi_mv_diphone": "fi",
    "upc_ca_ona_hts": "ca",
}
PHONE_SETS = {"it": "italian", "cs": "czech", "fi": "finnish", "ca": "upc_catalan"}

# A letter names a sound: the independent letter a vowel, the plain letter an aspirate, with "h" behind it.
SIGNS = dict(zip("ਾਿੀੁੂੇੈੋੌ", "ਆਇਈਉਊਏਐਓਔ", strict=True))
VOWELS = "ਅਆਇਈਉਊਏਐਓਔ"
LONG = "ਆਈਊਏਐਓਔ"
UNVOICED = dict(zip("ਗਜਡਦਬ", "ਕਚਟਤਪ", strict=True))
FAR = {"ਖ" + NUKTA: "ਖ", "ਗ" + NUKTA: "ਗ", "ਲ" + NUKTA: "ਲ"}
Sound = tuple[str, bool]  # its letter, and whether it is doubled


def table(vowels: str, consonants: str, others: str) -> dict[str, list[str]]:
    """Return the phones of each sound; the arguments name them in the order of the sounds, `+` joins two, 0 is none."""
    sounds = [*VOWELS, *"ਸਹਕਗਙਚਜਞਟਡਣਤਦਨਪਬਮਯਰਲਵੜ", "ਸ" + NUKTA, "ਜ" + NUKTA, "ਫ" + NUKTA, "h"]
    phones = vowels.split() + consonants.split() + others.split()
    return {sound: [p for p in phone.split("+") if p != "0"] for sound, phone in zip(sounds, phones, strict=True)}


SETS = {
    "it": table("a a1 i i1 u u1 e1 E1 o1 O1", "s 0 k g ng tS dZ J t d n t d n p b m j r l v r", "S z f 0"),
    "cs": table("a a: i i: u u: e: e o: o", "s h k g n* c~ dz~ n~ t d n t d n p b m j r l v r", "s~ z f h"),
    "fi": table("a a: i i: u u: e: @: o: o", "s h k g N t+s d+j n t d n t d n p b m j r l v r", "s s f h"),
    "ca": table("ax a1 i i1 u u1 e1 E1 o1 O1", "s 0 k g n t+S d+Z J t d n t d n p b m j rr l b r", "S z f 0"),
    # Pico's, in X-SAMPA
    "it-IT": table("a a: i i: u u: e: e o: o", "s 0 k g N tS dZ J t d n t d n p b m i r l v r", "S z f 0"),
    "de-DE": table("a a: I i: U u: e: E o: O", "s h k g N tS dZ n t d n t d n p b m j R l v R", "S z f h"),
    "es-ES": table("a a: i i: u u: e: e o: o", "s x k g N tS dZ J t d n t d n p b m j rr l b r", "tS s f 0"),
    # Kokoro's, which has them all
    "ipa": table("ʌ aː ɪ iː ʊ uː eː ɛː oː ɔː", "s h k ɡ ŋ c ɟ ɲ ʈ ɖ ɳ t d n p b m j ɾ l ʋ ɽ", "ʃ z f ʰ"),
}


def sounds(word: str) -> list[Sound]:
    """Return the sounds of one word as it is read."""
    out: list[Sound] = []
    double = False
    parts = silent(syllables(word))
    for k, part in enumerate(parts):
        if part.consonant:
            consonant, breath = FAR.get(part.consonant, part.consonant), False
            if consonant in TONES:  # unvoiced at a word's start, else plain
                plain = ASPIRATED[consonant]
                consonant = UNVOICED[plain] if k == 0 else plain
            elif consonant in ASPIRATED:
                consonant, breath = ASPIRATED[consonant], True
            out.append((consonant, double))
            if breath:
                out.append(("h", False))
        if part.vowel is not None:
            out.append((SIGNS.get(part.vowel, part.vowel) or "ਅ", False))
        following = parts[k + 1].consonant if k + 1 < len(parts) else None
        if "ਂ" in part.signs or "ੰ" in part.signs:
            near = "ਮ" if following and following[0] in LABIALS else "ਨ"
            out.append(("ਙ" if following and following[0] in "ਕਖਗਘ" else near, False))
        double = "ੱ" in part.signs
    return out


def grouped(word: str) -> list[list[Sound]]:
    """Return a word's sounds by syllable; of consonants between two vowels the last goes to the second."""
    said = sounds(word)
    nuclei = [k for k, (sound, _) in enumerate(said) if sound in VOWELS]
    if len(nuclei) < 2:
        return [said] if said else []
    cuts = [0]
    for before, after in itertools.pairwise(nuclei):
        cut = max(before + 1, after - 1)
        if said[cut][0] == "h":
            cut = max(before + 1, cut - 1)
        cuts.append(cut)
    return [said[a:b] for a, b in itertools.pairwise([*cuts, len(said)])]


def stressed(groups: Sequence[Sequence[Sound]]) -> int:
    """Return the index of the stressed syllable: the first one with a long vowel, else 0."""
    return next((k for k, group in enumerate(groups) if any(s in LONG for s, _ in group)), 0)


def phones(group: Sequence[Sound], language: str) -> list[str]:
    """Return the phones of one syllable in the set SETS[language]."""
    names = SETS[language]
    out: list[str] = []
    for sound, double in group:
        some = names[sound]
        if double and some:
            if language == "fi" and len(some) == 1 and some[0] in "ptkslmnrjv":
                some = [some[0] + ":"]
            else:
                some = some[:1] + some
        out += some
    return out


def spelt(text: str, language: str) -> Iterator[list[tuple[str, bool]]]:
    """Yield for each word its syllables in the phones of a language, each with whether it is the stressed one."""
    for word in text.split():
        groups = grouped(word)
        at = stressed(groups)
        yield [("".join(phones(group, language)), k == at) for k, group in enumerate(groups)]


def sampa(text: str, voice: str) -> list[str]:
    """Return the X-SAMPA of each word for one of Pico's voices."""
    return [".".join('"' * mark + syllable for syllable, mark in word if syllable) for word in spelt(text, voice)]


def entry(name: str, word: str, language: str) -> str:
    """Return festival's lexicon entry, in Scheme, that makes `name` sound like `word`."""
    groups = grouped(word)
    at, last = stressed(groups), ""
    said: list[str] = []
    for k, group in enumerate(groups):
        some = phones(group, language)
        if language == "cs" and some and last[:1] in tuple("aeiou") and some[0][0] in "aeiou":
            some = ["j", *some]  # these voices have no long vowel next to a vowel
        if some:
            said.append(f"(({' '.join(some)}) {int(k == at)})")
            last = some[-1]
    return f'(lex.add.entry \'("{name}" nil ({" ".join(said)})))'


def name(number: int) -> str:
    """Return an invented word of Latin letters for a number."""
    return "x" + "".join("abcdefghij"[int(c)] for c in str(number))


def say(texts: Sequence[str], voice: str, stretches: Sequence[float]) -> list[festival.Spoken | None]:
    """Speak texts in Gurmukhi; the arguments and the result are those of `festival.say`."""
    language = VOICES[voice]
    setup = (
        f'(lex.create "{language}made") (lex.set.phoneset "{PHONE_SETS[language]}") (lex.select "{language}made")'
        "(set! token_to_words (lambda (token name) (list name)))"
    )
    words = [text.split() for text in texts]
    entries = ["\n".join(entry(name(k), word, language) for k, word in enumerate(some)) for some in words]
    named = [" ".join(name(k) for k in range(len(some))) for some in words]
    return festival.say(named, voice, stretches, setup, entries)
