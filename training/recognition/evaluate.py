"""Models in; the tables of their cards out, as Markdown, with the confusions and every error.

Both shipped files are measured, and with `--folds DIR` also the networks DIR/0.onnx, 1, 2, 4, each of which was trained
without the drawers of its fold; these are not shipped. `--url` sends every picture of the shipped files' measurements
through the HTTP service.
"""

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import tyro
from figures import percent, wilson
from manifests import MODELS

from . import conditions, testsets
from .arrays import Float32
from .folds import MEASURED
from .labels import SETS
from .metrics import scores
from .readers import Local, Recogniser, Served
from .testsets import Item

Part = TypeVar("Part", int, str)

READ = ("what", "images", "top-1 right", "top-1", "95 % interval", "top-3 right", "top-3", "ECE")
CHANGED = ("condition", "right", "top-1", "drop")
UNLIKE = ("what", "pictures", "median", "above 0.5", "above 0.9")


class Reading:
    """Pictures with the probabilities that a model gave them; readings of several folds add up.

    `rows`: (n, labels), one for each of the `items`.
    """

    def __init__(self, items: Iterable[Item] = (), rows: Float32 | None = None) -> None:
        self.items = list(items)
        self.rows: Float32 = np.zeros((0, 0), np.float32) if rows is None else rows

    def __add__(self, other: "Reading") -> "Reading":
        if not self.items:
            return other
        return Reading(self.items + other.items, np.concatenate([self.rows, other.rows]))

    def cells(self, what: str) -> list[object]:
        """The row of a table READ; every item has a label."""
        found = scores(self.rows, [label for _, label, _ in self.items])
        n, right = found["n"], found["n"] - found["errors"]
        low, high = wilson(right, n)
        interval = f"{100 * low:.1f}–{100 * high:.1f}"
        three = n - found["errors3"], percent(found["top3"])
        return [what, n, right, percent(found["top1"]), interval, *three, f"{found['ece']:.3f}"]

    def wrong(self) -> list[int]:
        """The numbers of the pictures whose best label is not theirs."""
        return [k for k, (_, label, _) in enumerate(self.items) if self.rows[k].argmax() != label]

    def errors(self, labels: Sequence[str]) -> str:
        """What was read as what how often, and a line for each error."""
        pairs = collections.Counter((labels[self.items[k][1]], labels[self.rows[k].argmax()]) for k in self.wrong())
        lines = ["Confusions (right → read, times): " + ", ".join(f"{a}→{b} {n}" for (a, b), n in pairs.most_common())]
        for k in self.wrong():
            name, truth, _ = self.items[k]
            row, read = self.rows[k], int(self.rows[k].argmax())
            lines.append(f"  {name}: {labels[truth]} read as {labels[read]} ({row[read]:.2f}; right {row[truth]:.2f})")
        return "\n".join(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def read(reader: Recogniser, items: Sequence[Item]) -> Reading:
    """What a model makes of the items in black on white."""
    return Reading(items, reader.read([testsets.plain(mask) for _, _, mask in items]))


def robustness(reader: Recogniser, items: Sequence[Item], limit: int = 420) -> dict[str, Reading]:
    """Condition to the reading of at most `limit` items, the same for every condition."""
    rng = np.random.default_rng(4)
    chosen = [items[k] for k in sorted(rng.permutation(len(items))[:limit])]
    found = {}
    for condition in conditions.CONDITIONS:
        rng = np.random.default_rng(8)
        images = [conditions.under(condition, mask, rng) for _, _, mask in chosen]
        found[condition] = Reading(chosen, reader.read(images))
    return found


def unlike(reader: Recogniser, what: str, items: Sequence[Item]) -> list[object]:
    """The row of a table UNLIKE: the best scores of pictures that are none of the labels."""
    best = read(reader, items).rows.max(1)
    shares = (percent(float((best > bound).mean()), 1) for bound in (0.5, 0.9))
    return [what, len(items), f"{np.median(best):.2f}", *shares]


def handwriting(
    readers: Mapping[Part, Recogniser], items_of: Callable[[Part], Sequence[Item]]
) -> tuple[dict[Part, Reading], dict[str, Reading]]:
    """The readings of handwriting by part, and those of all parts by condition.

    `readers`: part to the model that reads it; `items_of`: part to its pictures.
    """
    parts = {}
    changed: dict[str, Reading] = collections.defaultdict(Reading)
    for part, reader in readers.items():
        items = items_of(part)
        parts[part] = read(reader, items)
        for condition, one in robustness(reader, items).items():
            changed[condition] = changed[condition] + one
    return parts, changed


def drops(changed: Mapping[str, Reading]) -> list[list[object]]:
    """The rows of a table CHANGED: the loss is in percentage points."""
    right = {condition: 1 - len(one.wrong()) / len(one.items) for condition, one in changed.items()}
    return [
        [c, len(one.items) - len(one.wrong()), percent(right[c], 1), f"{100 * (right['clean'] - right[c]):+.1f}"]
        for c, one in changed.items()
    ]


def print_folds(data: Path, networks: Path) -> None:
    """Prints the tables of letters, each read by the network of `networks` that was trained without its drawer."""
    labels = SETS["letters-pa"]
    paths = {fold: networks / f"{fold}.onnx" for fold in MEASURED}
    readers: dict[int, Recogniser] = {fold: Local([path]) for fold, path in paths.items() if path.exists()}
    parts, changed = handwriting(readers, lambda fold: testsets.letters(data, fold))
    base, pairs = sum(parts.values(), Reading()), Reading()
    for fold, reader in readers.items():
        pairs = pairs + read(reader, testsets.pair_bindi(data, fold))
    rows = [(base + pairs).cells("all 41 labels, drawers held out"), base.cells("35 letters, drawers held out")]
    rows += [one.cells(f"… fold {fold}") for fold, one in parts.items()]
    rows.append(pairs.cells("6 pair-bindi letters, synthetic, drawers held out"))
    print(table(READ, rows), base.errors(labels), pairs.errors(labels), table(CHANGED, drops(changed)), sep="\n\n")


def print_shipped(data: Path, model: str, reader: Recogniser) -> None:
    """Prints the tables of a shipped file; for letters, those of drawers that it was trained on."""
    labels, digits, letters = SETS[model], testsets.digits(data), testsets.letters(data)
    changed: dict[str, Reading] = {}
    if model == "digits-pa":
        parts, changed = handwriting({"gurmukhi-digits": reader}, lambda _: digits)
        other = "handwritten letters", letters
    else:
        seen = letters + testsets.pair_bindi(data)
        parts, other = {"all 41 labels, drawers seen in training": read(reader, seen)}, ("handwritten digits", digits)
    parts["printed, all typefaces"] = read(reader, testsets.printed(data, labels))
    blocks = [f"# {model}", table(READ, [one.cells(what) for what, one in parts.items()])]
    blocks += [one.errors(labels) for one in parts.values()]
    if changed:
        blocks.append(table(CHANGED, drops(changed)))
    unlikes = (("scribbles", testsets.scribbles()), other)
    blocks.append(table(UNLIKE, [unlike(reader, what, items) for what, items in unlikes]))
    print(*blocks, "", sep="\n\n", flush=True)


def main(
    data: Path,
    models: tuple[str, ...] = tuple(SETS),
    models_dir: Path = MODELS,
    folds: Path | None = None,
    url: str = "",
    key: str = "",
) -> None:
    """Measures the models and prints their tables."""
    for model in models:
        print_shipped(data, model, Served(url, key, model) if url else Local([models_dir / f"weights/{model}.onnx"]))
        if model == "letters-pa" and folds:
            print_folds(data, folds)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
