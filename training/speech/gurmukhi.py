"""Gurmukhi to what voices of other languages can read: Devanagari or Telugu letters, American English phones."""

import re

NUKTA, VIRAMA = "\u0a3c", "\u0a4d"
CONSONANTS = "ਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜ"
LABIALS = "ਪਫਬਭਮ"
ASPIRATED = dict(zip("ਖਘਛਝਠਢਥਧਫਭ", "ਕਗਚਜਟਡਤਦਪਬ"))
# A voice that lacks the nukta's letters reads the nearest it has.
NEAREST = {"ਸ" + NUKTA: "ਸ਼", "ਖ" + NUKTA: "ਖ", "ਗ" + NUKTA: "ਗ", "ਜ" + NUKTA: "ਜ", "ਫ" + NUKTA: "ਫ", "ਲ" + NUKTA: "ਲ"}


def to_script(text, shift, nasal, flap):
    """Letters moved by `shift` code points; addak doubles the consonant behind it."""
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


def devanagari(text):
    return to_script(text, -0x100, "ं", "\u095c")


def telugu(text):
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
# Voiced aspirates are tones in Panjabi: at a word's start they are heard unvoiced, else plain.
TONES = {"ਘ": ("k", "g"), "ਝ": ("ch", "jh"), "ਢ": ("t", "d"), "ਧ": ("t", "dh"), "ਭ": ("p", "b")}


def syllables(word):
    """[consonant or None, vowel sign or '' (inherent) or None (none), signs]: one word's letters in order."""
    out, k = [], 0
    while k < len(word):
        c = word[k]
        if c in VOWELS and c < "ਾ":
            out.append([None, c, ""])
        elif c in CONSONANTS:
            if k + 1 < len(word) and word[k + 1] == NUKTA:
                k += 1
                c += NUKTA
            out.append([c, "", ""])
        elif c in VOWELS and out:
            out[-1][1] = c
        elif c == VIRAMA and out:
            out[-1][1] = None
        elif out:
            out[-1][2] += c
        k += 1
    return out


def silent(parts):
    """Drops the inherent vowel at a word's end and between a vowel's syllable and one with a vowel sign."""
    if len(parts) > 1 and parts[-1][1] == "" and not parts[-1][2]:
        parts[-1][1] = None
    for k in range(len(parts) - 2, 0, -1):
        if (
            parts[k][1] == ""
            and not parts[k][2]
            and parts[k - 1][1] is not None
            and parts[k + 1][1] is not None
            and parts[k + 1][0]
            and "ੱ" not in parts[k - 1][2]
        ):
            parts[k][1] = None
    return parts


def phones(text):
    """For flite: phones of its American English voices, a pause at both ends."""
    out = ["pau"]
    for word in text.split():
        parts = silent(syllables(word))
        double = False
        for k, (consonant, vowel, signs) in enumerate(parts):
            if consonant:
                sound = PHONES[consonant]
                if consonant in TONES:
                    sound = TONES[consonant][k > 0]
                out += sound.split()[:1] + sound.split() if double else sound.split()
            if vowel is not None:
                out.append(VOWELS[vowel] if vowel else "ah")
            following = parts[k + 1][0] if k + 1 < len(parts) else None
            if "ਂ" in signs or "ੰ" in signs:
                out.append("m" if following and following[0] in LABIALS else "n")
            double = "ੱ" in signs
    return " ".join(out + ["pau"])
