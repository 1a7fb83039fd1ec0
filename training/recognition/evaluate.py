"""Models in; their whole table out, with the cards, the manifests' metrics and sheets of the errors.

`--all` measures both shipped files, and with `--folds DIR` the networks DIR/0.onnx, 1, 2, 4 that
were trained without one fold's drawers. Those are not shipped: without the option their figures are
taken from `notes/letters-pa-folds.json`, which the last run with it wrote. `--url` sends every
picture of the shipped files' measurements through the HTTP service and writes nothing but the sheets.
"""

import argparse
import collections
import hashlib
import json
from pathlib import Path

import numpy as np
from manifests import replace
from PIL import Image, ImageDraw

from . import card, conditions, testsets
from .labels import SETS
from .manifest import manifest
from .pool import COMMAND
from .readers import Local, Served

HERE = Path(__file__).resolve().parents[1]
FOLDS = (0, 1, 2, 4)  # the drawers of fold 3 are kept apart
FOLD_FIGURES = HERE / "notes/letters-pa-folds.json"


def scores(rows, truth):
    """top-1, top-3 and the expected calibration error over 15 bins, with the number of images."""
    truth = np.array(truth)
    order = np.argsort(-rows, 1)
    right = order[:, 0] == truth
    sure = rows.max(1)
    bins = np.minimum((sure * 15).astype(int), 14)
    ece = sum(
        abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean()
        for b in range(15)
        if (bins == b).any()
    )
    top3 = (order[:, :3] == truth[:, None]).any(1)
    return {
        "n": len(truth),
        "errors": int((~right).sum()),
        "top1": float(right.mean()),
        "errors3": int((~top3).sum()),
        "top3": float(top3.mean()),
        "ece": float(ece),
    }


class Reading:
    """Pictures with what a model made of them; readings of several folds add up."""

    def __init__(self, items=(), rows=None):
        self.items, self.rows = list(items), rows

    def __add__(self, other):
        if self.rows is None:
            return other
        return Reading(self.items + other.items, np.concatenate([self.rows, other.rows]))

    def figures(self, labels):
        truth = [label for _, label, _ in self.items]
        pairs = collections.Counter((labels[truth[k]], labels[self.rows[k].argmax()]) for k in self.wrong())
        return {**scores(self.rows, truth), "confusions": [f"{a}→{b} {n}" for (a, b), n in pairs.most_common(20)]}

    def wrong(self):
        return [k for k, (_, label, _) in enumerate(self.items) if self.rows[k].argmax() != label]

    def sheet(self, path, labels):
        """A PNG of the errors: name, what was read and how surely. None without errors."""
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


def contact_sheet(path, pictures, cell=110, across=10):
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


def read(reader, items):
    return Reading(items, reader.read([testsets.plain(mask) for _, _, mask in items]))


def robustness(reader, items, limit=420):
    """Condition to a Reading, each of the same items."""
    rng = np.random.default_rng(4)
    chosen = [items[k] for k in sorted(rng.permutation(len(items))[:limit])]
    table = {}
    for condition in conditions.CONDITIONS:
        rng = np.random.default_rng(8)
        images = [conditions.under(condition, mask, rng) for _, _, mask in chosen]
        table[condition] = Reading(chosen, reader.read(images))
    return table


def unlike(reader, items):
    """How surely pictures that are none of the labels are read."""
    best = read(reader, items).rows.max(1)
    return {
        "n": len(items),
        "median": float(np.median(best)),
        "above_half": float((best > 0.5).mean()),
        "above_nine_tenths": float((best > 0.9).mean()),
    }


def handwriting(readers, items_of, labels, sheets, name):
    """Figures, per part and together, of parts that each have a reader; and the robustness table.

    `readers`: part to its reader; `items_of`: part to its pictures. Also the Reading of all parts.
    """
    whole, parts, table = Reading(), {}, collections.defaultdict(Reading)
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


def digits_table(data, reader, sheets):
    labels = SETS["digits-pa"]
    results, _ = handwriting({"all": reader}, lambda _: testsets.digits(data), labels, sheets, "digits-pa")
    return results


