"""The figures of evaluate in; the model's card and the manifest's metrics out."""

import math

TITLES = {"digits-pa": "Gurmukhi digits ੦–੯", "letters-pa": "Gurmukhi alphabet: 35 letters and 6 pair-bindi letters"}
DATA = """| data | used for | licence |
|---|---|---|
| omniglot-gurmukhi (Lake, Salakhutdinov and Tenenbaum, Science 350, 2015; strokes by way of sketch-rnn-datasets), 16 drawers | {omniglot} | MIT |
| Gurmukhi typefaces: Anek, Noto Sans and Serif, Mukta Mahee, Baloo Paaji 2, Langar, Tiro, Lohit | training: print, and centre lines redrawn as pen strokes | OFL 1.1 |
| `recognition/templates.json`: pen strokes written for this project | training and the test pictures | MIT OR Apache-2.0 |
| gurmukhi-digits, 420 bitmaps, 1-bit, stretched to 32 x 32 | {digits} | none stated |"""
USES = {
    "digits-pa": {
        "omniglot": "training, as pictures that are no digit",
        "digits": "evaluation only: never training, never calibration",
    },
    "letters-pa": {
        "omniglot": "training; evaluation and calibration by held-out drawers",
        "digits": "measured only as pictures that are no letter",
    },
}


def wilson(right, n, z=1.96):
    """The 95 % interval of a share (Wilson, 1927)."""
    share = right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - reach, middle + reach


def percent(value, digits=2):
    return f"{100 * value:.{digits}f} %"


def line(name, r):
    low, high = wilson(r["n"] - r["errors"], r["n"])
    return (
        f"| {name} | {r['n']} | {r['n'] - r['errors']} | {percent(r['top1'])} | "
        f"{100 * low:.1f}–{100 * high:.1f} | {r['n'] - r['errors3']} | {percent(r['top3'])} | "
        f"{r['ece']:.3f} |"
    )


def accuracy(model, results):
    rows = [
        "| what | images | top-1 right | top-1 | 95 % interval | top-3 right | top-3 | ECE |",
        "|---|---|---|---|---|---|---|---|",
    ]
    if model == "digits-pa":
        rows.append(line("gurmukhi-digits", results["handwriting"]))
    elif "handwriting" in results:
        rows.append(line("35 letters, drawers held out", results["handwriting"]))
        rows += [line(f"… fold {fold}", r) for fold, r in results["parts"].items()]
        rows.append(line("6 pair-bindi letters, synthetic, drawers held out", results["pair_bindi"]))
        rows.append(line("all 41 labels, drawers held out", results["labels41"]))
    if "seen" in results:
        rows.append(line("all 41 labels, drawers seen in training (shipped file)", results["seen"]))
    rows.append(line("printed, all faces, sizes 33, 58, 101 (shipped file)", results["printed"]))
    return rows


def tables(model, results):
    """The figures as markdown lines."""
    rows = ["## Figures", "", *accuracy(model, results), ""]
    if "handwriting" in results:
        rows += [
            "Confusions (right → read, times): " + (", ".join(results["handwriting"]["confusions"]) or "none") + "."
        ]
        if model == "letters-pa":
            rows += ["Of the pair-bindi pictures: " + (", ".join(results["pair_bindi"]["confusions"]) or "none") + "."]
        rows += [
            "",
            "## Robustness",
            "",
            f"The same {results['robustness']['clean']['n']} handwritten characters under each "
            "condition; the last column is points lost.",
            "",
            "| condition | right | top-1 | drop |",
            "|---|---|---|---|",
        ]
        clean = results["robustness"]["clean"]["top1"]
        rows += [
            f"| {c} | {r['n'] - r['errors']} | {percent(r['top1'], 1)} | {100 * (clean - r['top1']):+.1f} |"
            for c, r in results["robustness"].items()
        ]
    other = "handwritten letters" if model == "digits-pa" else "handwritten digits"
    rows += [
        "",
        "## Pictures that are none of the labels",
        "",
        "The top score of the shipped file; low is honest.",
        "",
        "| what | pictures | median | above 0.5 | above 0.9 |",
        "|---|---|---|---|---|",
    ]
    for name, r in (("scribbles", results["scribbles"]), (other, results["other_set"])):
        rows.append(
            f"| {name} | {r['n']} | {r['median']:.2f} | {percent(r['above_half'], 1)} | "
            f"{percent(r['above_nine_tenths'], 1)} |"
        )
    return rows


def metrics(model, results):
    """name: number, for the manifest."""
    found = {
        "printed_top1": results["printed"]["top1"],
        "printed_images": results["printed"]["n"],
        "scribble_median": results["scribbles"]["median"],
    }
    if "handwriting" not in results:
        return found
    reading, name = results["handwriting"], "dev" if model == "digits-pa" else "fold"
    found |= {f"{name}_{key}": reading[key] for key in ("top1", "top3", "ece")}
    found[f"{name}_images"] = reading["n"]
    if model == "letters-pa":
        found |= {
            "pair_bindi_top1": results["pair_bindi"]["top1"],
            "labels41_top1": results["labels41"]["top1"],
            "labels41_images": results["labels41"]["n"],
        }
    each = [r["top1"] for r in results["robustness"].values()]
    found["robustness_worst_drop"] = results["robustness"]["clean"]["top1"] - min(each)
    return found


def written(model, results, notes):
    """The card's text, and the metrics rounded."""
    text = [
        f"# {model}: {TITLES[model]}",
        "",
        "A small residual convolutional network (about 0.2 million parameters) over a 48 x 48 square of ink coverage",
        "(`inference/src/ink`). Licence: MIT OR Apache-2.0.",
        "",
        "## Data",
        "",
        DATA.format(**USES[model]),
        "",
        *tables(model, results),
        "",
        notes.strip(),
        "",
    ]
    return "\n".join(text), {k: round(float(v), 4) for k, v in metrics(model, results).items()}
