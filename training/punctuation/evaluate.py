"""Precision, recall and F1 of the shipped file on held-out texts, by text, with and without pauses and errors.

    python -m punctuation.evaluate --data DATA --pairs WORK/pairs --models-dir ../models

Each set is one long transcript. Its last word is not counted: a transcript always ends with a sentence. Where a text
does not say which mark is right, each of the possible ones counts as right and none as missing. `--part dev` compares
trainings; the test part is for the card alone.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro
from figures import Figures
from manifests import MODELS
from numpy.typing import NDArray
from translation import prepared

from . import data, errors, pauses
from .marks import END, LABELS, Unit
from .tagger import MODEL, Tagger

CONDITIONS = {"text": (False, 0.0), "pauses": (True, 0.0), "errors": (False, 0.06), "errors and pauses": (True, 0.06)}
"""Whether there are pauses, and the share of wrong letters."""
SPEAKER = 20  # units of a speaker, whose pauses are alike
PANJABI = ("stories", "prompts", "templates", "apps", "everyday", "unseen")
NATURAL = ("stories", "prompts", "apps", "everyday", "unseen")


def transcript(units: Sequence[Unit], condition: str) -> tuple[Unit, NDArray[np.float32]]:
    """The units one after another under a condition, with the pauses."""
    timed, rate = CONDITIONS[condition]
    rng, draws = random.Random(condition), np.random.default_rng(17)
    words: list[str] = []
    sets: list[int] = []
    times = [np.zeros(0, np.float32)]
    for start in range(0, len(units), SPEAKER):
        said = [errors.disturbed(unit, rate, rng) if rate else unit for unit in units[start : start + SPEAKER]]
        new = [one for unit in said for one in unit.sets]
        words += [word for unit in said for word in unit.words]
        sets += new
        # One more word, so that the pause behind the last is known too.
        times.append(pauses.drawn([*new, 1], draws)[:-1] if timed else pauses.none(len(new)))
    return Unit(tuple(words), tuple(sets)), np.concatenate(times)


def counted(sets: Sequence[int], labels: Sequence[int]) -> Figures:
    """By label, how often it was right, wrong and missing; "end" is a danda or question mark, whichever it is."""
    found = {name: {"right": 0, "wrong": 0, "missing": 0} for name in (*LABELS[1:], "end")}
    kinds = {name: 1 << k for k, name in enumerate(LABELS)} | {"end": END}
    for one, label in zip(sets, labels, strict=True):
        for name, counts in found.items():
            said, kind = bool(kinds[name] >> label & 1), kinds[name]
            counts["right"] += said and not one & ~kind
            counts["wrong"] += said and not one & kind
            counts["missing"] += not said and not one & ~kind
    return found


def added(parts: Sequence[Figures]) -> Figures:
    """The sums of counts."""
    return {name: {key: sum(part[name][key] for part in parts) for key in parts[0][name]} for name in parts[0]}


def scored(counts: Figures) -> Figures:
    """Precision, recall, F1 and the number of the marks in the texts, by label."""
    out = {}
    for name, one in counts.items():
        right, wrong, missing = one["right"], one["wrong"], one["missing"]
        out[name] = {
            "n": right + missing,
            "precision": right / max(1, right + wrong),
            "recall": right / max(1, right + missing),
            "f1": 2 * right / max(1, 2 * right + wrong + missing),
        }
    return out


def measured(tagger: Tagger, documents: dict[str, list[Unit]]) -> Figures:
    """The figures of each document under each condition, and of the Panjabi ones together."""
    counts: dict[str, Figures] = {}
    for name, units in documents.items():
        for condition in CONDITIONS:
            unit, times = transcript(units, condition)
            labels = tagger.labels(unit.words, times)
            counts.setdefault(name, {})[condition] = counted(unit.sets[:-1], labels[:-1].tolist())
    for name, members in (("panjabi", PANJABI), ("natural", NATURAL)):
        parts = [counts[member] for member in members if member in counts]
        counts[name] = {condition: added([part[condition] for part in parts]) for condition in CONDITIONS}
    return {name: {condition: scored(one) for condition, one in both.items()} for name, both in counts.items()}


def of_recognised(tagger: Tagger, path: Path) -> Figures:
    """The figures of recognised speech, without and with the pauses, of each set and of all together."""
    written = json.loads(path.read_text())
    counts: dict[str, Figures] = {}
    for condition in ("text", "pauses"):
        for name, transcripts in written["sets"].items():
            parts = []
            for one in transcripts:
                words = one["words"]
                times = np.array(one["pauses"], np.float32) if condition == "pauses" else pauses.none(len(words))
                parts.append(counted(one["sets"][:-1], tagger.labels(words, times)[:-1].tolist()))
            counts.setdefault(name, {})[condition] = added(parts)
        counts.setdefault("all", {})[condition] = added([counts[name][condition] for name in written["sets"]])
    found = {name: {condition: scored(one) for condition, one in both.items()} for name, both in counts.items()}
    return {"wer": written["wer"], "sets": found}


def shown(found: Figures) -> None:
    """Prints F1 and the number of marks, by set and condition."""
    for name, conditions in found.items():
        for condition, scores in conditions.items():
            cells = (f"{label} {one['f1']:.3f} of {one['n']}" for label, one in scores.items())
            print(f"{name:18} {condition:18}", "  ".join(cells))


def main(
    data_dir: Annotated[Path, tyro.conf.arg(name="data")],
    pairs: Path,
    models_dir: Path = MODELS,
    part: Literal["dev", "test"] = "test",
    recognised: Path | None = None,
) -> None:
    """Measures and prints; `recognised`: what `punctuation.recognised` wrote, which is measured too."""
    tagger = Tagger((models_dir / f"weights/{MODEL}.onnx").read_bytes())
    shown(measured(tagger, data.held(data_dir, prepared.read(pairs), part)))
    if recognised:
        found = of_recognised(tagger, recognised)
        print(f"recognised, {found['wer']:.1%} of the words wrong")
        shown(found["sets"])


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
