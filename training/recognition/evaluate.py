"""Models in; all their figures out, with the cards, the manifests' metrics and pictures of the errors.

Both shipped files are measured, and with `--folds DIR` also the networks DIR/0.onnx, 1, 2, 4, each of which was
trained without the drawers of its fold. Those are not shipped: without the option their figures are read from
`notes/letters-pa-folds.json`, which the last run with it wrote. `--url` sends every picture of the shipped files'
measurements through the HTTP service and writes nothing but the pictures of the errors.
"""

import collections
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import cards
import numpy as np
import tyro
from figures import Figures
from manifests import MODELS, replace
from PIL import Image, ImageDraw

from . import conditions, folds, testsets
from .arrays import Float32, Picture
from .labels import SETS
from .metrics import scores
from .readers import Local, Recogniser, Served
from .testsets import Item

Part = TypeVar("Part", int, str)

FOLD_FIGURES = cards.figures_path("letters-pa-folds")


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

    def figures(self, labels: Sequence[str]) -> Figures:
        """Scores and confusions; every item has a label."""
        truth = [label for _, label, _ in self.items]
        pairs = collections.Counter((labels[truth[k]], labels[self.rows[k].argmax()]) for k in self.wrong())
        confusions = [f"{a}→{b} {n}" for (a, b), n in pairs.most_common(20)]
        return {**scores(self.rows, truth), "confusions": confusions}

    def wrong(self) -> list[int]:
        """The numbers of the pictures whose best label is not theirs."""
        return [k for k, (_, label, _) in enumerate(self.items) if self.rows[k].argmax() != label]

    def sheet(self, path: Path, labels: Sequence[str]) -> None:
        """Writes a PNG of the first 150 errors with what was read and its score, and prints them; none without errors.

        The numbers below a picture are its label's index and the one that was read.
        """
        pictures = []
        for k in self.wrong()[:150]:
            name, truth, mask = self.items[k]
            read = int(self.rows[k].argmax())
            pictures.append(
                (testsets.plain(mask), f"{name.split(' ', 1)[-1]}\n{truth}>{read} {self.rows[k][read]:.2f}")
            )
            print(
                f"  {path.stem}: {name}: {labels[truth]} read as {labels[read]} "
                f"({self.rows[k][read]:.2f}; right {self.rows[k][truth]:.2f})"
            )
        if pictures:
            contact_sheet(path, pictures)


