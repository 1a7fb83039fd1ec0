"""A recogniser's figures in; its card and the manifest's metrics out.

    python -m recognition.card --models-dir ../models

writes both cards, and the metrics of both manifests, from the figures that `recognition.evaluate` stored in `notes/`
and from the words in `notes/<model>.md`. It needs neither the data nor the folds' networks.
"""

import argparse
import hashlib
import json
import textwrap
from pathlib import Path
from typing import cast

from manifests import replace

from .labels import OPERATIONS, SETS
from .manifest import manifest
from .metrics import Figures, Results, Unlike, percent, wilson

NOTES = Path(__file__).resolve().parents[1] / "notes"
TITLES = {"digits-pa": "Gurmukhi digits ੦–੯", "letters-pa": "Gurmukhi alphabet: 35 letters and 6 pair-bindi letters"}
PURPOSE = {
    "digits-pa": "The model reads a picture of one Gurmukhi digit, handwritten or printed. It gives a score for each "
    "of the ten digits ੦–੯.",
    "letters-pa": "The model reads a picture of one Gurmukhi letter, handwritten or printed. It gives a score for each "
    "of 41 labels: the 35 letters, and 6 pair-bindi letters, which are letters with a dot such as ਸ਼.",
}
DATA = [
    "| data | used for | licence |",
    "|---|---|---|",
    "| omniglot-gurmukhi (Lake, Salakhutdinov and Tenenbaum, Science 350, 2015; strokes from sketch-rnn-datasets)"
    ", 16 people | {omniglot} | MIT |",
    "| Gurmukhi typefaces: Anek, Noto Sans and Serif, Mukta Mahee, Baloo Paaji 2, Langar, Tiro, Lohit | training: "
    "print, and centre lines redrawn as pen strokes | OFL 1.1 |",
    "| `recognition/templates.json`: pen strokes written for this project | training and the test pictures | "
    "MIT OR Apache-2.0 |",
    "| gurmukhi-digits, 420 bitmaps, 1-bit, stretched to 32 x 32 | {digits} | none stated |",
]
USES = {
    "digits-pa": {
        "omniglot": "training, as pictures that show no digit",
        "digits": "evaluation only: never training, never calibration",
    },
    "letters-pa": {
        "omniglot": "training; evaluation and calibration on people who are held out of training",
        "digits": "evaluation only, as pictures that show no letter",
    },
}