def folds_table(data, readers, sheets):
    """Letters of drawers that the network reading them was not trained on."""
    labels = SETS["letters-pa"]
    results, base = handwriting(readers, lambda fold: testsets.letters(data, fold), labels, sheets, "letters-pa-folds")
    pairs = Reading()
    for fold, reader in readers.items():
        pairs = pairs + read(reader, testsets.pair_bindi(data, fold))
    if sheets:
        pairs.sheet(sheets / "letters-pa-pair-bindi.png", labels)
    return results | {"pair_bindi": pairs.figures(labels), "labels41": (base + pairs).figures(labels)}


def shipped_table(data, model, reader, sheets):
    """What the shipped file alone shows: print, and pictures that are none of its labels."""
    labels = SETS[model]
    printed = read(reader, testsets.printed(data, labels))
    if sheets:
        printed.sheet(sheets / f"{model}-printed.png", labels)
    other = testsets.letters(data) if model == "digits-pa" else testsets.digits(data)
    results = {
        "printed": printed.figures(labels),
        "scribbles": unlike(reader, testsets.scribbles()),
        "other_set": unlike(reader, other),
    }
    if model == "letters-pa":
        seen = read(reader, testsets.letters(data) + testsets.pair_bindi(data))
        results["seen"] = seen.figures(labels)
    return results


def a_line_each(figures):
    """JSON with one line a key."""
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in figures.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(model, results, folder):
    """The card, and the manifest's metrics with the digest of the file that is there."""
    text, metrics = card.written(model, results, (HERE / f"notes/{model}.md").read_text("utf-8"))
    replace(folder / f"cards/{model}.md", text.encode())
    digest = hashlib.sha256((folder / f"weights/{model}.onnx").read_bytes()).hexdigest()
    replace(folder / f"{model}.toml", manifest(model, digest, metrics).encode())


def everything(arguments):
    data, folder = Path(arguments.data), Path(arguments.models_dir)
    sheets = Path(arguments.sheets) if arguments.sheets else None

    def local(path):
        return Local(arguments.features_command, [path])

    for model in arguments.models:
        reader = (
            Served(arguments.url, arguments.key, model) if arguments.url else local(folder / f"weights/{model}.onnx")
        )
        results = shipped_table(data, model, reader, sheets)
        if model == "digits-pa":
            results |= digits_table(data, reader, sheets)
        elif arguments.folds and not arguments.url:
            readers = {
                fold: local(Path(arguments.folds) / f"{fold}.onnx")
                for fold in FOLDS
                if (Path(arguments.folds) / f"{fold}.onnx").exists()
            }
            held_out = folds_table(data, readers, sheets)
            results |= held_out
            FOLD_FIGURES.write_text(a_line_each(held_out), "utf-8")
        elif FOLD_FIGURES.exists() and not arguments.url:
            results |= json.loads(FOLD_FIGURES.read_text("utf-8"))
        print("\n".join(["", f"# {model}", "", *card.tables(model, results)]), flush=True)
        if not (arguments.url or arguments.dry):
            write(model, results, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="both models")
    parser.add_argument("--data", required=True)
    parser.add_argument("--models", nargs="*", default=[], choices=list(SETS), help="these alone")
    parser.add_argument("--models-dir", default=str(HERE.parent / "models"), help="the folder of the manifests")
    parser.add_argument("--folds", help="folder of the networks without one fold: 0.onnx, 1.onnx, …")
    parser.add_argument("--features-command", default=COMMAND)
    parser.add_argument("--url", help="measure through the service")
    parser.add_argument("--key", default="")
    parser.add_argument("--sheets", help="folder for pictures of the errors; never commit it")
    parser.add_argument("--dry", action="store_true", help="print only; leave cards and manifests")
    arguments = parser.parse_args()
    if arguments.all:
        arguments.models = list(SETS)
    if not arguments.models:
        parser.error("--all or --models")
    everything(arguments)


if __name__ == "__main__":
    main()
