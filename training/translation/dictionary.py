"""The words that translations may have, as the service reads them.

    python -m translation.dictionary --data DATA --pairs WORK/pairs --out WORK/words.fst

The words are those of unilex (Panjabi, seen at least twice) and of CMUdict (English), those that at least two training
pairs have, numbers, and the names of the lexicon. Those of more pairs are marked: they are translated, never spelled as
a name is.
"""

import unicodedata
from collections import Counter
from pathlib import Path

import tyro
from program import Stream
from speech.texts import numbers

from . import corpus, names, prepared

FEWEST, COMMON = 2, 4  # pairs that must have a word; pairs of a word that is translated
SINGLE = 33  # the count that unilex gives a form that it saw once


def words(text: str) -> list[str]:
    """The words of a text, as the service tells them apart: runs of letters and marks, in small letters."""
    return "".join(c if unicodedata.category(c)[0] in "LM" else " " for c in corpus.clean(text)).lower().split()


def known(data: Path, pairs: Path) -> dict[str, bool]:
    """All words, and whether each is translated and never spelled."""
    folder = data / "text/lexicon"
    panjabi = [line.split("\t") for line in corpus.lines(folder / "unilex-pa-frequency.tsv.gz")]
    texts = [form for form, count in panjabi if int(count) > SINGLE]
    texts += [line.split()[0] for line in corpus.lines(folder / "cmudict-en-us.dict.gz")]
    texts += [*numbers.PA, *numbers.EN, *numbers.EN_TENS, *(text for row in names.rows() for text in row[:2])]
    shown = Counter(word for pair in prepared.read(pairs)["train"] for word in {*words(pair[0]), *words(pair[1])})
    found = {word for text in texts for word in words(text)} | {word for word, n in shown.items() if n >= FEWEST}
    return {word: shown[word] >= COMMON for word in found}


def main(data: Path, pairs: Path, out: Path) -> None:
    """Writes the words."""
    found = known(data, pairs)
    rows = "".join(f"{word}\t\n" if found[word] else f"{word}\n" for word in sorted(found, key=str.encode))
    Stream("text").ask({"step": "words", "rows": rows, "path": str(out.resolve())})


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
