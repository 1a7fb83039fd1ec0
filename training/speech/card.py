"""What `speech.evaluate` found in; the model's card and the manifest's metrics out.

    python -m speech.card --language pa --models-dir ../models

Reads `notes/speech-pa.json` and the card's words, `notes/speech-pa.md`, in which `{held}` and the like stand for tables.
"""

import argparse
import json
import tomllib
from pathlib import Path

from manifests import replace

from . import evaluate, metrics, ship

HERE = Path(__file__).resolve().parents[1]
HEAD = "| what | decoded | characters | CER | words | WER |\n|---|---|---|---|---|---|"
DIGITS = {"real digits, speakers never heard": "digits", evaluate.ONE_BY_ONE: "single_digits"}
SETS = {"held-out sentences, clean": "clean", "held-out sentences, worn": "worn"}


def share(wrong, total, digits=1):
    """As percent with its interval, where it is a share: words put in beside can make more errors than words."""
    if wrong > total:
        return f"{100 * wrong / max(1, total):.{digits}f} %"
    low, high = metrics.wilson(wrong, total)
    return f"{100 * wrong / max(1, total):.{digits}f} % [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def line(name, row):
    return (
        f"| {name} | {row['decoder']} | {row['characters']} | {share(row['characters_wrong'], row['characters'])} | "
        f"{row['words']} | {share(row['words_wrong'], row['words'])} |"
    )


def of_set(rows, title):
    """The rows of one set: all of it together, then by group."""
    found = [r for r in rows if r["set"] == title]
    return sorted(found, key=lambda r: (r["group"] != "all", r["group"], r["decoder"]))


def table(rows, title, name):
    """Lines of one set, all groups; `name` makes the first cell of a row."""
    return [line(name(r), r) for r in of_set(rows, title)]


def tables(figures):
    """The text for each place of the card."""
    rows = figures["rows"]
    held = [HEAD] + [
        one for title, short in SETS.items() for one in table(rows, title, lambda r: f"{short}, {r['group']}")
    ]
    out = {"held": "\n".join(held)}
    out["reading"] = "\n".join([HEAD] + table(rows, "real reading", lambda r: r["group"]))
    for title, place in DIGITS.items():
        digits = ["| speaker | decoded | recordings | whole one right | words | WER |", "|---|---|---|---|---|---|"]
        for r in of_set(rows, title):
            digits.append(
                f"| {r['group']} | {r['decoder']} | {r['utterances']} | {share(r['exact'], r['utterances'])} | "
                f"{r['words']} | {share(r['words_wrong'], r['words'])} |"
            )
        out[place] = "\n".join(digits)
    late = figures["starts"]
    out["starts"] = (
        f"{late['words']} words: median error {late['raw']['median']:.0f} ms, 95th percentile "
        f"{late['raw']['95th']:.0f} ms as heard;\nwith the median lateness of {late['late']:.0f} ms taken off "
        f"{late['corrected']['median']:.0f} ms and {late['corrected']['95th']:.0f} ms"
    )
    return out


def named(figures):
    """The manifest's metrics: how the service decodes, that is with the language model."""
    out = {}
    for row in figures["rows"]:
        if row["set"] in SETS and row["decoder"] in ("beam + lm", "greedy"):
            group = "" if row["group"] == "all" else f"_{row['group'].split('_')[0]}"
            kind = "" if row["decoder"] == "beam + lm" else "_greedy"
            out[f"held_{SETS[row['set']]}{group}_cer{kind}"] = row["characters_wrong"] / row["characters"]
        if row["set"] in DIGITS and row["group"] == "all":
            name = row["decoder"].replace("beam + lm", "lm").replace(", ", "_")
            out[f"{DIGITS[row['set']]}_unheard_wer_{name}"] = row["words_wrong"] / row["words"]
        if row["set"] == "real reading":
            name = row["decoder"].replace("beam + lm", "lm")
            out[f"{row['group'].replace('-', '_')}_wer_{name}"] = row["words_wrong"] / row["words"]
    out["word_start_median_s"] = figures["starts"]["corrected"]["median"] / 1000
    out["word_start_95th_s"] = figures["starts"]["corrected"]["95th"] / 1000
    return {name: round(value, 4) for name, value in out.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--models-dir", required=True)
    arguments = parser.parse_args()
    model_id, folder = f"speech-{arguments.language}", Path(arguments.models_dir)
    figures = json.loads((HERE / f"notes/{model_id}.json").read_text())
    text = (HERE / f"notes/{model_id}.md").read_text()
    for place, content in tables(figures).items():
        text = text.replace(f"{{{place}}}", content)
    replace(folder / f"cards/{model_id}.md", text.encode())
    path = folder / f"{model_id}.toml"
    old = tomllib.loads(path.read_text())
    digests = {one["role"]: one["sha256"] for one in old["files"]}
    replace(path, ship.manifest(arguments.language, digests, old["decoding"], named(figures)).encode())


if __name__ == "__main__":
    main()
