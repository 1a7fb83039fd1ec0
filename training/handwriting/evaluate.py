"""The generator's file in; its figures out, as JSON.

Legibility: letters and digits in 40 styles, read by the shipped recognisers. Variety: how far two drawings in one style
are apart, against one drawer's two drawings of ਅ.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro
from figures import Figures
from manifests import MODELS
from recognition.arrays import AnyPoints, Bool, Float64
from recognition.labels import ALPHABET, DIGITS, NUKTA
from recognition.readers import Local
from recognition.testsets import plain

from . import drawings, register
from .generate import Generator, Written, picture, with_headline, with_nukta
from .glyphs import MODEL

STYLES = 40


def shown(make: Generator, label: str, rng: np.random.Generator, style: Float64) -> Written:
    """A label's strokes and headline spans in one style; a pair-bindi letter is its base with the nukta below."""
    if label.endswith(NUKTA):
        (strokes, spans), (dot, _) = make([label[0], NUKTA], rng, style)
        return with_nukta(strokes, dot), spans
    return make([label], rng, style)[0]


def read(make: Generator, labels: Sequence[str], reader: Local) -> tuple[Figures, Bool, Bool]:
    """The figures of the labels in STYLES styles; for each picture, whether top-1 and top-3 are right.

    `worst`: top-1 of the eight labels with the lowest; `confusions`: `meant→read times`, most frequent first.

    `reader`: the recogniser whose labels these are.
    """
    rng = np.random.default_rng(40)
    images, meant = [], []
    for _ in range(STYLES):
        style = make.writer(rng)
        for k, label in enumerate(labels):
            images.append(plain(picture(with_headline(*shown(make, label, rng, style)))))
            meant.append(k)
    rows, truth = reader.read(images), np.array(meant)
    order = np.argsort(-rows, 1)
    first: Bool = order[:, 0] == truth
    third: Bool = (order[:, :3] == truth[:, None]).any(1)
    wrong = Counter(f"{labels[t]}→{labels[o]}" for t, o in zip(truth[~first], order[~first, 0], strict=True))
    by_label = {label: float(first[truth == k].mean()) for k, label in enumerate(labels)}
    figures = {
        "n": len(truth),
        "top1": float(first.mean()),
        "top3": float(third.mean()),
        "worst": dict(sorted(by_label.items(), key=lambda i: i[1])[:8]),
        "confusions": [f"{p} {n}" for p, n in wrong.most_common(15)],
    }
    return figures, first, third


def legibility(make: Generator, folder: Path) -> Figures:
    """The figures by recogniser and together; `folder`: the manifests'."""
    found = {}
    for model, labels in (("letters-pa", ALPHABET), ("digits-pa", DIGITS)):
        found[model] = read(make, labels, Local([folder / f"weights/{model}.onnx"]))
    first, third = (np.concatenate([one[k] for one in found.values()]) for k in (1, 2))
    return {
        "letters-pa": found["letters-pa"][0],
        "digits-pa": found["digits-pa"][0],
        "together": {"n": len(first), "top1": float(first.mean()), "top3": float(third.mean())},
    }


def apart(first: Sequence[AnyPoints], second: Sequence[AnyPoints]) -> float:
    """The mean distance, in body heights, between nearest points of two drawings, both ways.

    The drawings' middles are laid on each other first.
    """
    from scipy.spatial import cKDTree

    a, b = (np.concatenate([register.ink_of([s], 0.02)[0] for s in d]) for d in (first, second))
    a, b = a - a.mean(0), b - b.mean(0)
    return 0.5 * float(cKDTree(a).query(b)[0].mean() + cKDTree(b).query(a)[0].mean())


def variety(make: Generator, data: Path) -> Figures:
    """Median distances between two drawings in one style, and one drawer's two of ਅ, in body heights."""
    real = defaultdict(list)
    for text, hand, strokes, _ in drawings.sources(data):
        if text == "ਅ":
            real[hand].append(body_heights(strokes))
    pairs = [p for p in real.values() if len(p) == 2]
    real_apart = float(np.median([apart(*p) for p in pairs]))
    between = float(np.median([apart(p[0], q[0]) for i, p in enumerate(pairs) for q in pairs[i + 1 :]]))
    rng = np.random.default_rng(41)
    same, other, every = [], [], []
    for _ in range(60):
        style = make.writer(rng)
        a, b = (with_headline(*d) for d in make(["ਅ", "ਅ"], rng, style))
        c = with_headline(*make(["ਅ"], rng)[0])
        same.append(apart(a, b))
        other.append(apart(a, c))
    for label in ALPHABET[:35]:
        every += [apart(*(d[0] for d in make([label, label], rng, make.writer(rng)))) for _ in range(4)]
    return {
        "real_pairs": len(pairs),
        "real": real_apart,
        "real_other_drawers": between,
        "generated": float(np.median(same)),
        "generated_other_styles": float(np.median(other)),
        "generated_all_letters": float(np.median(every)),
        "ratio": float(np.median(same)) / real_apart,
    }


def body_heights(strokes: Sequence[Float64]) -> list[Float64]:
    """An omniglot drawing scaled by the height of its ink, which is enough where shapes alone are compared."""
    everything = np.concatenate(strokes)
    return [(s - everything.min(0)) / np.ptp(everything[:, 1]) for s in strokes]


def speed_ms(make: Generator) -> float:
    """The median time of 150 glyphs on one core, in milliseconds."""
    rng, times = np.random.default_rng(1), []
    texts = [make.table[k].text for k in rng.integers(0, len(make.table), 150)]
    for _ in range(40):
        start = time.perf_counter()
        make(texts, rng)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


def main(
    data: Path,
    models_dir: Path = MODELS,
    only: tuple[str, ...] = ("legibility", "variety"),
) -> None:
    """Measures from the command line."""
    make = Generator(models_dir / f"weights/{MODEL}.onnx")
    results: Figures = {"styles": STYLES}
    if "legibility" in only:
        results["legibility"] = legibility(make, models_dir)
    if "variety" in only:
        results["variety"] = variety(make, data)
    results["speed_ms"] = round(speed_ms(make), 1)
    print(json.dumps(results, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
