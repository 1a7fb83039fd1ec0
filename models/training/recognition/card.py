"""The JSON files of evaluate in; the model's card and the manifest's metrics out."""

import argparse
import json
from pathlib import Path

from .labels import SETS

TITLES = {"digits-pa": "Gurmukhi digits ੦–੯", "letters-pa": "Gurmukhi alphabet: 35 letters and 6 pair-bindi letters"}
DATA = """| data | used for | licence |
|---|---|---|
| omniglot-gurmukhi (Lake, Salakhutdinov and Tenenbaum, Science 350, 2015; strokes by way of sketch-rnn-datasets) | {omniglot} | MIT |
| Gurmukhi typefaces: Anek, Noto Sans and Serif, Mukta Mahee, Baloo Paaji 2, Langar, Tiro, Lohit | training: print, and centre lines redrawn as pen strokes | OFL 1.1 |
| `recognition/templates.json`: pen strokes written for this project | training and the test pictures | MIT OR Apache-2.0 |
| gurmukhi-digits (420 bitmaps, 1-bit, stretched to 32 x 32) | {digits} | none stated |"""


def pooled(reports):
    """Folds added up: counts are exact, ECE is the mean weighted by images."""
    n = sum(r["n"] for r in reports)
    errors = sum(r["errors"] for r in reports)
    mean = {k: sum(r[k] * r["n"] for r in reports) / n for k in ("top3", "ece")}
    confusions = [c for r in reports for c in r["confusions"]]
    return {"n": n, "errors": errors, "top1": 1 - errors / n, **mean, "confusions": confusions}


def line(name, r):
    return (f"| {name} | {r['n']} | {r['n'] - r['errors']} | {100 * r['top1']:.2f} % | "
            f"{100 * r['top3']:.2f} % | {r['ece']:.3f} |")


def conditions(reports):
    """Rows of the robustness table: condition, top-1, drop from clean in points."""
    n = sum(r["n"] for r in reports)
    mean = {k: sum(r[k] * r["n"] for r in reports) / n for k in reports[0] if k != "n"}
    rows = [f"| {k} | {100 * v:.1f} % | {100 * (mean['clean'] - v):+.1f} |" for k, v in mean.items()]
    return n, mean, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, choices=list(SETS))
    parser.add_argument("--whole", required=True, help="JSON of the shipped file's evaluation")
    parser.add_argument("--folds", nargs="*", default=[], help="letters: JSON of each fold's network")
    parser.add_argument("--notes", required=True, help="markdown: known failures, written by hand")
    parser.add_argument("--card", required=True)
    parser.add_argument("--metrics", required=True)
    arguments = parser.parse_args()
    whole = json.loads(Path(arguments.whole).read_text())
    folds = [json.loads(Path(p).read_text()) for p in arguments.folds]
    is_letters = arguments.model == "letters-pa"
    unseen = folds or [whole]
    reading = pooled([f["handwriting"] for f in unseen])
    table = [line("handwriting, drawers held out" if is_letters else "gurmukhi-digits", reading)]
    metrics = {"dev_top1": reading["top1"], "dev_top3": reading["top3"], "dev_ece": reading["ece"],
               "dev_images": reading["n"]}
    if is_letters:
        pairs = pooled([f["pair_bindi"] for f in unseen])
        both = pooled([reading, pairs])
        table += [line("pair-bindi, synthetic, drawers held out", pairs), line("all 41 labels", both)]
        metrics |= {"pair_bindi_top1": pairs["top1"], "labels41_top1": both["top1"]}
    table.append(line("printed, all faces, sizes 33, 58, 101", whole["printed"]))
    metrics["printed_top1"] = whole["printed"]["top1"]
    n, mean, rows = conditions([f["robustness"] for f in unseen])
    worst = min(v for v in mean.values())
    metrics["robustness_worst_drop"] = mean["clean"] - worst
    uses = {"omniglot": "training, and evaluation by held-out drawers" if is_letters else "not used",
            "digits": "not used" if is_letters else "evaluation only: never training, never calibration"}
    text = [f"# {arguments.model}: {TITLES[arguments.model]}", "",
            "A small residual convolutional network over a 48 x 48 square of ink coverage "
            "(`models/src/ink`). Licence: MIT OR Apache-2.0.", "", "## Data", "",
            DATA.format(**uses), "", "## Figures", "",
            "| what | images | right | top-1 | top-3 | ECE |", "|---|---|---|---|---|---|", *table, "",
            "Confusions (right → read, times): " + (", ".join(reading["confusions"]) or "none"), "",
            "## Robustness", "",
            f"The same {n} handwritten characters under each condition; the last column is points lost.",
            "", "| condition | top-1 | drop |", "|---|---|---|", *rows, "",
            Path(arguments.notes).read_text().strip(), ""]
    Path(arguments.card).parent.mkdir(parents=True, exist_ok=True)
    Path(arguments.card).write_text("\n".join(text), encoding="utf-8")
    rounded = {k: round(v, 4) for k, v in metrics.items()}
    Path(arguments.metrics).write_text(json.dumps(rounded), encoding="utf-8")


if __name__ == "__main__":
    main()
