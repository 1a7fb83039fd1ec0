"""A model in; top-1, top-3, ECE, confusion pairs, robustness and a sheet of the errors out.

Digits are read from `gurmukhi-digits` (never trained on); letters from `omniglot-gurmukhi`, all
drawers or one fold's; printed glyphs from the fonts at sizes the training does not use; pair-bindi
letters from pen strokes with a nukta added.
"""

import argparse
import collections
import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from . import conditions, deform, fonts, pen, samples, strokes
from .labels import LETTERS, PAIRS, SETS
from .pool import COMMAND
from .readers import Local, Served


def digits(data: Path):
    """(name, label index, mask) of the 420 bitmaps, ink 255."""
    with np.load(data / "handwriting/gurmukhi-digits/digits.npz") as archive:
        rows = zip(archive["name"], archive["labels"], archive["images"], archive["split"])
        return [(f"{split}/{name}", int(label), (image > 0).astype(np.uint8) * 255)
                for name, label, image, split in rows]


def letters(data: Path, fold=None):
    """The bitmaps of classes 01 to 35, all drawers or those of one fold."""
    found = []
    for label, drawer, mask, character in samples.omniglot_images(data):
        if character <= 35 and (fold is None or (drawer - 1) % 5 == fold):
            found.append((f"{label} {drawer:02}", LETTERS.index(label), mask))
    return found


def pair_bindi(data: Path, fold=None):
    """Six letters with a nukta, drawn from the drawers' strokes, and the same six without."""
    rng = np.random.default_rng(77)
    found = []
    for drawing in strokes.omniglot(data):
        if fold is not None and (drawing.origin - 1) % 5 != fold:
            continue
        for k, pair in enumerate(PAIRS):
            if pair[0] != drawing.label:
                continue
            for times in range(4):
                hand = deform.nukta(drawing.strokes, rng, pair)
                fitted = pen.fit(hand, 100, 100, 10, 0.5, False)
                mask = pen.draw(fitted, 100, 100, 4.0, rng)
                found.append((f"{pair} {drawing.origin:02} {times}", 35 + k,
                              (mask * 255).astype(np.uint8)))
    return found


def printed(data: Path, labels):
    """Every face at sizes the training does not use."""
    found = []
    for face in fonts.faces(data):
        for size in (33, 58, 101):
            found += [(f"{label} {face.stem} {size}", k, fonts.mask(face, label, size, pad=size // 8))
                      for k, label in enumerate(labels)]
    return found


def plain(mask):
    return np.repeat((255 - mask)[..., None], 3, 2)


def scores(rows, truth):
    """top-1, top-3, ECE over 15 bins, all with the number of images."""
    truth = np.array(truth)
    order = np.argsort(-rows, 1)
    right = order[:, 0] == truth
    sure = rows.max(1)
    bins = np.minimum((sure * 15).astype(int), 14)
    ece = sum(abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean()
              for b in range(15) if (bins == b).any())
    top3 = (order[:, :3] == truth[:, None]).any(1)
    return {"n": len(truth), "errors": int((~right).sum()), "top1": float(right.mean()),
            "top3": float(top3.mean()), "ece": float(ece)}


def report(reader, items, labels, sheet=None):
    images = [plain(mask) for _, _, mask in items]
    rows = reader.read(images)
    truth = [label for _, label, _ in items]
    result = scores(rows, truth)
    wrong = [k for k in range(len(items)) if rows[k].argmax() != truth[k]]
    pairs = collections.Counter((labels[truth[k]], labels[rows[k].argmax()]) for k in wrong)
    result["confusions"] = [f"{a}→{b} {n}" for (a, b), n in pairs.most_common(12)]
    result["wrong"] = [items[k][0] for k in wrong][:60]
    if sheet and wrong:
        contact_sheet(sheet, [(images[k], items[k][0]) for k in wrong[:120]])
    return result, rows


def robustness(reader, items, labels, limit=420):
    """Condition to top-1, each on the same items."""
    rng = np.random.default_rng(4)
    chosen = [items[k] for k in sorted(rng.permutation(len(items))[:limit])]
    table = {}
    for condition in conditions.CONDITIONS:
        rng = np.random.default_rng(8)
        images = [conditions.under(condition, mask, rng) for _, _, mask in chosen]
        rows = reader.read(images)
        table[condition] = scores(rows, [label for _, label, _ in chosen])["top1"]
    return {"n": len(chosen), **table}


def contact_sheet(path, pictures, cell=110, across=10):
    down = -(-len(pictures) // across)
    sheet = Image.new("RGB", (across * cell, down * (cell + 14)), "white")
    draw = ImageDraw.Draw(sheet)
    for k, (pixels, name) in enumerate(pictures):
        image = Image.fromarray(pixels).resize((cell - 8, cell - 8))
        x, y = (k % across) * cell, (k // across) * (cell + 14)
        sheet.paste(image, (x + 4, y))
        draw.text((x + 4, y + cell - 6), name.encode("ascii", "replace").decode(), fill="black")
    sheet.save(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--onnx", nargs="*", default=[])
    parser.add_argument("--features-command", default=COMMAND)
    parser.add_argument("--url")
    parser.add_argument("--key", default="")
    parser.add_argument("--fold", type=int, help="letters: only this fold's drawers")
    parser.add_argument("--quick", action="store_true", help="the handwriting alone")
    parser.add_argument("--sheet", help="PNG of the errors")
    parser.add_argument("--out", help="JSON of all figures")
    arguments = parser.parse_args()
    data, labels = Path(arguments.data), SETS[arguments.model]
    reader = Served(arguments.url, arguments.key, arguments.model) if arguments.url \
        else Local(arguments.features_command, arguments.onnx)
    is_letters = arguments.model == "letters-pa"
    items = letters(data, arguments.fold) if is_letters else digits(data)
    results = {"handwriting": report(reader, items, labels, arguments.sheet)[0]}
    if not arguments.quick:
        if is_letters:
            results["pair_bindi"] = report(reader, pair_bindi(data, arguments.fold), labels)[0]
        results["printed"] = report(reader, printed(data, labels), labels)[0]
        results["robustness"] = robustness(reader, items, labels)
    text = json.dumps(results, ensure_ascii=False, indent=1)
    print(text)
    if arguments.out:
        Path(arguments.out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
