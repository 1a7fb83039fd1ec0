"""How well small networks tell drawings of held-back drawers from generated ones; 50 % is chance."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from figures import Figures
from PIL import Image
from recognition.arrays import AnyPoints, Coverage, Float32, Float64
from recognition.strokes import resample, smoothed
from torch import nn

from . import drawings, dynamics, export, glyphs, register, train
from .generate import Generator, Make, picture
from .traits import cropped, simplified, traits

HELD_BACK = (5, 10, 15, 20)
SIDE = 48  # pixels


class Row(NamedTuple):
    """One drawing, real or generated."""

    ink: Coverage  # (SIDE, SIDE)
    real: int  # 1, or 0 for a generated one
    text: str
    traits: Float32  # (25,)


class Training(NamedTuple):
    """The settings by which a small network is trained."""

    epochs: int
    batch: int
    rate: float
    decay: float


def small(strokes: Sequence[AnyPoints]) -> Coverage:
    """Strokes as a picture (SIDE, SIDE), 0..1, 30 pixels to a body height; what does not fit in is cut off."""
    image = np.asarray(Image.fromarray(picture(strokes, body=30, pen=2.4, margin=2)))[:SIDE, :SIDE]
    canvas = np.zeros((SIDE, SIDE), np.float32)
    canvas[: image.shape[0], : image.shape[1]] = image / 255
    return canvas


def prepared(drawing: Sequence[AnyPoints]) -> list[AnyPoints]:
    """The strokes of a real or generated drawing, simplified, resampled and smoothed alike."""
    return [smoothed(resample(simplified(s), 0.022), 3) for s in drawing]


def real_or_not(make: Make, data: Path, shapes: dict[str, Float64]) -> list[Row]:
    """Every drawing of the held-back drawers, and as many by `make` of the same characters, each in a style of its own.

    `shapes`: text to taught strokes. Both sides are simplified, resampled and smoothed alike, because the source's
    drawings are simplified polylines; and cut off below the headline, because the headline is the layout's.
    """
    table = {g.text: g for g in glyphs.table()}
    rng = np.random.default_rng(42)
    rows = []
    for text, _, strokes, _ in drawings.sources(data, tuple(set(range(1, 21)) - set(HELD_BACK))):
        spans = [s for s in table[text].head if s[0] < s[1]]
        fit = register.register(shapes[text], spans, strokes)  # for the page's place and size only
        level = placed(strokes, fit, shapes[text])
        made = make([text], rng)[0][0]
        for kind, drawing in ((1, level), (0, made)):
            kept = cropped(prepared(drawing))
            if kept:
                rows.append(Row(small(kept), kind, text, traits(kept)))
    return rows


def placed(strokes: Sequence[Float64], fit: register.Fit, taught: Float64) -> list[Float64]:
    """A real drawing upright and in body heights, as the generator's training sees it.

    `strokes`: in the source's unit; `fit`: the taught strokes (s, POINTS, 2) on them.
    """
    turn = register.turn_of(fit.spans, fit.scale)
    _, _, own = register.upright(fit, taught)
    top = np.median((np.concatenate(fit.spans) @ turn.T)[:, 1])
    turned = [s @ turn.T for s in strokes]
    left = (fit.points @ turn.T)[..., 0].min()
    return [(s - [left, top]) / own for s in turned]


def classifier() -> nn.Sequential:
    """Pictures (n, 1, SIDE, SIDE) to one logit each, (n, 1): real or not."""
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


def folds_accuracy(
    rows: Sequence[Row], x: torch.Tensor, made: Callable[[], nn.Sequential], seeds: int, steps: Training
) -> float:
    """The share of drawings that networks made by `made` classify rightly, over five folds and so many seeds.

    `x`: the inputs of all drawings. All drawings of a character are in one fold.
    """
    torch.set_num_threads(1)
    y = torch.tensor([float(r.real) for r in rows])
    letters = sorted({r.text for r in rows})
    fold = np.array([letters.index(r.text) % 5 for r in rows])
    right = np.zeros((seeds, len(rows)))
    for seed in range(seeds):
        for test in range(5):
            torch.manual_seed(seed * 10 + test)
            net = made()
            optimiser = torch.optim.AdamW(net.parameters(), steps.rate, weight_decay=steps.decay)
            here, others = np.flatnonzero(fold == test), torch.from_numpy(np.flatnonzero(fold != test))
            for _ in range(steps.epochs):
                for part in others[torch.randperm(len(others))].split(steps.batch):
                    scores = net(shifted(x[part]))[:, 0]
                    loss = nn.functional.binary_cross_entropy_with_logits(scores, y[part])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            net.eval()
            with torch.no_grad():
                right[seed, here] = ((net(x[here])[:, 0] > 0) == (y[here] > 0.5)).numpy()
    return float(right.mean())


def shifted(x: torch.Tensor) -> torch.Tensor:
    """Pictures (n, 1, SIDE, SIDE) moved by up to two pixels; numbers (n, k) as they are."""
    if x.dim() == 2:
        return x
    dx, dy = (int(v) for v in torch.randint(-2, 3, (2,)))
    return torch.roll(x, (dy, dx), (2, 3))


def accuracy(rows: Sequence[Row], seeds: int = 2) -> float:
    """The accuracy of `classifier` on ink."""
    x = torch.from_numpy(np.stack([r.ink for r in rows]))[:, None]
    return folds_accuracy(rows, x, classifier, seeds, Training(25, 32, 2e-3, 1e-2))


def accuracy_by_traits(rows: Sequence[Row], seeds: int = 4) -> float:
    """The accuracy on the traits and on how they differ from the usual ones of the same character."""
    numbers = np.stack([r.traits for r in rows])
    letters = sorted({r.text for r in rows})
    which = np.array([letters.index(r.text) for r in rows])
    relative = numbers - np.stack([numbers[which == k].mean(0) for k in range(len(letters))])[which]
    absolute = numbers / numbers.std(0) - numbers.mean(0) / numbers.std(0)
    x = torch.from_numpy(np.concatenate([absolute, relative / (relative.std(0) + 1e-6)], 1))

    def made() -> nn.Sequential:
        return nn.Sequential(nn.Linear(x.shape[1], 24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 1))

    return folds_accuracy(rows, x, made, seeds, Training(60, 64, 5e-3, 0.1))


class Still(Generator):
    """The generator with the mean shapes: no writer, no variation."""

    def writer(self, rng: np.random.Generator) -> Float64:
        """The writer in the middle of all, (1, 16)."""
        return 0 * super().writer(rng)

    def drawings(self, n: int, rng: np.random.Generator) -> Float64:
        """No variation, (n, 24)."""
        return 0 * super().drawings(n, rng)


def measured(data: Path, seeds: int = 2) -> Figures:
    """The figures, on a generator that is trained without the held-back drawers; `control`: with the mean shapes."""
    arrays, net = train.trained(data, HELD_BACK)
    shapes = dynamics.taught(net)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "held-out.onnx"
        path.write_bytes(export.graph(arrays).SerializeToString())
        rows = real_or_not(Generator(path), data, shapes)
        still = real_or_not(Still(path), data, shapes)
    return {
        "accuracy": accuracy(rows, seeds),
        "control": accuracy(still, 1),
        "by_traits": accuracy_by_traits(rows),
        "control_by_traits": accuracy_by_traits(still),
        "n": len(rows),
        "seeds": seeds,
        "held_back": list(HELD_BACK),
    }
