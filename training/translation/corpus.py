"""The staged text: pairs by part (train, dev, test) and single sentences of either language.

A pair is `(en, pa, source)`. Parts follow the data's own rule: SHA-1 of the lower-cased English, modulo 100, below 2
is test, below 4 is dev. The children's stories are parted by story: the last six ids are test, the two before them dev.
"""

import gzip
import hashlib
import re
import unicodedata
from pathlib import Path

# Without the file under the GPL.
FILES = ("aosp", "wikipedia-android", "mozilla-www", "mozilla-commonvoice-ui", "govuk", "pratham-stories")
STORIES_TEST, STORIES_DEV = 6, 2
GURMUKHI = re.compile("[\u0a00-\u0a7f]")


def clean(text):
    """NFC, white space folded."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (line.rstrip("\n") for line in file)


def story(source):
    """`pb:0012` and `pb-page:0012` are the same story."""
    return source.rpartition(":")[2]


def hashed(en):
    share = int(hashlib.sha1(en.lower().encode()).hexdigest(), 16) % 100
    return "test" if share < 2 else "dev" if share < 4 else "train"


def pairs(data):
    """{part: [(en, pa, source)]} of a folder that holds `text/parallel`."""
    parts = {"train": [], "dev": [], "test": []}
    for name in FILES:
        rows = [line.split("\t") for line in lines(Path(data) / "text/parallel" / f"{name}.tsv.gz")]
        ids = sorted({story(source) for _, _, source in rows}) if name == "pratham-stories" else []
        late = dict.fromkeys(ids[-STORIES_TEST:], "test")
        late.update(dict.fromkeys(ids[-STORIES_TEST - STORIES_DEV : -STORIES_TEST], "dev"))
        for en, pa, source in rows:
            part = late.get(story(source), "train") if ids else hashed(en)
            parts[part].append((clean(en), clean(pa), source))
    return parts


def bare(text):
    """Letters, marks and digits only, lower case: two texts that are bare alike say the same."""
    return " ".join("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text.lower()).split())


def single(data, parts=None):
    """{language: [sentence]}: the Common Voice prompts and the stories, without what dev and test hold."""
    folder, parts = Path(data) / "text/mono", parts or pairs(data)
    held = [pair for part in ("dev", "test") for pair in parts[part]]
    files = {"en": ("commonvoice-en",), "pa": ("commonvoice-pa", "pratham-stories-pa")}
    out = {}
    for side, language in enumerate(("en", "pa")):
        seen = {bare(pair[side]) for pair in held}
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
