"""The phrase book's files as tables, and how Panjabi nouns take their cases."""

from pathlib import Path


def sections(path):
    """{section: [line]}; lines before any `[section]` are in ""; `#` begins a comment."""
    out, name = {"": []}, ""
    for line in Path(path).read_text().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]") and " " not in line:
            name = line[1:-1]
            out[name] = []
        else:
            out[name].append(line)
    return out


def article(word):
    hour = word.startswith(("hour", "honest"))
    return (
        "an " if (word[0].lower() in "aeiou" and not word.startswith(("uni", "one", "us"))) or hour else "a "
    ) + word


def plural(word):
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


def cases(word, gender):
    """Oblique, plural, oblique plural. Regular nouns: Bhatia, Punjabi (1993), the noun's declension."""
    if gender == "m":
        if word.endswith("ਆਂ"):
            return word, word, word
        if word.endswith("ਾ"):
            return word[:-1] + "ੇ", word[:-1] + "ੇ", word[:-1] + "ਿਆਂ"
        return word, word, word + ("ਆਂ" if word[-1] in "ੀੂਈਊ" else "ਾਂ")
    more = word + ("ਆਂ" if word[-1] in "ੀਈਊੂ" else "ਾਂ")
    return word, more, more


def nouns(path):
    """{class: [(English forms, Panjabi forms, gender)]}; forms by suffix: "", a, s, g, and "", o, s, so."""
    out = {}
    for name, lines in sections(path).items():
        for line in lines:
            en, pa = line.split(" = ")
            one, _, many = en.partition("/")
            word, _, rest = (
                pa.rpartition(" m") if " m" in pa else pa.rpartition(" f") if " f" in pa else pa.rpartition(" F")
            )
            many_only = " F" in pa  # a plural in both languages
            gender = "m" if " m" in pa else "f"
            oblique, plurals, oblique_plural = (
                rest.split() if rest.strip() else ((word, word, word) if many_only else cases(word, gender))
            )
            many = "" if many == "-" else many or plural(one)
            english = {"": one, "a": article(one) if many else one, "s": many, "g": many or one}
            out.setdefault(name, []).append(
                (english, {"": word, "o": oblique, "s": plurals, "so": oblique_plural}, gender)
            )
    return out


def lists(path):
    """{class: [(English, [Panjabi forms])]}."""
    return {
        name: [(en, pa.split("|")) for en, pa in (line.split(" = ") for line in lines)]
        for name, lines in sections(path).items()
        if name
    }
