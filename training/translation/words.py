"""The phrase book's files as tables, and how Panjabi nouns take their cases."""

from pathlib import Path

Forms = dict[str, str]
"""A word's forms by the suffix of a slot: "" as it stands; the rest as `nouns` and `lists` say."""
Noun = tuple[Forms, Forms, str]
"""English forms, Panjabi forms, gender ("m" or "f")."""
Listed = tuple[str, list[str]]
"""An English word and its Panjabi forms: one, or one for each gender and number."""


def sections(path: Path) -> dict[str, list[str]]:
    """The lines of a file by section.

    A section begins with `[name]`. Lines before the first one are under "". Empty lines and lines that begin with `#`
    are left out.
    """
    out: dict[str, list[str]] = {"": []}
    name = ""
    for line in path.read_text().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]") and " " not in line:
            name = line[1:-1]
            out[name] = []
        else:
            out[name].append(line)
    return out


def article(word: str) -> str:
    """The word behind "a" or "an"."""
    silent_h = word.startswith(("hour", "honest"))
    vowel = word[0].lower() in "aeiou" and not word.startswith(("uni", "one", "us"))
    return ("an " if vowel or silent_h else "a ") + word


def plural(word: str) -> str:
    """The plural of a regular English noun."""
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


def cases(word: str, gender: str) -> tuple[str, str, str]:
    """Oblique, plural and oblique plural of a regular Panjabi noun; `gender` is "m" or "f".

    Source: Bhatia, Punjabi (1993), the noun's declension.
    """
    if gender == "m":
        if word.endswith("ਆਂ"):
            return word, word, word
        if word.endswith("ਾ"):
            return word[:-1] + "ੇ", word[:-1] + "ੇ", word[:-1] + "ਿਆਂ"
        return word, word, word + ("ਆਂ" if word[-1] in "ੀੂਈਊ" else "ਾਂ")
    more = word + ("ਆਂ" if word[-1] in "ੀਈਊੂ" else "ਾਂ")
    return word, more, more


def noun(line: str) -> Noun:
    """A line of `nouns.txt`: `English/plural = Panjabi gender oblique plural oblique-plural`.

    The English plural may be missing (regular) or "-" (none). The gender is m, f, or F for a feminine noun that both
    languages use in the plural alone. The Panjabi cases may be missing (regular).

    English forms: "" singular, "a" with its article, "s" plural ("" where there is none), "g" plural where there is
    one, else singular. Panjabi forms: "" singular, "o" oblique, "s" plural, "so" oblique plural.
    """
    en, pa = line.split(" = ")
    one, _, many = en.partition("/")
    mark = next((mark for mark in (" m", " f") if mark in pa), " F")
    word, _, irregular = pa.rpartition(mark)
    gender = "m" if mark == " m" else "f"
    if irregular.strip():
        oblique, plurals, oblique_plural = irregular.split()
    else:
        oblique, plurals, oblique_plural = (word, word, word) if " F" in pa else cases(word, gender)
    many = "" if many == "-" else many or plural(one)
    english = {"": one, "a": article(one) if many else one, "s": many, "g": many or one}
    return english, {"": word, "o": oblique, "s": plurals, "so": oblique_plural}, gender


def nouns(path: Path) -> dict[str, list[Noun]]:
    """The nouns of `nouns.txt` by class."""
    return {name: [noun(line) for line in lines] for name, lines in sections(path).items() if lines}


def lists(path: Path) -> dict[str, list[Listed]]:
    """The words of `lists.txt` by class."""
    return {
        name: [(en, pa.split("|")) for en, pa in (line.split(" = ") for line in lines)]
        for name, lines in sections(path).items()
        if name
    }
