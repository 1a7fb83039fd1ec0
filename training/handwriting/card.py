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
from .results import Legibility, Read, Realism, Results, Variety
from .traits import SIMPLE

NOTES = Path(__file__).resolve().parents[1] / "notes"
FIGURES = NOTES / f"{MODEL}.json"
PURPOSE = (
    "The model writes Panjabi characters as pen strokes, in the order and direction in which they are taught. {style} "
    "numbers describe the writer and {variation} more the one drawing of a glyph; all of them are standard normal. The "
    "same writer's numbers give the same handwriting in every glyph. A stroke is {points} pen positions, evenly spaced "
    "in time. The spans of headline above a glyph are given beside its strokes. The operation `handwriting-generator` "
    "uses the model."
)
SIZE = "{glyphs} glyphs; {size} bytes; 150 glyphs in {speed:.1f} ms on one core. Licence: MIT OR Apache-2.0."
CAUTION = (
    "These recognisers learned from the same drawers. The figure says that the generated letters are like those "
    "drawers', and not how well people read them."
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
        f"Whole test set: {whole['n']} pictures of letters and digits in {results['styles']} random styles. The "
        f"shipped recognisers read {percent(whole['top1'])} of them correctly ({count}; 95 % interval {interval}; "
        f"top-3 {percent(whole['top3'])})."
    )
    purpose = PURPOSE.format(style=STYLE, variation=VARIATION, points=glyphs.POINTS)
    facts = SIZE.format(glyphs=len(glyphs.table()), size=size, speed=results["speed_ms"])
    return [wrapped(purpose), "", wrapped(f"{figure} {CAUTION}"), "", wrapped(facts)]


def legibility(found: Legibility, styles: int) -> list[str]:
    """The legibility figures as Markdown lines, the whole set first."""
    text = (
        f"**Legibility.** The shipped recognisers read every label in {styles} styles, drawn with its headline, 100 "
        "pixels from headline to baseline and with a pen of 4 pixels. A pair-bindi letter is its base with the nukta "
        "below."
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
        "**Variety.** The distance of two drawings is the mean distance between their nearest points, in body heights; "
        f"all figures are medians. ਅ twice in one style: {found['generated']:.3f} (60 styles). ਅ twice by one drawer: "
        f"{found['real']:.3f} ({found['real_pairs']} drawers; the data has no other letter twice). The ratio is "
        f"{found['ratio']:.2f}. ਅ in two styles: {found['generated_other_styles']:.3f}; by two drawers: "
        f"{found['real_other_drawers']:.3f}. A letter twice in one style, over all 35 letters: "
        f"{found['generated_all_letters']:.3f}."
    )


def realism(found: Realism) -> list[str]:
    """The paragraphs of realism."""
    drawers = ", ".join(f"{d:02}" for d in found["held_back"])
    return [
        wrapped(
            f"**Realism.** A generator was trained without the drawers {drawers}. A small convolutional network learns "
            f"to tell their {found['n'] // 2} drawings from as many generated ones of the same characters (five folds "
            f"by character, {found['seeds']} seeds). It is right for {percent(found['accuracy'], 1)}; 50 % is chance. "
            f"With the mean shapes, without writer or variation, it is right for {percent(found['control'], 1)}."
        ),
        "",
        wrapped(
            "A stricter test is a network that sees numbers: turning over three distances, length, size, place and "
            "spread of the ink, each also against the character's usual. It is right for "
            f"{percent(found['by_traits'], 1)}, and with the mean shapes for {percent(found['control_by_traits'], 1)}."
        ),
        "",
        wrapped(
            f"Both sides are in body heights, simplified to {SIMPLE} of a body height, smoothed alike, and cut off at "
            "a tenth of a body height below the headline, because the headline is the layout's. Simplifying matters. "
            "The source's strokes are polylines simplified to about 0.015. Unless the generated ones are simplified "
            "too, the numbers show those corners and are right for 94 %."
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
        *["## Figures", "", "`python -m handwriting.evaluate --data DIR` measures all of them.", ""],
        *[*legibility(results["legibility"], results["styles"]), ""],
        *[variety(results["variety"]), "", *realism(results["realism"]), ""],
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
