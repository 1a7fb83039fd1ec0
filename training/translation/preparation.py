"""Compares the program's preparation of texts for IndicTrans2 with that of its makers' IndicTransToolkit.

python -m translation.preparation --data DIR

It takes the same number of sentences of either language from the pairs of `DIR`. Three things are compared: what the
network reads without marks for what is copied, what it reads with them, and the text of what it has written.
"""

import re
import unicodedata
from collections import Counter
from functools import partial
from pathlib import Path

import tyro
from fixtures.preparation import Toolkit
from program import Stream

from .corpus import FILES, clean, lines

# Why the program's text is another one: the first that fits.
REASONS = {
    # indic-nlp-library-itt 0.1.1 has lost a level of escapes: a capital letter or digit before a colon becomes "\1".
    "the toolkit spoils what is before a colon": re.compile(r"[0-9A-Z\[\\]:|[ua7f]:"),
    "a number at the start, whose parts stay apart": re.compile(r"^[0-9]+ [,.:/] [0-9]"),
}
# Why other things are marks: the first that fits.
MARKED = {
    "the program copies format specifiers, names in braces, tags, emoji and other scripts": re.compile(
        r"%[0-9@a-z]|\{\S+\}|</?[A-Za-z]|[^\u0000-\u024f\u0964\u0965\u0a00-\u0a7f\u2000-\u2bff]"
    ),
    "the toolkit copies words with points between": re.compile(r"[^\s.]\.+[^\s.]"),
    "the toolkit copies words behind # and @": re.compile(r"[#@|]\w"),
    "the program copies a number with its sign, its currency and all its parts": re.compile(
        r"[-+−₹$€£]\d|\d[-–−/,:.]\d|\d ?%"
    ),
}
MARK = re.compile(r"< ?ID\d+ ?>")


def sentences(data: Path, n: int) -> dict[str, list[str]]:
    """`n` different sentences of each language, spread evenly over all files."""
    pairs = [line.split("\t") for name in FILES for line in lines(data / f"text/parallel/{name}.tsv.gz")]
    columns = {"en": 0, "pa": 1}
    found = {}
    for language, column in columns.items():
        texts = list(dict.fromkeys(clean(pair[column]) for pair in pairs if len(pair) > column))
        texts = [text for text in texts if text and unicodedata.is_normalized("NFC", text)]
        found[language] = texts[:: max(1, len(texts) // n)][:n]
    return found


def asked(program: Stream, language: str, step: str, text: str, **more: bool) -> str:
    """The program's text for a text, by a step that `inference/src/seq2seq/stream.rs` lists."""
    return program.ask({"step": step, "text": text, "language": language, **more})[0]["text"]


def main(data: Path, n: int = 2000, show: int = 5) -> None:
    """Prints how many of `n` sentences of each language are equal, and why the others differ.

    `show`: how many of those without a reason are printed.
    """
    toolkit, program = Toolkit(), Stream("text")
    for language, texts in sentences(data, n).items():
        ours = partial(asked, program, language)
        counts: dict[str, Counter[str]] = {kind: Counter() for kind in ("without marks", "with marks", "finished")}
        rest: list[tuple[str, str, str, str]] = []
        for text in texts:
            plain = toolkit.prepared(text, language, False)
            given = {
                "without marks": (plain, ours("prepare", text, with_marks=False)),
                "with marks": (toolkit.prepared(text, language, True), ours("prepare", text, with_marks=True)),
                "finished": (toolkit.finished(plain, language), ours("finish", plain)),
            }
            for kind, (theirs, found) in given.items():
                # The toolkit numbers the marks in any order.
                same = MARK.sub("< ID >", theirs) == MARK.sub("< ID >", found)
                seen = plain if kind == "finished" else text
                known = REASONS | MARKED if kind == "with marks" else REASONS
                reasons = (reason for reason, pattern in known.items() if pattern.search(seen))
                reason = "equal" if same else next(reasons, "unexplained")
                counts[kind][reason] += 1
                if reason == "unexplained":
                    rest.append((kind, text, theirs, found))
        for kind, counted in counts.items():
            print(f"{language}, {kind}: " + "; ".join(f"{count} {reason}" for reason, count in counted.most_common()))
        for difference in rest[:show]:
            print("  " + "\n    ".join(difference))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
