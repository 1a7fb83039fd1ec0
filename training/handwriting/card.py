"""The generator's figures in; its card and the manifest's metrics out.

    python -m handwriting.card --models-dir ../models

writes both from the figures that `handwriting.evaluate` stored in `notes/handwriting-pa.json` and from the words in
`notes/handwriting-pa.md`. It needs no data.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import cast

from manifests import replace
from recognition.card import wrapped
from recognition.metrics import percent, wilson

from . import glyphs, hands, model
from .basis import STYLE, VARIATION
from .manifest import MODEL, manifest
from .results import Alike, Fluency, Legibility, Read, Realism, Results, Variety
from .traits import SIMPLE

NOTES = Path(__file__).resolve().parents[1] / "notes"
FIGURES = NOTES / f"{MODEL}.json"
PURPOSE = (
    "The model writes Panjabi characters as pen strokes, in the order and direction in which they are taught. Its "
    "inputs are {style} numbers for the writer's style and, for each glyph, {variation} numbers for the variation of "
    "this one drawing. All of them are drawn from a standard normal distribution. Glyphs with the same style numbers "
    "are in the same handwriting. The outputs for a glyph are its strokes, each as {points} pen positions evenly "
    "spaced in time, and the spans of the headline, the line along the top of the letters. The operation "
    "`handwriting-generator` uses the model."
)
SIZE = (
    "The model knows {glyphs} glyphs. Its file has {size} bytes. It writes 150 glyphs in {speed:.1f} ms on one core. "
    "Licence: MIT OR Apache-2.0."
)
CAUTION = (
    "These recognisers were trained on drawings by the same people as this model. So the figure shows that the "
    "generated letters are like the letters of these people. It does not show how well people read them."
)


def right(figures: Read) -> tuple[int, str]:
    """The number of pictures whose best label is right, and the 95 % interval of top-1 in percent."""
    count = round(figures["top1"] * figures["n"])
    low, high = wilson(count, figures["n"])
    return count, f"{100 * low:.1f}–{100 * high:.1f}"


def summary(results: Results, size: int) -> list[str]:
    """The card's first paragraphs: what the model does and its figure of the whole test set."""
    whole = results["legibility"]["together"]
    count, interval = right(whole)
    figure = (
        f"The whole test set is {whole['n']} pictures of letters and digits in {results['styles']} random styles. The "
        f"shipped recognisers read {percent(whole['top1'])} of them correctly (top-1; {count}; 95 % interval "
        f"{interval}). For {percent(whole['top3'])} the right label is among the three best (top-3)."
    )
    purpose = PURPOSE.format(style=STYLE, variation=VARIATION, points=glyphs.POINTS)
    facts = SIZE.format(glyphs=len(glyphs.table()), size=size, speed=results["speed_ms"])
    return [wrapped(purpose), "", wrapped(f"{figure} {CAUTION}"), "", wrapped(facts)]


def legibility(found: Legibility, styles: int) -> list[str]:
    """The legibility figures as Markdown lines, the whole set first."""
    text = (
        f"**Legibility.** Every label was drawn in {styles} styles, with its headline, with 100 pixels from headline "
        "to baseline and with a pen of 4 pixels. The shipped recognisers read these pictures. A pair-bindi letter (a "
        "letter with a dot, such as ਸ਼) was drawn as its base letter with the dot, the nukta, below."
    )
    lines = [
        *[wrapped(text), ""],
        "| what | pictures | top-1 right | top-1 | 95 % interval | top-3 right | top-3 |",
        "|---|---|---|---|---|---|---|",
    ]
    rows: list[tuple[str, Read]] = [
        ("together", found["together"]),
        ("41 letters", found["letters-pa"]),
        ("10 digits", found["digits-pa"]),
    ]
    for name, r in rows:
        count, interval = right(r)
        third = round(r["top3"] * r["n"])
        lines.append(
            f"| {name} | {r['n']} | {count} | {percent(r['top1'])} | {interval} | {third} | {percent(r['top3'])} |"
        )
    worst = ", ".join(f"{k} {percent(v, 1)}" for k, v in found["letters-pa"]["worst"].items() if v < 1)
    wrong = ", ".join(found["letters-pa"]["confusions"] + found["digits-pa"]["confusions"])
    return [
        *lines,
        "",
        f"Worst labels, top-1: {worst or 'none'}. Confusions (meant → read, times): {wrong or 'none'}.",
    ]