def wrapped(text: str) -> str:
    """A paragraph in lines of at most 120 characters."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def interval(figures: Figures) -> str:
    """The 95 % interval of top-1, in percent."""
    low, high = wilson(figures["n"] - figures["errors"], figures["n"])
    return f"{100 * low:.1f}–{100 * high:.1f}"


def line(name: str, figures: Figures) -> str:
    """A row of the table of figures."""
    n = figures["n"]
    return (
        f"| {name} | {n} | {n - figures['errors']} | {percent(figures['top1'])} | {interval(figures)} | "
        f"{n - figures['errors3']} | {percent(figures['top3'])} | {figures['ece']:.3f} |"
    )


def accuracy(model: str, results: Results) -> list[str]:
    """The table of figures as Markdown lines: the whole set first, then its parts."""
    rows = [
        "| what | images | top-1 right | top-1 | 95 % interval | top-3 right | top-3 | ECE |",
        "|---|---|---|---|---|---|---|---|",
    ]
    if model == "digits-pa":
        if "handwriting" in results:
            rows.append(line("gurmukhi-digits", results["handwriting"]))
    elif "handwriting" in results:
        rows.append(line("all 41 labels, drawers held out", results["labels41"]))
        rows.append(line("35 letters, drawers held out", results["handwriting"]))
        rows += [line(f"… fold {fold}", figures) for fold, figures in results["parts"].items()]
        rows.append(line("6 pair-bindi letters, synthetic, drawers held out", results["pair_bindi"]))
    if "seen" in results:
        rows.append(line("all 41 labels, drawers seen in training (shipped file)", results["seen"]))
    rows.append(line("printed, all typefaces, at 33, 58 and 101 pixels (shipped file)", results["printed"]))
    return rows


def confusions(model: str, results: Results) -> list[str]:
    """Which labels were read as which, as Markdown lines."""
    rows = ["Confusions (right → read, times): " + (", ".join(results["handwriting"]["confusions"]) or "none") + "."]
    if model == "letters-pa":
        rows += ["Of the pair-bindi pictures: " + (", ".join(results["pair_bindi"]["confusions"]) or "none") + "."]
    return rows


def robustness(results: Results) -> list[str]:
    """The robustness table as Markdown lines."""
    figures = results["robustness"]
    clean = figures["clean"]
    text = (
        f"The same {clean['n']} handwritten characters were changed in each of these ways and read again; "
        "`training/recognition/conditions.py` defines the conditions. `lined` and `squared` are paper with printed "
        "lines or squares, and in `bleed` writing from the back of the paper shows through. Every picture is scaled "
        "again for this test, so `clean` may differ a little from the table above. The last column is the loss of "
        "top-1 in percentage points. A negative loss means that more pictures were right."
    )
    return [
        *["## Robustness", "", wrapped(text), ""],
        *["| condition | right | top-1 | drop |", "|---|---|---|---|"],
        *[
            f"| {c} | {r['n'] - r['errors']} | {percent(r['top1'], 1)} | {100 * (clean['top1'] - r['top1']):+.1f} |"
            for c, r in figures.items()
        ],
    ]


def unlike(name: str, figures: Unlike) -> str:
    """A row of the table of pictures that are none of the labels."""
    return (
        f"| {name} | {figures['n']} | {figures['median']:.2f} | {percent(figures['above_half'], 1)} | "
        f"{percent(figures['above_nine_tenths'], 1)} |"
    )


def tables(model: str, results: Results) -> list[str]:
    """All figures as Markdown lines."""
    terms = (
        "Top-1 is the share of pictures for which the label with the best score is right. Top-3 is the share for which "
        "the right label is among the three best. ECE is the expected calibration error, the mean distance between "
        "score and accuracy; 0 is best."
    )
    if model == "letters-pa":
        terms += (
            " A drawer is a person who drew letters of the data set. A fold is a group of drawers; the network that "
            "read their letters was trained without them."
        )
    rows = [*["## Figures", "", wrapped(terms), ""], *[*accuracy(model, results), ""]]
    if "handwriting" in results:
        rows += [*confusions(model, results), "", *robustness(results), ""]
    text = (
        "The model gives a label to every picture that has ink in it, even if the picture shows none of the labels. "
        "The table shows the best score that the shipped file gives to such pictures: the median, and the share of "
        "pictures with a score above 0.5 and above 0.9. Low scores are good here."
    )
    return [
        *rows,
        *["## Pictures that show none of the labels", "", wrapped(text), ""],
        *["| what | pictures | median | above 0.5 | above 0.9 |", "|---|---|---|---|---|"],
        unlike("scribbles", results["scribbles"]),
        unlike("handwritten letters" if model == "digits-pa" else "handwritten digits", results["other_set"]),
    ]


def metrics(model: str, results: Results) -> dict[str, float]:
    """Name to number, for the manifest, rounded to four decimals."""
    found: dict[str, float] = {
        "printed_top1": results["printed"]["top1"],
        "printed_images": results["printed"]["n"],
        "scribble_median": results["scribbles"]["median"],
    }
    if "handwriting" in results:
        reading, name = results["handwriting"], "dev" if model == "digits-pa" else "fold"
        found |= {f"{name}_top1": reading["top1"], f"{name}_top3": reading["top3"], f"{name}_ece": reading["ece"]}
        found[f"{name}_images"] = reading["n"]
        if model == "letters-pa":
            found |= {
                "pair_bindi_top1": results["pair_bindi"]["top1"],
                "labels41_top1": results["labels41"]["top1"],
                "labels41_images": results["labels41"]["n"],
            }
        each = [figures["top1"] for figures in results["robustness"].values()]
        found["robustness_worst_drop"] = results["robustness"]["clean"]["top1"] - min(each)
    return {k: round(float(v), 4) for k, v in found.items()}


def summary(model: str, results: Results) -> str:
    """What the model does and its figure of the whole test set, one paragraph each."""
    purpose = wrapped(f"{PURPOSE[model]} The operation `{OPERATIONS[model]}` uses it.")
    if "handwriting" not in results:
        return purpose
    reading = results["handwriting"]
    whole = reading if model == "digits-pa" else results["labels41"]
    figure = (
        f"The model reads {percent(whole['top1'])} of them right ({whole['n'] - whole['errors']}; 95 % interval "
        f"{interval(whole)}). For {percent(whole['top3'])} the right label is among the three best."
    )
    if model == "digits-pa":
        return f"{purpose}\n\n" + wrapped(
            f"The whole test set is {whole['n']} handwritten digits that were not used in training. {figure}"
        )
    pairs = results["pair_bindi"]
    parts = (
        f"Of all pictures, {reading['n']} are letters that people drew ({percent(reading['top1'])} right), and "
        f"{pairs['n']} are synthetic pair-bindi letters ({percent(pairs['top1'])} right). For this measurement, "
        f"{len(results['parts'])} networks were trained like the shipped one. Each picture was read by the one that "
        "was trained without any drawing by the same person."
    )
    return f"{purpose}\n\n" + wrapped(f"The whole test set is {whole['n']} pictures. {figure} {parts}")


def written(model: str, results: Results, notes: str) -> str:
    """The card's text; `notes`: what is written by hand, Markdown."""
    network = (
        "The network is a small residual convolutional network with about 0.2 million parameters. Its input is a 48 x "
        "48 square of ink coverage, from 0 (paper) to 1 (ink), which `inference/src/ink` computes from the picture. "
        "Licence: MIT OR Apache-2.0."
    )
    text = [
        f"# {model}: {TITLES[model]}",
        *["", summary(model, results), "", wrapped(network), ""],
        *[*tables(model, results), ""],
        *["## Data", "", *[row.format(**USES[model]) for row in DATA], ""],
        *[notes.strip(), ""],
    ]
    return "\n".join(text)


def stored(model: str) -> Results:
    """The figures in `notes/<model>.json`, with those of the folds' networks for the letters."""
    results = json.loads((NOTES / f"{model}.json").read_text("utf-8"))
    if model == "letters-pa":
        results |= json.loads((NOTES / "letters-pa-folds.json").read_text("utf-8"))
    return cast(Results, results)


def write(model: str, results: Results, folder: Path) -> None:
    """Writes the card, and the manifest with the digest of the file that is there; `folder`: the manifests'."""
    text = written(model, results, (NOTES / f"{model}.md").read_text("utf-8"))
    replace(folder / f"cards/{model}.md", text.encode())
    digest = hashlib.sha256((folder / f"weights/{model}.onnx").read_bytes()).hexdigest()
    replace(folder / f"{model}.toml", manifest(model, digest, metrics(model, results)).encode())


def main() -> None:
    """Writes both cards and manifests from the stored figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models-dir", required=True, help="the folder of the manifests")
    folder = Path(parser.parse_args().models_dir)
    for model in SETS:
        write(model, stored(model), folder)


if __name__ == "__main__":
    main()
