"""The generator measured: legibility, variety, realism; the card and the manifest's metrics written.

Legibility: letters and digits in 40 styles, read by the shipped recognisers. Variety: how far apart
two generations of one style are, against one drawer's two drawings of ਅ. Realism: a small network
told to tell drawings of drawers 05, 10, 15, 20 from those of a generator that never saw them.
"""

import argparse
import hashlib
import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
from recognition.labels import ALPHABET, DIGITS, NUKTA
from recognition.pool import COMMAND
from recognition.readers import Local
from recognition.strokes import resample, smoothed
from recognition.testsets import plain

from . import card, drawings, export, register, train
from .generate import Generator, picture, with_headline, with_nukta

HERE = Path(__file__).resolve().parents[1]
STYLES = 40
HELD_BACK = (5, 10, 15, 20)
NOTES = HERE / "notes/handwriting-pa.json"


def shown(make, label, rng, style, nukta_of=True):
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
        table[model] = {"n": len(truth), "top1": float(first.mean()), "top3": float(third.mean()),
                        "worst": dict(sorted(by_label.items(), key=lambda i: i[1])[:8]),
                        "confusions": [f"{p} {n}" for p, n in wrong.most_common(15)]}
        readings.append((first, third))
    first, third = (np.concatenate(v) for v in zip(*readings))
    table["together"] = {"n": len(first), "top1": float(first.mean()), "top3": float(third.mean())}
    return table


def apart(a, b):
    """Mean distance between nearest points of two drawings, both ways, after their middles are laid
    on each other; body heights."""
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
    between = float(np.median([apart(p[0], q[0]) for i, p in enumerate(pairs) for q in pairs[i + 1:]]))
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
    return {"real_pairs": len(pairs), "real": real_apart, "real_other_drawers": between,
            "generated": float(np.median(same)), "generated_other_styles": float(np.median(other)),
            "generated_all_letters": float(np.median(every)),
            "ratio": float(np.median(same)) / real_apart}


def body_heights(strokes):
    """An omniglot drawing scaled by its ink's height; enough where shapes only are compared."""
    everything = np.concatenate(strokes)
    return [(s - everything.min(0)) / np.ptp(everything[:, 1]) for s in strokes]


SIDE = 48


def realism_pictures(strokes):
    """Below the headline's zone only, since the headline is the layout's; (SIDE, SIDE) 0..1."""
    from PIL import Image
    image = Image.fromarray(picture(strokes, body=30, pen=2.4, margin=2))
    canvas = np.zeros((SIDE, SIDE), np.float32)
    image = np.asarray(image)[:SIDE, :SIDE]
    canvas[:image.shape[0], :image.shape[1]] = image / 255
    return canvas


def cropped(strokes, top=0.1):
    """Parts of strokes below y = top."""
    out = []
    for stroke in strokes:
        inside = stroke[:, 1] > top
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
        out += [stroke[a:b] for a, b in zip(edges[::2], edges[1::2]) if b - a > 3]
    return out


def real_or_not(make, data, net):
    """Pictures, their kind (1 real), their letter and fold; as many generated as real of each letter."""
    from . import glyphs
    table = {g.text: g for g in glyphs.table()}
    shapes = drawings.taught(net)
    rng = np.random.default_rng(42)
    rows = []
    for text, hand, strokes, _ in drawings.sources(data, tuple(set(range(1, 21)) - set(HELD_BACK))):
        spans = [s for s in table[text].head if s[0] < s[1]]
        fit = register.register(shapes[text], spans, strokes)  # for the page's place and size only
        level = placed(strokes, fit, shapes[text])
        style = make.writer(rng)
        made = make([text], rng, style)[0][0]
        for kind, drawing in ((1, level), (0, made)):
            lines = [smoothed(resample(s, 0.022), 3) for s in drawing]
            kept = cropped(lines)
            if kept:
                rows.append((realism_pictures(kept), kind, text, hand))
    return rows


