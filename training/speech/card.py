"""Writes the card of speech-pa and the metrics of its manifest from the figures of `speech.evaluate`.

    python -m speech.card --models-dir ../models

It reads the figures `notes/speech-pa.json` and the card's words `notes/speech-pa.md`, in which `{held}` and the like
stand for tables.
"""

import argparse
import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from manifests import replace

from . import metrics, sets, ship

HERE = Path(__file__).resolve().parents[1]
HEAD = "| what | decoded | characters | CER | words | WER |\n|---|---|---|---|---|---|"
DIGITS = {sets.FOLDS: "digits", sets.ONE_BY_ONE: "single_digits"}
SETS = {sets.CLEAN: "clean", sets.WORN: "worn"}
SUMMARY = {  # the sets of the first table, which holds the whole of each
    sets.CLEAN: "synthetic sentences, all voices, clean",
    sets.WORN: "the same in a room, with noise, through an mp3 (`worn`)",
    sets.FOLDS: "digits of people, recognised by networks that were trained without these people",
    sets.ONE_BY_ONE: "the same, cut into single words",
    sets.READING: "sentences read by people",
}
Row = dict[str, Any]  # set, group, decoder and the counts of `metrics.Errors`


def share(wrong: int, total: int, digits: int = 1) -> str:
    """Return percent with the 95 % interval; without it where insertions make more errors than there are words."""
    if wrong > total:
        return f"{100 * wrong / max(1, total):.{digits}f} %"
    low, high = metrics.wilson(wrong, total)
    return f"{100 * wrong / max(1, total):.{digits}f} % [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def line(name: str, row: Row) -> str:
    """Return one line of a table of error rates; `name` is its first cell."""
    return (
        f"| {name} | {row['decoder']} | {row['characters']} | {share(row['characters_wrong'], row['characters'])} | "
        f"{row['words']} | {share(row['words_wrong'], row['words'])} |"
    )


def of_set(rows: Iterable[Row], title: str) -> list[Row]:
    """Return the rows of one set: the whole set first, then its groups."""
    found = [r for r in rows if r["set"] == title]
    return sorted(found, key=lambda r: (r["group"] != "all", r["group"], r["decoder"]))


def summary(rows: Iterable[Row]) -> str:
    """Return the table of whole sets as the service decodes them: characters and words that are wrong."""
    lines = ["| speech | CER | WER |", "|---|---|---|"]
    for row in rows:
        whole = row["group"] == "all" or row["set"] == sets.READING
        if whole and row["decoder"] == "beam + lm" and row["set"] in SUMMARY:
            name = SUMMARY[row["set"]] + (f", {row['group']}" if row["set"] == sets.READING else "")
            errors = share(row["characters_wrong"], row["characters"])
            lines.append(f"| {name} | {errors} | {share(row['words_wrong'], row['words'])} |")
    return "\n".join(lines)


def tables(figures: dict[str, Any]) -> dict[str, str]:
    """Return the text for each place of the card; `figures`: what `speech.evaluate` wrote."""
    rows = figures["rows"]
    held = [line(f"{short}, {r['group']}", r) for title, short in SETS.items() for r in of_set(rows, title)]
    reading = [line(r["group"], r) for r in of_set(rows, sets.READING)]
    out = {"summary": summary(rows), "held": "\n".join([HEAD, *held]), "reading": "\n".join([HEAD, *reading])}
    for title, place in DIGITS.items():
        digits = ["| speaker | decoded | recordings | all words right | words | WER |", "|---|---|---|---|---|---|"]
        digits += [
            f"| {r['group']} | {r['decoder']} | {r['utterances']} | {share(r['exact'], r['utterances'])} | "
            f"{r['words']} | {share(r['words_wrong'], r['words'])} |"
            for r in of_set(rows, title)
        ]
        out[place] = "\n".join(digits)
    late = figures["starts"]
    out["starts"] = (
        f"Over {late['words']} words the median error is {late['raw']['median']:.0f} ms and the 95th percentile "
        f"{late['raw']['95th']:.0f} ms. After the\nmedian delay of {late['late']:.0f} ms is subtracted, "
        f"the two errors are {late['corrected']['median']:.0f} ms and {late['corrected']['95th']:.0f} ms."
    )
    return out


def named(figures: dict[str, Any]) -> dict[str, float]:
    """Return the manifest's metrics: error rates as shares, times in seconds.

    The service decodes with the language model; names that end in `_greedy` are without it.
    """
    out: dict[str, float] = {}
    for row in figures["rows"]:
        if row["set"] in SETS and row["decoder"] in ("beam + lm", "greedy"):
            group = "" if row["group"] == "all" else f"_{row['group'].split('_')[0]}"
            kind = "" if row["decoder"] == "beam + lm" else "_greedy"
            out[f"held_{SETS[row['set']]}{group}_cer{kind}"] = row["characters_wrong"] / row["characters"]
        if row["set"] in DIGITS and row["group"] == "all":
            name = row["decoder"].replace("beam + lm", "lm").replace(", ", "_")
            out[f"{DIGITS[row['set']]}_unheard_wer_{name}"] = row["words_wrong"] / row["words"]
        if row["set"] == sets.READING:
            name = row["decoder"].replace("beam + lm", "lm")
            out[f"{row['group'].replace('-', '_')}_wer_{name}"] = row["words_wrong"] / row["words"]
    out["word_start_median_s"] = figures["starts"]["corrected"]["median"] / 1000
    out["word_start_95th_s"] = figures["starts"]["corrected"]["95th"] / 1000
    return {name: round(value, 4) for name, value in out.items()}


def text(words: str, figures: dict[str, Any]) -> str:
    """Return the card: its words with each place in braces, such as `{held}`, replaced by its table."""
    for place, content in tables(figures).items():
        words = words.replace(f"{{{place}}}", content)
    return words


def main() -> None:
    """Write the card and the manifest's metrics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models-dir", required=True)
    model_id, folder = ship.MODEL, Path(parser.parse_args().models_dir)
    figures = json.loads((HERE / f"notes/{model_id}.json").read_text())
    words = (HERE / f"notes/{model_id}.md").read_text()
    replace(folder / f"cards/{model_id}.md", text(words, figures).encode())
    path = folder / f"{model_id}.toml"
    old = tomllib.loads(path.read_text())
    digests = {one["role"]: one["sha256"] for one in old["files"]}
    replace(path, ship.manifest(digests, old["decoding"], named(figures)).encode())


if __name__ == "__main__":
    main()
