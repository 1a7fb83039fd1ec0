"""The pairs as training takes them: cleaned, split, without misaligned rows, with few rows of one template.

    python -m translation.prepared --data DATA --out WORK/pairs

writes `train.tsv`, `dev.tsv` and `test.tsv` (English, Panjabi, source), which `read` reads.

A row's part is that of `corpus.hashed`, by its English as it is in the data, and for the stories that of its story.
Rows that are made from templates (`SLOTTED`) have a part by their template too: one template in fifty is for test and
one for dev, with all its rows. Of the other templates, a row is in training if its own part says so, and otherwise in
none. A row of another source is left out of training if test or dev has a row with its template.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import tyro

from . import alignment, cleaning, corpus
from .corpus import Pair

SLOTTED = ("indicvoices:grocery", "indicvoices:digital", "indicvoices:gov")
CAP = 12  # rows of one template
LEAST = -2.6  # `alignment.scores` below which a row of at least `WORDS` words is taken to be misaligned
WORDS = 4
PARTS = ("train", "dev", "test")


def slot(source: str) -> bool:
    """Whether the row is a value for a template's slot."""
    return source.endswith("-slot")


def by_template(template: str) -> str:
    """The part of a template: "train", "dev" or "test"."""
    return corpus.hashed(f"template {template}")


def part(pair: Pair, template: str, own: str) -> str | None:
    """The part of a row whose own part is `own`; None where it belongs to none."""
    if not pair[2].startswith(SLOTTED) or slot(pair[2]) or template == "§":
        return own
    shared = by_template(template)
    if shared == "train":
        return "train" if own == "train" else None
    return shared


def capped(rows: Sequence[tuple[Pair, str]]) -> list[tuple[Pair, str]]:
    """At most `CAP` rows of each template: those whose English has the lowest hashes. A lone slot is no template."""
    rows = sorted(rows, key=lambda row: hashlib.sha1(row[0][0].encode()).hexdigest())
    seen: Counter[str] = Counter()
    out = []
    for pair, template in rows:
        seen[template] += 1
        if template == "§" or seen[template] <= CAP:
            out.append((pair, template))
    return out


def raw(data: str | Path) -> list[tuple[Pair, str]]:
    """The rows of all files as they are, with their own part."""
    out = []
    for name in corpus.FILES:
        rows = [line.split("\t") for line in corpus.lines(Path(data) / "text/parallel" / f"{name}.tsv.gz")]
        late = corpus.late({source for _, _, source in rows}) if name == "pratham-stories" else None
        for en, pa, source in rows:
            own = corpus.hashed(en) if late is None else late.get(corpus.story(source), "train")
            out.append(((en, pa, source), own))
    return out


def pairs(data: str | Path) -> dict[str, list[Pair]]:
    """The pairs by part."""
    rows = raw(data)
    split: dict[str, list[tuple[Pair, str]]] = {name: [] for name in PARTS}
    for own in PARTS:
        for pair, template in cleaning.cleaned([row for row, theirs in rows if theirs == own]):
            if name := part(pair, template, own):
                split[name].append((pair, template))
    split = {name: capped(found) for name, found in split.items()}
    held = {template for name in ("dev", "test") for _, template in split[name]} - {"§", ""}
    english = {pair[0].lower() for name in ("dev", "test") for pair, _ in split[name]}
    kept = [row[0] for row in split["train"] if row[1] not in held and row[0][0].lower() not in english]
    scores = alignment.scores([pair[:2] for pair in kept])
    whole = [
        pair
        for pair, score in zip(kept, scores, strict=True)
        if score >= LEAST or len(pair[0].split()) < WORDS or pair[2].startswith("pb")
    ]
    return {"train": whole, **{name: [pair for pair, _ in split[name]] for name in ("dev", "test")}}


def write(parts: dict[str, list[Pair]], folder: str | Path) -> None:
    """Writes the parts as files of `folder`."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        (Path(folder) / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))


def read(folder: str | Path) -> dict[str, list[Pair]]:
    """What `write` wrote."""
    out: dict[str, list[Pair]] = {}
    for name in PARTS:
        lines = (Path(folder) / f"{name}.tsv").read_text().splitlines()
        out[name] = [(en, pa, source) for en, pa, source in (line.split("\t") for line in lines)]
    return out


def main(data: Path, out: Path) -> None:
    """Prepares the pairs and prints how many each part has of each source."""
    parts = pairs(data)
    write(parts, out)
    for name, rows in parts.items():
        print(name, len(rows), dict(Counter(source for _, _, source in rows).most_common()))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
