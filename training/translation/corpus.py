"""The text to learn from: pairs by part (train, dev, test), and single sentences of either language.

A pair is `(en, pa, source)`. The parts follow the data's own rule: the SHA-1 of the lower-cased English, modulo 100,
is below 2 for test and below 4 for dev. The children's stories are split by story: the last six ids are test, the two
before them dev.
"""

import gzip
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

Pair = tuple[str, str, str]
"""English, Panjabi, source: the data set, for the stories `pb:` or `pb-page:` with the story's id."""

# Without the file under the GPL.
FILES = tuple(
    (
        "aosp wikipedia-android mozilla-www mozilla-commonvoice-ui govuk pratham-stories indicvoices-prompts "
        "aosp-lineage mozilla-android nhs-simple sunbird-wikiedu"
    ).split()
)
STORIES_TEST, STORIES_DEV = 6, 2
GURMUKHI = re.compile("[\u0a00-\u0a7f]")


def clean(text: str) -> str:
    """The text in NFC, each run of white space as one space, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def lines(path: Path) -> Iterator[str]:
    """The lines of a gzipped UTF-8 file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (line.rstrip("\n") for line in file)


def story(source: str) -> str:
    """The story's id: `pb:0012` and `pb-page:0012` are the same story."""
    return source.rpartition(":")[2]


def hashed(en: str) -> str:
    """The part of a pair that is no story, by its English side: "train", "dev" or "test"."""
    share = int(hashlib.sha1(en.lower().encode()).hexdigest(), 16) % 100
    return "test" if share < 2 else "dev" if share < 4 else "train"


def late(sources: Iterable[str]) -> dict[str, str]:
    """The stories of test and dev by id; the others are for training."""
    ids = sorted({story(source) for source in sources})
    held = dict.fromkeys(ids[-STORIES_TEST:], "test")
    held.update(dict.fromkeys(ids[-STORIES_TEST - STORIES_DEV : -STORIES_TEST], "dev"))
    return held


def bare(text: str) -> str:
    """Letters, marks and digits alone, in lower case; two texts that say the same in other punctuation become equal."""
    return " ".join("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text.lower()).split())


def single(data: str | Path, parts: dict[str, list[Pair]]) -> dict[str, list[str]]:
    """Sentences by language: the Common Voice prompts and the stories, without what dev and test hold.

    `parts` is what `prepared.pairs` gave for the same folder.
    """
    folder = Path(data) / "text/mono"
    held = [pair for part in ("dev", "test") for pair in parts[part]]
    files = {"en": ("commonvoice-en",), "pa": ("commonvoice-pa", "pratham-stories-pa")}
    out = {}
    for side, language in enumerate(("en", "pa")):
        seen = {bare(pair[side]) for pair in held}
        # A sentence of a story may be a part of a held-out page.
        pages = " | ".join(f" {text} " for text in seen if text.count(" ") > 12)
        texts = dict.fromkeys(clean(line) for name in files[language] for line in lines(folder / f"{name}.txt.gz"))
        out[language] = [
            text
            for text in texts
            if text
            and bare(text) not in seen
            and not (len(text) > 12 and f" {bare(text)} " in pages)
            and bool(GURMUKHI.search(text)) == (language == "pa")
        ]
    return out