def contact_sheet(path: Path, pictures: Sequence[tuple[Picture, str]], cell: int = 110, across: int = 10) -> None:
    """Writes a PNG of pictures with a text below each, `across` in a row, each `cell` pixels wide."""
    path.parent.mkdir(parents=True, exist_ok=True)
    down = -(-len(pictures) // across)
    sheet = Image.new("RGB", (across * cell, down * (cell + 26)), "white")
    draw = ImageDraw.Draw(sheet)
    for k, (pixels, name) in enumerate(pictures):
        image = Image.fromarray(pixels).resize((cell - 8, cell - 8))
        x, y = (k % across) * cell, (k // across) * (cell + 26)
        sheet.paste(image, (x + 4, y))
        draw.text((x + 4, y + cell - 6), name.encode("ascii", "replace").decode(), fill="black")
    sheet.save(path)


def read(reader: Recogniser, items: Sequence[Item]) -> Reading:
    """What a model makes of the items in black on white."""
    return Reading(items, reader.read([testsets.plain(mask) for _, _, mask in items]))


def robustness(reader: Recogniser, items: Sequence[Item], limit: int = 420) -> dict[str, Reading]:
    """Condition to the reading of at most `limit` items, the same for every condition."""
    rng = np.random.default_rng(4)
    chosen = [items[k] for k in sorted(rng.permutation(len(items))[:limit])]
    table = {}
    for condition in conditions.CONDITIONS:
        rng = np.random.default_rng(8)
        images = [conditions.under(condition, mask, rng) for _, _, mask in chosen]
        table[condition] = Reading(chosen, reader.read(images))
    return table


def unlike(reader: Recogniser, items: Sequence[Item]) -> Figures:
    """The best scores of pictures that are none of the labels."""
    best = read(reader, items).rows.max(1)
    return {
        "n": len(items),
        "median": float(np.median(best)),
        "above_half": float((best > 0.5).mean()),
        "above_nine_tenths": float((best > 0.9).mean()),
    }


def handwriting(
    readers: Mapping[Part, Recogniser],
    items_of: Callable[[Part], Sequence[Item]],
    labels: Sequence[str],
    sheets: Path | None,
    name: str,
) -> tuple[Figures, Reading]:
    """Figures of handwriting, by part and together, its robustness table, and the reading of all parts.

    `readers`: part to the model that reads it; `items_of`: part to its pictures; `sheets`: the folder for pictures of
    the errors, whose names begin with `name`.
    """
    whole, parts = Reading(), {}
    table: dict[str, Reading] = collections.defaultdict(Reading)
    for part, reader in readers.items():
        items = items_of(part)
        reading = read(reader, items)
        parts[str(part)] = reading.figures(labels)
        whole = whole + reading
        for condition, one in robustness(reader, items).items():
            table[condition] = table[condition] + one
    if sheets:
        whole.sheet(sheets / f"{name}.png", labels)
        table["rotation"].sheet(sheets / f"{name}-rotation.png", labels)
    return {
        "handwriting": whole.figures(labels),
        "parts": parts,
        "robustness": {c: r.figures(labels) for c, r in table.items()},
    }, whole


def digits_table(data: Path, reader: Recogniser, sheets: Path | None) -> Figures:
    """The figures of handwritten digits."""
    labels = SETS["digits-pa"]
    results, _ = handwriting({"all": reader}, lambda _: testsets.digits(data), labels, sheets, "digits-pa")
    return results


def folds_table(data: Path, readers: Mapping[int, Recogniser], sheets: Path | None) -> Figures:
    """The figures of letters, each read by the network that was trained without its drawer; `readers`: by fold."""
    labels = SETS["letters-pa"]
    results, base = handwriting(readers, lambda fold: testsets.letters(data, fold), labels, sheets, "letters-pa-folds")
    pairs = Reading()
    for fold, reader in readers.items():
        pairs = pairs + read(reader, testsets.pair_bindi(data, fold))
    if sheets:
        pairs.sheet(sheets / "letters-pa-pair-bindi.png", labels)
    return results | {"pair_bindi": pairs.figures(labels), "labels41": (base + pairs).figures(labels)}


def shipped_table(data: Path, model: str, reader: Recogniser, sheets: Path | None) -> Figures:
    """The figures that need the shipped file alone: print, and pictures that are none of its labels."""
    labels = SETS[model]
    printed = read(reader, testsets.printed(data, labels))
    if sheets:
        printed.sheet(sheets / f"{model}-printed.png", labels)
    other = testsets.letters(data) if model == "digits-pa" else testsets.digits(data)
    results: Figures = {
        "printed": printed.figures(labels),
        "scribbles": unlike(reader, testsets.scribbles()),
        "other_set": unlike(reader, other),
    }
    if model == "letters-pa":
        seen = read(reader, testsets.letters(data) + testsets.pair_bindi(data))
        results["seen"] = seen.figures(labels)
    return results


def a_line_each(figures: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8 with one line a key."""
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in figures.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def folds_figures(data: Path, networks: Path | None, sheets: Path | None) -> Figures:
    """The figures of the folds' networks in the folder `networks`: measured and stored, without it the stored ones."""
    if not networks:
        return dict(json.loads(FOLD_FIGURES.read_text("utf-8")))
    paths = {fold: networks / f"{fold}.onnx" for fold in folds.MEASURED}
    readers = {fold: Local([path]) for fold, path in paths.items() if path.exists()}
    results = folds_table(data, readers, sheets)
    replace(FOLD_FIGURES, a_line_each(results))
    return results


def main(
    data: Path,
    models: tuple[str, ...] = tuple(SETS),
    models_dir: Path = MODELS,
    folds: Path | None = None,
    url: str = "",
    key: str = "",
    sheets: Path | None = None,
    dry: bool = False,
) -> None:
    """Measures the models, prints their tables and writes what the options ask for."""
    for model in models:
        reader: Recogniser = Served(url, key, model) if url else Local([models_dir / f"weights/{model}.onnx"])
        results = shipped_table(data, model, reader, sheets)
        if model == "digits-pa":
            results |= digits_table(data, reader, sheets)
        figures = a_line_each(results)
        if model == "letters-pa":
            results |= folds_figures(data, folds, sheets)
        print(cards.text(model, results, models_dir).split("\n## Data\n")[0], flush=True)
        if not (url or dry):
            replace(cards.figures_path(model), figures)
            cards.write(model, models_dir)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
