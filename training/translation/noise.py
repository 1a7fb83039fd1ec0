"""Inputs without sense, to which a translation must stay sane: in one script, without loops and invented placeholders.

    python -m translation.noise --from pa --count 1000 > noise.txt
    akhar translate --from pa --to en < noise.txt > translations.txt
    python -m translation.noise --from pa --check noise.txt translations.txt

`--check` prints how many translations have each fault.
"""

import random
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import tyro

WORDS = {
    "en": "the a water house go went red seven and but who don't Harpreet zzyx".split(),
    "pa": ["ਪਾਣੀ", "ਘਰ", "ਹੈ", "ਸੀ", "ਲਾਲ", "ਸੱਤ", "ਅਤੇ", "ਪਰ", "ਕੌਣ", "ਦਾ", "ਨਹੀਂ", "ਹਰਪ੍ਰੀਤ", "ਜੀ", "ਖਗਘਙ"],
}
LETTERS = {"en": "abcdefghijklmnopqrstuvwxyz", "pa": "".join(map(chr, range(0xA05, 0xA4D)))}
SIGNS = [*".,;:!?।-'\"()[]{}<>%$₹@#/\\|~^*+=_", "😀", "東京", "Привет", "%1$s", "12", "੪੫", "a.b@c.in", "\ue000"]
WORD = re.compile(r"[\w\u0a01-\u0a75]+")  # without the range it lacks vowel signs
LONGEST = 5  # words of a unit that may be repeated
TIMES = 3  # how often in a row it makes a loop
SYLLABLES = re.compile(r"((?:[^\W\d_]|[\u0a01-\u0a75]){1,6}?)\1{3,}")
GURMUKHI = re.compile("[\u0a00-\u0a7f]")
PRIVATE = re.compile("[\ue000-\uf8ff]")


def drawn(language: str, rng: random.Random) -> str:
    """One input of at most 30 words.

    Words in any order, a word again and again, letters in any order, signs, or a mix with the other script.
    """
    kind = rng.randrange(5)
    words = WORDS[language]
    if kind == 0:
        found = rng.choices(words, k=rng.randrange(1, 30))
    elif kind == 1:
        found = [rng.choice(words)] * rng.randrange(2, 30)
    elif kind == 2:
        found = ["".join(rng.choices(LETTERS[language], k=rng.randrange(1, 12))) for _ in range(rng.randrange(1, 12))]
    elif kind == 3:
        found = rng.choices(SIGNS, k=rng.randrange(1, 15))
    else:
        found = rng.choices([*words, *WORDS["pa" if language == "en" else "en"], *SIGNS], k=rng.randrange(1, 25))
    return " ".join(found)


def loops(text: str) -> bool:
    """Whether up to `LONGEST` words stand `TIMES` times in a row, or letters of a word four times."""
    words = WORD.findall(text.lower())
    return any(
        all(words[at : at + size] == words[at + k * size : at + (k + 1) * size] for k in range(1, TIMES))
        for size in range(1, LONGEST + 1)
        for at in range(len(words) - size * TIMES + 1)
    ) or any(SYLLABLES.search(word) for word in words)


def faults(source: str, translation: str, language: str) -> list[str]:
    """What is wrong with the translation of a source in `language`."""
    found = []
    # Latin words are copied into Panjabi; Gurmukhi is never copied into English.
    latin = re.findall(r"[A-Za-z][\w.@'-]*[^\W_]|[A-Za-z]", translation)
    if GURMUKHI.search(translation) if language == "pa" else any(word not in source for word in latin):
        found.append("mixed scripts")
    if loops(translation) and not loops(source):
        found.append("loop")
    if set(PRIVATE.findall(translation)) - set(PRIVATE.findall(source)):
        found.append("placeholder")
    return found


def main(
    language: Annotated[Literal["en", "pa"], tyro.conf.arg(name="from")] = "en",
    count: int = 1000,
    check: tuple[str, str] | None = None,
) -> None:
    """Writes inputs, or checks their translations."""
    if not check:
        rng = random.Random(f"noise {language}")
        for _ in range(count):
            print(drawn(language, rng))
        return
    sources, said = (Path(path).read_text().splitlines() for path in check)
    counts = Counter(fault for a, b in zip(sources, said, strict=True) for fault in faults(a, b, language))
    print(f"{len(sources)} inputs:", dict(counts) or "no faults")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
