"""The generator measured: legibility, variety, realism; the card and the manifest's metrics written.

Legibility: letters and digits in 40 styles, read by the shipped recognisers. Variety: how far apart
two generations of one style are, against one drawer's two drawings of ਅ. Realism: a small network
told to tell drawings of drawers 05, 10, 15, 20 from those of a generator that never saw them.
"""

import argparse
import hashlib
import json
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from manifests import replace
from recognition.labels import ALPHABET, DIGITS, NUKTA
from recognition.pool import COMMAND
from recognition.readers import Local
from recognition.testsets import plain

from . import card, drawings, export, realism, register
from .generate import Generator, picture, with_headline, with_nukta

HERE = Path(__file__).resolve().parents[1]
STYLES = 40
NOTES = HERE / "notes/handwriting-pa.json"


def shown(make, label, rng, style):
    """One label's strokes: a pair-bindi letter is its base with a nukta below."""
    if label.endswith(NUKTA):
        (strokes, spans), (dot, _) = make([label[0], NUKTA], rng, style)
        return with_nukta(strokes, dot), spans
    return make([label], rng, style)[0]


def legibility(make, folder, command):
    """Figures by model, with the worst glyphs."""
    table, readings = {}, []
    for model, labels in (("letters-pa", ALPHABET), ("digits-pa", DIGITS)):
        rng = np.random.default_rng(40)
        reader = Local(command, [folder / f"weights/{model}.onnx"])
        images, truth = [], []
        for _ in range(STYLES):
            style = make.writer(rng)
            for k, label in enumerate(labels):
                images.append(plain(picture(with_headline(*shown(make, label, rng, style)))))
                truth.append(k)
        rows, truth = reader.read(images), np.array(truth)
        order = np.argsort(-rows, 1)
        first, third = order[:, 0] == truth, (order[:, :3] == truth[:, None]).any(1)
        wrong = Counter(f"{labels[t]}→{labels[o]}" for t, o in zip(truth[~first], order[~first, 0]))
        by_label = {label: float(first[truth == k].mean()) for k, label in enumerate(labels)}
        table[model] = {
            "n": len(truth),
            "top1": float(first.mean()),
            "top3": float(third.mean()),
            "worst": dict(sorted(by_label.items(), key=lambda i: i[1])[:8]),
            "confusions": [f"{p} {n}" for p, n in wrong.most_common(15)],
        }
        readings.append((first, third))
    first, third = (np.concatenate(v) for v in zip(*readings))
    table["together"] = {"n": len(first), "top1": float(first.mean()), "top3": float(third.mean())}
    return table


def apart(a, b):
    """Mean distance between nearest points of two drawings, both ways, after their middles are laid
    on each other; body heights.
    """
    from scipy.spatial import cKDTree

    a, b = (np.concatenate([register.ink_of([s], 0.02)[0] for s in d]) for d in (a, b))
    a, b = a - a.mean(0), b - b.mean(0)
    return 0.5 * (cKDTree(a).query(b)[0].mean() + cKDTree(b).query(a)[0].mean())


def variety(make, data):
    """One style's two drawings of a letter against one drawer's two drawings of ਅ."""
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
        for _ in range(4):
            every.append(apart(*(d[0] for d in make([label, label], rng, make.writer(rng)))))
    return {
        "real_pairs": len(pairs),
        "real": real_apart,
        "real_other_drawers": between,
        "generated": float(np.median(same)),
        "generated_other_styles": float(np.median(other)),
        "generated_all_letters": float(np.median(every)),
        "ratio": float(np.median(same)) / real_apart,
    }


def body_heights(strokes):
    """An omniglot drawing scaled by its ink's height; enough where shapes only are compared."""
    everything = np.concatenate(strokes)
    return [(s - everything.min(0)) / np.ptp(everything[:, 1]) for s in strokes]


def speed(make):
    """How long 150 glyphs take on one core, in words."""
    rng, times = np.random.default_rng(1), []
    texts = [make.table[k].text for k in rng.integers(0, len(make.table), 150)]
    for _ in range(40):
        start = time.perf_counter()
        make(texts, rng)
        times.append(time.perf_counter() - start)
    return f"150 glyphs in {1000 * float(np.median(times)):.1f} ms on one core"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--models-dir", default=str(HERE.parent / "models"), help="the folder of the manifests")
    parser.add_argument("--model", help="another file than the shipped one; nothing is written")
    parser.add_argument("--features-command", default=COMMAND)
    parser.add_argument("--only", nargs="*", default=["legibility", "variety", "realism"])
    parser.add_argument("--dry", action="store_true", help="print only")
    arguments = parser.parse_args()
    data, folder = Path(arguments.data), Path(arguments.models_dir)
    path = Path(arguments.model) if arguments.model else folder / f"weights/{export.MODEL}.onnx"
    make, results = Generator(path), {"styles": STYLES}
    if "legibility" in arguments.only:
        results["legibility"] = legibility(make, folder, arguments.features_command)
    if "variety" in arguments.only:
        results["variety"] = variety(make, data)
    if "realism" in arguments.only:
        results["realism"] = realism.measured(data)
    print(json.dumps(results, ensure_ascii=False, indent=1))
    if arguments.model or arguments.dry or len(results) < 4:
        return
    NOTES.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", "utf-8")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    replace(folder / f"{export.MODEL}.toml", export.manifest(digest, card.metrics(results)).encode())
    text = card.written(results, path.stat().st_size, speed(make))
    replace(folder / f"cards/{export.MODEL}.md", text.encode())


if __name__ == "__main__":
    main()
