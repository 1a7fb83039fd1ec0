"""Whether served handwriting looks like that of one fluent person, beside public drawings.

    python -m handwriting.fluency --data DIR --url http://127.0.0.1:8080 --key KEY

Headlines: how uneven those of single letters are. Whole drawings: how well small networks tell letters with their
headlines from those of the drawers 05, 10, 15, 20; for a figure of held-out drawers the service runs a generator that
was trained without them (`handwriting.train --without 5 10 15 20 --onnx FILE`). Consistency: how alike the drawings of
one text are. Pace: how the pen's speed depends on a stroke's length. Legibility: by the served recognisers.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro
from figures import Figures
from recognition.arrays import AnyPoints, Float64
from recognition.labels import ALPHABET, DIGITS, LETTERS
from recognition.readers import Served

from . import consistency, drawings, glyphs, headlines, realism
from .evaluate import apart, body_heights
from .generate import Make, Written
from .headlines import Headline
from .served import BODY, Writer
from .traits import traits

TEXTS = 16  # of each list of characters
LISTS = [LETTERS[:12], LETTERS[12:24], LETTERS[24:], DIGITS]
DRAWS = 3  # sets of served drawings that are compared with the real ones
NEAR = 0.12  # body heights: a stroke that is nowhere further from the headline's height is a headline
READ = 20  # styles in which every label is read


def by_service(service: Writer) -> Make:
    """Drawings by a service as `realism` takes them: in body heights, no headline, a request and a style for each."""

    def make(texts: Sequence[str], rng: np.random.Generator) -> list[Written]:
        del rng  # the service chooses the style
        drawn = [service.characters([text])[0] for text in texts]
        return [(without_headline([s / BODY for s in strokes]), []) for strokes in drawn]

    return make


def without_headline(strokes: Sequence[Float64]) -> list[AnyPoints]:
    """The other strokes of a drawing in body heights, whose left edge becomes x = 0."""
    kept = [s for s in strokes if np.abs(s[:, 1]).max() > NEAR]
    left = min((float(s[:, 0].min()) for s in kept), default=0.0)
    return [s - [left, 0.0] for s in kept]


def as_row(one: Headline, real: int, text: str) -> realism.Row:
    """A whole drawing, prepared as `realism` prepares drawings without their headlines."""
    lines = realism.prepared(one.drawing)
    return realism.Row(realism.small(lines), real, text, traits(lines))


def whole_rows(service: Writer, data: Path) -> list[realism.Row]:
    """Drawings of letters by the held-back drawers with their headlines, and as many served ones, in one style each."""
    rows = []
    for text, _, strokes, _ in drawings.sources(data, tuple(set(range(1, 21)) - set(realism.HELD_BACK))):
        real = headlines.headline(strokes) if text in LETTERS else None
        made = headlines.headline(service.characters([text])[0]) if real else None
        if real and made:
            rows += [as_row(real, 1, text), as_row(made, 0, text)]
    return rows


def realism_of(service: Writer, data: Path) -> dict[str, Figures]:
    """How well drawings of the held-back drawers are distinguished from served ones; means over DRAWS sets of these.

    Whole drawings, and those cut off below the headline, which are prepared as `realism` does.
    """
    shapes = {g.text: np.stack([glyphs.even(s, glyphs.POINTS) for s in g.strokes]) for g in glyphs.table()}
    sets = {
        "whole": [whole_rows(service, data) for _ in range(DRAWS)],
        "below": [realism.real_or_not(by_service(service), data, shapes) for _ in range(DRAWS)],
    }
    return {
        name: {
            "n": len(found[0]),
            "sets": DRAWS,
            "accuracy": float(np.mean([realism.accuracy(rows, 1) for rows in found])),
            "by_traits": float(np.mean([realism.accuracy_by_traits(rows, 2) for rows in found])),
        }
        for name, found in sets.items()
    }


def headlines_of(real: Sequence[Headline], made: Sequence[Headline]) -> Figures:
    """The quartiles of both, and how far apart they are."""
    result: Figures = {"n_real": len(real), "n_made": len(made), "real": {}, "made": {}, "furthest": {}}
    for name in ("slope", "rms", "largest"):
        a, b = ([getattr(h, name) for h in both] for both in (real, made))
        result["real"][name], result["made"][name] = headlines.quartiles(a), headlines.quartiles(b)
        result["furthest"][name] = round(headlines.furthest_apart(a, b), 3)
    return result


def texts(service: Writer) -> list[tuple[int, str, list[Float64]]]:
    """Every letter and digit twice in each of TEXTS texts: number of the text, character, drawing in body heights."""
    found = []
    for k, labels in enumerate(LISTS):
        for t in range(TEXTS):
            drawn = service.characters([*labels, *labels])
            for label, strokes in zip([*labels, *labels], drawn, strict=True):
                found.append((k * TEXTS + t, label, [s / BODY for s in strokes]))
    return found


def by_hand(rows: Sequence[tuple[int, str, list[Float64]]]) -> dict[str, dict[int, list[list[Float64]]]]:
    """Drawings by character and hand."""
    found: dict[str, dict[int, list[list[Float64]]]] = {}
    for hand, label, strokes in rows:
        found.setdefault(label, {}).setdefault(hand, []).append(strokes)
    return found


def alike(own: float, other: float) -> Figures:
    """Both distances and their ratio."""
    return {"within": round(own, 4), "between": round(other, 4), "ratio": round(own / other, 3)}


def consistent(rows: Sequence[tuple[int, str, list[Float64]]], data: Path) -> dict[str, Figures]:
    """The distances within and between hands: people's and the service's."""
    twice = [(hand, text, body_heights(strokes)) for text, hand, strokes, _ in drawings.sources(data) if text == "ਅ"]
    made = by_hand(rows)
    digits = {
        label: {hand: [consistency.bitmap(s) for s in drawn] for hand, drawn in made[label].items()} for label in DIGITS
    }

    def strokes_apart(first: Sequence[AnyPoints], second: Sequence[AnyPoints]) -> float:
        return apart(first, second)

    within = consistency.within_and_between
    return {
        "real_letter": alike(*within(by_hand(twice), strokes_apart)),
        "made_letter": alike(*within({"ਅ": made["ਅ"]}, strokes_apart)),
        "made_letters": alike(*within({t: made[t] for t in LETTERS}, strokes_apart)),
        "real_digits": alike(*within(consistency.digit_writers(data), consistency.bitmaps_apart)),
        "made_digits": alike(*within(digits, consistency.bitmaps_apart)),
    }


def legible(service: Writer) -> Figures:
    """How the served recognisers read pictures of every label."""
    first, third = [], []
    for model, labels in (("letters-pa", ALPHABET), ("digits-pa", DIGITS)):
        reader = Served(service.url, service.key, model)
        for k, label in enumerate(labels):
            best = np.argsort(-reader.read([service.picture(label) for _ in range(READ)]), 1)
            first += (best[:, 0] == k).tolist()
            third += (best[:, :3] == k).any(1).tolist()
    return {"n": len(first), "top1": float(np.mean(first)), "top3": float(np.mean(third))}


def main(
    data: Path,
    url: str,
    key: str,
    only: tuple[str, ...] = ("headlines", "realism", "consistency", "pace", "legibility"),
) -> None:
    """Measures from the command line."""
    service = Writer(url, key)
    found: Figures = {}
    rows = texts(service) if {"headlines", "consistency", "pace"} & set(only) else []
    letters = [row for row in rows if row[1] in LETTERS]
    if "headlines" in only:
        real = headlines.found(s for text, _, s, _ in drawings.sources(data) if text in LETTERS)
        found["headlines"] = headlines_of(real, headlines.found(s for _, _, s in letters))
    if "consistency" in only:
        found["consistency"] = consistent(rows, data)
    if "pace" in only:
        strokes = [s for _, _, drawn in rows for s in drawn]
        found["pace"] = {"real": consistency.pace_of_people(data), "made": consistency.pace_of(strokes)}
    if "realism" in only:
        found["realism"] = realism_of(service, data)
    if "legibility" in only:
        found["legibility"] = legible(service)
    print(json.dumps(found, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