def variety(found: Variety) -> str:
    """The paragraph of variety."""
    return wrapped(
        "**Variety.** The distance of two drawings is the mean distance between their nearest points, in body heights "
        "(the height of a letter from headline to baseline). All figures are medians. Two ਅ in one style have a "
        f"distance of {found['generated']:.3f} (60 styles). Two ਅ by one person have a distance of {found['real']:.3f} "
        f"({found['real_pairs']} people; the data has no other letter twice). The ratio is {found['ratio']:.2f}. Two ਅ "
        f"in different styles have a distance of {found['generated_other_styles']:.3f}, and two ਅ by different people "
        f"{found['real_other_drawers']:.3f}. Over all 35 letters, two drawings of a letter in one style have a "
        f"distance of {found['generated_all_letters']:.3f}."
    )


def realism(found: Realism) -> list[str]:
    """The paragraphs of realism."""
    drawers = ", ".join(f"{d:02}" for d in found["held_back"])
    return [
        wrapped(
            f"**Realism.** A second generator was trained without the people {drawers} of the data set. A small "
            f"convolutional network was trained to tell their {found['n'] // 2} drawings from as many generated "
            f"drawings of the same characters (five folds by character, {found['seeds']} seeds). It was right for "
            f"{percent(found['accuracy'], 1)} of the drawings; guessing gives 50 %. As a control, it was right for "
            f"{percent(found['control'], 1)} when the generated drawings were all the mean shape of their character, "
            "without style or variation."
        ),
        "",
        wrapped(
            "A stricter test is a network whose inputs are measured numbers: how much the pen turns over three "
            "distances, and the length, size, place and spread of the ink, each also relative to the usual value of "
            f"the character. It was right for {percent(found['by_traits'], 1)}, and for "
            f"{percent(found['control_by_traits'], 1)} with the mean shapes."
        ),
        "",
        wrapped(
            "Real and generated drawings were prepared in the same way for both tests: scaled to body heights, "
            f"simplified to polylines with a tolerance of {SIMPLE} body heights, smoothed, and cut off at a tenth of a "
            "body height below the headline, because the headline is drawn by the layout code and not by the model. "
            "The simplification matters: the strokes of the data set are already polylines with a tolerance of about "
            "0.015. If the generated ones are not simplified too, the network with measured numbers sees the corners "
            "of the real ones and is right for 94 %."
        ),
    ]


def ratio(found: Alike) -> str:
    """Both distances and their ratio in words."""
    return f"{found['ratio']:.2f} ({found['within']:.3f} to {found['between']:.3f})"


