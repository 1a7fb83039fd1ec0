"""Transliterates Gurmukhi for voices of other languages: to Devanagari, or to American English phones."""

import re
from dataclasses import dataclass

NUKTA, VIRAMA = "\u0a3c", "\u0a4d"
CONSONANTS = "ਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜ"
LABIALS = "ਪਫਬਭਮ"
ASPIRATED = dict(zip("ਖਘਛਝਠਢਥਧਫਭ", "ਕਗਚਜਟਡਤਦਪਬ", strict=True))  # to the plain letter
# The nearest letter for a voice that has no letters with nukta.
NEAREST = {"ਸ" + NUKTA: "ਸ਼", "ਖ" + NUKTA: "ਖ", "ਗ" + NUKTA: "ਗ", "ਜ" + NUKTA: "ਜ", "ਫ" + NUKTA: "ਫ", "ਲ" + NUKTA: "ਲ"}


def devanagari(text: str) -> str:
    """Return plain Gurmukhi text in Devanagari letters, a block that lies 0x100 lower.

    Addak doubles the consonant behind it, bindi and tippi are anusvara, and ੜ is ड़.
    """
    text = text.replace("ਸ" + NUKTA, "\ue000")
    for letter, near in NEAREST.items():
        text = text.replace(letter, near)
    text = re.sub(f"ੱ([{CONSONANTS}])", lambda m: ASPIRATED.get(m[1], m[1]) + VIRAMA + m[1], text).replace("ੱ", "")
    others = {" ": " ", "\ue000": "श", "ਂ": "ं", "ੰ": "ं", "ੜ": "\u095c"}
    return "".join(others.get(c) or chr(ord(c) - 0x100) for c in text)


VOWELS = dict(
    zip(
        "ਾਿੀੁੂੇੈੋੌਅਆਇਈਉਊਏਐਓਔ",
        "aa ih iy uh uw ey ae ow ao ah aa ih iy uh uw ey ae ow ao".split(),
        strict=True,
    )
)
PHONES = dict(
    zip(
        [*CONSONANTS, *(letter + NUKTA for letter in "ਸਖਗਜਫਲ")],
        "s,hh,k,k hh,g,g hh,ng,ch,ch hh,jh,jh hh,n,t,t hh,d,d hh,n,t,th,dh,dh hh,n,p,p hh,b,b hh,m,y,r,l,v,r,"
        "sh,k hh,g,z,f,l".split(","),
        strict=True,
    )
)
# Voiced aspirates mark a tone in Panjabi: a speaker says them unvoiced at a word's start, and plain elsewhere.
TONES = {"ਘ": ("k", "g"), "ਝ": ("ch", "jh"), "ਢ": ("t", "d"), "ਧ": ("t", "dh"), "ਭ": ("p", "b")}


@dataclass
class Syllable:
    """A letter of a word with the signs that belong to it."""

    consonant: str | None  # None: a vowel letter stands alone
    vowel: str | None  # a vowel letter or sign; "" is the inherent vowel, None is no vowel
    signs: str = ""  # bindi, tippi, addak


def syllables(word: str) -> list[Syllable]:
    """Return a word's letters in order, each with its vowel and signs."""
    out: list[Syllable] = []
    k = 0
    while k < len(word):
        c = word[k]
        if c in VOWELS and c < "ਾ":
            out.append(Syllable(None, c))
        elif c in CONSONANTS:
            if k + 1 < len(word) and word[k + 1] == NUKTA:
                k += 1
                c += NUKTA
            out.append(Syllable(c, ""))
        elif c in VOWELS and out:
            out[-1].vowel = c
        elif c == VIRAMA and out:
            out[-1].vowel = None
        elif out:
            out[-1].signs += c
        k += 1
    return out


def silent(parts: list[Syllable]) -> list[Syllable]:
    """Remove the inherent vowels that are not spoken, in place; returns the same list.

    They are those at a word's end, and those between two letters that have a vowel.
    """
    if len(parts) > 1 and parts[-1].vowel == "" and not parts[-1].signs:
        parts[-1].vowel = None
    for k in range(len(parts) - 2, 0, -1):
        before, here, after = parts[k - 1 : k + 2]
        if (
            here.vowel == ""
            and not here.signs
            and before.vowel is not None
            and after.vowel is not None
            and after.consonant
            and "ੱ" not in before.signs
        ):
            here.vowel = None
    return parts


def phones(text: str) -> str:
    """Return plain text as phones of flite's American English voices, with a pause at both ends."""
    out = ["pau"]
    for word in text.split():
        parts = silent(syllables(word))
        double = False
        for k, part in enumerate(parts):
            if part.consonant:
                sound = PHONES[part.consonant]
                if part.consonant in TONES:
                    sound = TONES[part.consonant][k > 0]
                out += sound.split()[:1] + sound.split() if double else sound.split()
            if part.vowel is not None:
                out.append(VOWELS[part.vowel] if part.vowel else "ah")
            following = parts[k + 1].consonant if k + 1 < len(parts) else None
            if "ਂ" in part.signs or "ੰ" in part.signs:
                out.append("m" if following and following[0] in LABIALS else "n")
            double = "ੱ" in part.signs
    return " ".join([*out, "pau"])
