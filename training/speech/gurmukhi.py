"""Transliterates Gurmukhi for voices of other languages: to Devanagari, to Telugu, or to American English phones."""

import re
from dataclasses import dataclass

NUKTA, VIRAMA = "\u0a3c", "\u0a4d"
CONSONANTS = "ਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜ"
LABIALS = "ਪਫਬਭਮ"
ASPIRATED = dict(zip("ਖਘਛਝਠਢਥਧਫਭ", "ਕਗਚਜਟਡਤਦਪਬ", strict=True))  # to the plain letter
# The nearest letter for a voice that has no letters with nukta.
NEAREST = {"ਸ" + NUKTA: "ਸ਼", "ਖ" + NUKTA: "ਖ", "ਗ" + NUKTA: "ਗ", "ਜ" + NUKTA: "ਜ", "ਫ" + NUKTA: "ਫ", "ਲ" + NUKTA: "ਲ"}


def to_script(text: str, shift: int, nasal: str, flap: str) -> str:
    """Move letters by `shift` code points into another Indic block; addak doubles the consonant behind it.

    `nasal` stands for bindi and tippi, `flap` for ੜ.
    """
    text = text.replace("ਸ" + NUKTA, "\ue000")
    for letter, near in NEAREST.items():
        text = text.replace(letter, near)
    text = re.sub(f"ੱ([{CONSONANTS}])", lambda m: ASPIRATED.get(m[1], m[1]) + VIRAMA + m[1], text).replace("ੱ", "")
    out = []
    for c in text:
        if c == " ":
            out.append(c)
        elif c == "\ue000":
            out.append(chr(0x0A36 + shift))
        elif c in "ਂੰ":
            out.append(nasal)
        elif c == "ੜ":
            out.append(flap)
        else:
            out.append(chr(ord(c) + shift))
    return "".join(out)


def devanagari(text: str) -> str:
    """Return plain Gurmukhi text in Devanagari letters."""
    return to_script(text, -0x100, "ं", "\u095c")


def telugu(text: str) -> str:
    """Return plain Gurmukhi text in Telugu letters."""
    return to_script(text, 0x200, "ం", "డ")


VOWELS = {
    "ਾ": "aa",
    "ਿ": "ih",
    "ੀ": "iy",
    "ੁ": "uh",
    "ੂ": "uw",
    "ੇ": "ey",
    "ੈ": "ae",
    "ੋ": "ow",
    "ੌ": "ao",
    "ਅ": "ah",
    "ਆ": "aa",
    "ਇ": "ih",
    "ਈ": "iy",
    "ਉ": "uh",
    "ਊ": "uw",
    "ਏ": "ey",
    "ਐ": "ae",
    "ਓ": "ow",
    "ਔ": "ao",
}
PHONES = {
    "ਸ": "s",
    "ਹ": "hh",
    "ਕ": "k",
    "ਖ": "k hh",
    "ਗ": "g",
    "ਘ": "g hh",
    "ਙ": "ng",
    "ਚ": "ch",
    "ਛ": "ch hh",
    "ਜ": "jh",
    "ਝ": "jh hh",
    "ਞ": "n",
    "ਟ": "t",
    "ਠ": "t hh",
    "ਡ": "d",
    "ਢ": "d hh",
    "ਣ": "n",
    "ਤ": "t",
    "ਥ": "th",
    "ਦ": "dh",
    "ਧ": "dh hh",
    "ਨ": "n",
    "ਪ": "p",
    "ਫ": "p hh",
    "ਬ": "b",
    "ਭ": "b hh",
    "ਮ": "m",
    "ਯ": "y",
    "ਰ": "r",
    "ਲ": "l",
    "ਵ": "v",
    "ੜ": "r",
    "ਸ" + NUKTA: "sh",
    "ਖ" + NUKTA: "k hh",
    "ਗ" + NUKTA: "g",
    "ਜ" + NUKTA: "z",
    "ਫ" + NUKTA: "f",
    "ਲ" + NUKTA: "l",
}
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