def fluency(found: Fluency) -> list[str]:
    """The paragraphs of served handwriting; the last figures are those of `handwriting.fluency`."""
    lines, alike, pace = found["headlines"], found["consistency"], found["pace"]
    whole, below, read = found["told"]["whole"], found["told"]["below"], found["legibility"]
    rows = [("slope", "slope"), ("rms", "root mean square distance"), ("largest", "largest distance")]
    table = [
        "| headlines of single letters | drawn by people | served | largest difference of the distributions |",
        "|---|---|---|---|",
        *[
            f"| {words} | {', '.join(f'{v:.3f}' for v in lines['real'][name])} | "
            f"{', '.join(f'{v:.3f}' for v in lines['made'][name])} | {lines['furthest'][name]:.2f} |"
            for name, words in rows
        ],
    ]
    return [
        wrapped(
            "**Fluency.** These figures are of handwriting that a running service writes, with its layout. "
            "`python -m handwriting.fluency --data DIR --url URL --key KEY --store` measures them."
        ),
        "",
        wrapped(
            f"The table compares {lines['n_made']} headlines with those of {lines['n_real']} public drawings: their "
            "slope, and their distance from the nearest straight line in body heights. The numbers are the quartiles "
            "and the 95th percentile, of sizes. Both were simplified as described above."
        ),
        "",
        *table,
        "",
        wrapped(
            "The distance of two drawings of a character by one hand, relative to that of two by different hands, is "
            f"{ratio(alike['made_letters'])} for the letters of one text, {ratio(alike['made_letter'])} for ਅ and "
            f"{ratio(alike['made_digits'])} for digits. For people it is {ratio(alike['real_letter'])} for ਅ in "
            f"omniglot-gurmukhi, whose drawers do not know the alphabet, and {ratio(alike['real_digits'])} for the "
            "digits of four fluent writers (gurmukhi-digits). Digits are "
            "compared as bitmaps, in shares of their side."
        ),
        "",
        wrapped(
            "The speed of strokes shorter than 1.25 body heights is proportional to a power of their length: "
            f"{pace['made']:.2f}, and {pace['real']:.2f} for the people of omniglot-strokes."
        ),
        "",
        wrapped(
            "The networks described above were also trained to tell served letters from those of the same people. For "
            "this the service ran the generator that was trained without them. The figures are means over "
            f"{below['sets']} sets of served drawings. Of {below['n']} drawings that were prepared as above, without "
            f"their headlines, the convolutional network was right for {percent(below['accuracy'], 1)}, and the one "
            f"with measured numbers for {percent(below['by_traits'], 1)}. Of {whole['n']} whole drawings they were "
            f"right for {percent(whole['accuracy'], 1)} and {percent(whole['by_traits'], 1)}; these were not levelled, "
            "and those without a headline stroke of their own were left out."
        ),
        "",
        wrapped(
            f"The served recognisers read {percent(read['top1'])} of {read['n']} served pictures correctly (top-3 "
            f"{percent(read['top3'])})."
        ),
    ]


def written(results: Results, size: int, notes: str) -> str:
    """The card's text; `size`: bytes of the ONNX file; `notes`: what is written by hand, Markdown with places."""
    places = {
        "own_variance": hands.OWN_VARIANCE,
        "short_wave": hands.SHORT_WAVE,
        "extra_field": model.EXTRA_FIELD,
        "max_spread": model.MAX_SPREAD,
        "undrawn_waves": model.UNDRAWN_WAVES,
    }
    lines = [
        *[f"# {MODEL}: Panjabi pen strokes", "", *summary(results, size), ""],
        *["## Figures", "", "`python -m handwriting.evaluate --data DIR` measures all but those of fluency.", ""],
        *[*legibility(results["legibility"], results["styles"]), ""],
        *[variety(results["variety"]), "", *realism(results["realism"]), ""],
        *([*fluency(results["fluency"]), ""] if "fluency" in results else []),
        *[notes.format(**places).strip(), ""],
    ]
    return "\n".join(lines)


def metrics(results: Results) -> dict[str, float]:
    """Name to number, for the manifest, rounded to three or four decimals."""
    together = results["legibility"]["together"]
    return {
        "legible_top1": round(together["top1"], 4),
        "legible_top3": round(together["top3"], 4),
        "legible_images": together["n"],
        "variety_ratio": round(results["variety"]["ratio"], 3),
        "told_from_real": round(results["realism"]["accuracy"], 4),
        "told_from_real_by_traits": round(results["realism"]["by_traits"], 4),
        "told_from_real_images": results["realism"]["n"],
    }


def stored() -> Results:
    """The figures in `notes/handwriting-pa.json`."""
    return cast(Results, json.loads(FIGURES.read_text("utf-8")))


def write(results: Results, folder: Path) -> None:
    """Writes the card, and the manifest with the digest of the file that is there; `folder`: the manifests'."""
    content = (folder / f"weights/{MODEL}.onnx").read_bytes()
    text = written(results, len(content), (NOTES / f"{MODEL}.md").read_text("utf-8"))
    replace(folder / f"cards/{MODEL}.md", text.encode())
    digest = hashlib.sha256(content).hexdigest()
    replace(folder / f"{MODEL}.toml", manifest(digest, metrics(results)).encode())


def main() -> None:
    """Writes card and manifest from the stored figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models-dir", required=True, help="the folder of the manifests")
    write(stored(), Path(parser.parse_args().models_dir))


if __name__ == "__main__":
    main()
