"""Reduces a text in Gurmukhi, Arabic or Latin letters to the classes of its consonants, to compare across scripts.

Vowels, h, v, y and aspiration are left out.
"""

CLASSES = (
    ("k", "ਕਖکقخkqx"),
    ("g", "ਗਘگغg"),
    ("c", "ਚਛچc"),
    ("j", "ਜਝجذزضظژjz"),
    ("t", "ਟਠਤਥتٹطةt"),
    ("d", "ਡਢਦਧدڈd"),
    ("n", "ਨਣਙਞਂੰنںنn"),
    ("p", "ਪਫپفpf"),
    ("b", "ਬਭبb"),
    ("m", "ਮمm"),
    ("r", "ਰੜرڑr"),
    ("l", "ਲلl"),
    ("s", "ਸسصثشs"),
)
CLASS = {letter: name for name, letters in CLASSES for letter in letters}


def skeleton(text: str) -> str:
    """Return the classes of a text's consonants in order; a class that repeats stands once."""
    out = ""
    for letter in text.lower():
        name = CLASS.get(letter, "")
        out += name if name != out[-1:] else ""
    return out