def placed(strokes, fit, taught):
    """A real drawing upright and in body heights as the generator's training sees it."""
    line = np.concatenate(fit.spans)
    slope = np.clip(np.polyfit(line[:, 0], line[:, 1], 1)[0], -0.25, 0.25) \
        if len(fit.spans) == 1 and np.ptp(line[:, 0]) > 0.3 * fit.scale else 0.0
    turn = np.array([[1, slope], [-slope, 1]]) / np.hypot(1, slope)
    _, _, own = register.upright(fit, taught)
    top = np.median((line @ turn.T)[:, 1])
    turned = [s @ turn.T for s in strokes]
    left = (fit.points @ turn.T)[..., 0].min()
    return [(s - [left, top]) / own for s in turned]


def classifier():
    from torch import nn
    return nn.Sequential(
        nn.Conv2d(1, 12, 5, padding=2), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Dropout(0.3), nn.Linear(288, 1))


def told_apart(rows, rounds=2):
    """Cross-validated accuracy, letters kept whole within a fold, means over seeds."""
    torch.set_num_threads(1)
    x = torch.from_numpy(np.stack([r[0] for r in rows]))[:, None]
    y = torch.tensor([float(r[1]) for r in rows])
    letters = sorted({r[2] for r in rows})
    fold = np.array([letters.index(r[2]) % 5 for r in rows])
    rates = []
    for seed in range(rounds):
        right = np.zeros(len(rows))
        for test in range(5):
            torch.manual_seed(seed * 10 + test)
            net = classifier()
            optimiser = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=1e-2)
            train_rows = torch.from_numpy(np.flatnonzero(fold != test))
            for _ in range(25):
                net.train()
                for part in train_rows[torch.randperm(len(train_rows))].split(32):
                    dx, dy = (int(v) for v in torch.randint(-2, 3, (2,)))
                    shifted = torch.roll(x[part], (dy, dx), (2, 3))
                    loss = torch.nn.functional.binary_cross_entropy_with_logits(net(shifted)[:, 0], y[part])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            net.eval()
            here = np.flatnonzero(fold == test)
            with torch.no_grad():
                right[here] = ((net(x[here])[:, 0] > 0) == (y[here] > 0.5)).numpy()
        rates.append(right.mean())
    return float(np.mean(rates)), len(rows)


def realism(data, net=None, arrays=None):
    if arrays is None:
        arrays, net = train.trained(data, HELD_BACK)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "held-out.onnx"
        path.write_bytes(export.graph(arrays).SerializeToString())
        rows = real_or_not(Generator(path), data, net)
    accuracy, n = told_apart(rows)
    return {"accuracy": accuracy, "n": n, "held_back": list(HELD_BACK)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--models-dir", default=str(HERE.parent), help="the folder of the manifests")
    parser.add_argument("--model", help="another file than the shipped one; nothing is written")
    parser.add_argument("--features-command", default=COMMAND)
    parser.add_argument("--only", nargs="*", default=["legibility", "variety", "realism"])
    parser.add_argument("--dry", action="store_true", help="print only")
    arguments = parser.parse_args()
    data, folder = Path(arguments.data), Path(arguments.models_dir)
    path = Path(arguments.model) if arguments.model else folder / f"weights/{export.MODEL}.onnx"
    make, results = Generator(path), {}
    if "legibility" in arguments.only:
        results["legibility"] = legibility(make, folder, arguments.features_command)
    if "variety" in arguments.only:
        results["variety"] = variety(make, data)
    if "realism" in arguments.only:
        results["realism"] = realism(data)
    print(json.dumps(results, ensure_ascii=False, indent=1))
    if arguments.model or arguments.dry or len(results) < 3:
        return
    NOTES.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", "utf-8")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    export.replace(folder / f"{export.MODEL}.toml", export.manifest(digest, card.metrics(results)).encode())
    export.replace(folder / f"cards/{export.MODEL}.md", card.written(results, path).encode())


if __name__ == "__main__":
    main()
