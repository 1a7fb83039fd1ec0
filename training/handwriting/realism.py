"""A small network told to tell drawings of held-back drawers from generated ones."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from recognition.strokes import resample, smoothed
from torch import nn

from . import drawings, export, glyphs, register, train
from .generate import Generator, picture

HELD_BACK = (5, 10, 15, 20)
SIMPLE = 0.02  # body heights, about a pixel of the source
SIDE = 48


def small(strokes):
    """Below the headline's zone only, since the headline is the layout's; (SIDE, SIDE) 0..1."""
    image = Image.fromarray(picture(strokes, body=30, pen=2.4, margin=2))
    canvas = np.zeros((SIDE, SIDE), np.float32)
    image = np.asarray(image)[:SIDE, :SIDE]
    canvas[: image.shape[0], : image.shape[1]] = image / 255
    return canvas


def simplified(line, within=SIMPLE):
    """Ramer, Douglas and Peucker's polyline: the source's drawings are such, so both sides are made so."""
    line = np.asarray(line, float)
    if len(line) < 3:
        return line
    way = line[-1] - line[0]
    apart = line - line[0]
    if np.hypot(*way) > 1e-6:
        away = np.abs(apart[:, 0] * way[1] - apart[:, 1] * way[0]) / np.hypot(*way)
    else:
        away = np.hypot(*apart.T)
    k = int(away.argmax())
    if away[k] <= within:
        return line[[0, -1]]
    return np.concatenate([simplified(line[: k + 1], within)[:-1], simplified(line[k:], within)])


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
            lines = [smoothed(resample(simplified(s), 0.022), 3) for s in drawing]
            kept = cropped(lines)
            if kept:
                rows.append((small(kept), kind, text, traits(kept)))
    return rows


def placed(strokes, fit, taught):
    """A real drawing upright and in body heights as the generator's training sees it."""
    line = np.concatenate(fit.spans)
    slope = (
        np.clip(np.polyfit(line[:, 0], line[:, 1], 1)[0], -0.25, 0.25)
        if len(fit.spans) == 1 and np.ptp(line[:, 0]) > 0.3 * fit.scale
        else 0.0
    )
    turn = np.array([[1, slope], [-slope, 1]]) / np.hypot(1, slope)
    _, _, own = register.upright(fit, taught)
    top = np.median((line @ turn.T)[:, 1])
    turned = [s @ turn.T for s in strokes]
    left = (fit.points @ turn.T)[..., 0].min()
    return [(s - [left, top]) / own for s in turned]


def classifier():
    return nn.Sequential(
        nn.Conv2d(1, 12, 5, padding=2),
        nn.BatchNorm2d(12),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.BatchNorm2d(24),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(24, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.AdaptiveAvgPool2d(3),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(288, 1),
    )


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
                    loss = nn.functional.binary_cross_entropy_with_logits(net(shifted)[:, 0], y[part])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            net.eval()
            here = np.flatnonzero(fold == test)
            with torch.no_grad():
                right[here] = ((net(x[here])[:, 0] > 0) == (y[here] > 0.5)).numpy()
        rates.append(right.mean())
    return float(np.mean(rates))


def traits(lines):
    """Numbers that do not depend on how ink is divided into strokes: turning over three distances,
    length, size, place and spread of the ink.
    """
    ink = np.concatenate(lines)
    numbers = [sum(map(len, lines)) * 0.022, *np.ptp(ink, 0), *ink.mean(0), *ink.std(0)]
    for reach in (2, 4, 8):
        turns = [np.abs(turning(line, reach)) for line in lines if len(line) > 2 * reach + 1]
        turns = np.concatenate(turns) if turns else np.zeros(1)
        numbers += [turns.mean(), *np.percentile(turns, [25, 50, 75, 90, 97])]
    return np.array(numbers, np.float32)


def turning(line, reach):
    step = line[reach:] - line[:-reach]
    a, b = step[:-reach], step[reach:]
    return np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(1))


def told_by_traits(rows, seeds=4):
    """As told_apart, from the traits and how they differ from the usual ones of the same character."""
    x, y = np.stack([r[3] for r in rows]), np.array([r[1] for r in rows], np.float32)
    letters = sorted({r[2] for r in rows})
    which = np.array([letters.index(r[2]) for r in rows])
    relative = x - np.stack([x[which == k].mean(0) for k in range(len(letters))])[which]
    x = np.concatenate([x / x.std(0) - x.mean(0) / x.std(0), relative / (relative.std(0) + 1e-6)], 1)
    x, y, fold = torch.from_numpy(x), torch.from_numpy(y), which % 5
    right = np.zeros((seeds, len(rows)))
    for seed in range(seeds):
        for test in range(5):
            torch.manual_seed(seed * 10 + test)
            net = nn.Sequential(nn.Linear(x.shape[1], 24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 1))
            optimiser = torch.optim.AdamW(net.parameters(), 5e-3, weight_decay=0.1)
            here, others = np.flatnonzero(fold == test), torch.from_numpy(np.flatnonzero(fold != test))
            for _ in range(60):
                for part in others[torch.randperm(len(others))].split(64):
                    loss = nn.functional.binary_cross_entropy_with_logits(net(x[part])[:, 0], y[part])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            net.eval()
            with torch.no_grad():
                right[seed, here] = ((net(x[here])[:, 0] > 0) == (y[here] > 0.5)).numpy()
    return float(right.mean())


class Still(Generator):
    """The mean shapes: no writer, no variation."""

    def __call__(self, texts, rng, style=None, variation=None):
        return super().__call__(texts, rng, np.zeros((1, self.style)), np.zeros((len(texts), self.variation)))


def measured(data, net=None, arrays=None, seeds=2):
    if arrays is None:
        arrays, net = train.trained(data, HELD_BACK)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "held-out.onnx"
        path.write_bytes(export.graph(arrays).SerializeToString())
        rows = real_or_not(Generator(path), data, net)
        still = real_or_not(Still(path), data, net)
    return {
        "accuracy": told_apart(rows, seeds),
        "control": told_apart(still, 1),
        "by_traits": told_by_traits(rows),
        "control_by_traits": told_by_traits(still),
        "n": len(rows),
        "seeds": seeds,
        "held_back": list(HELD_BACK),
    }
