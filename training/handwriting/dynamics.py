"""How fast a pen moves along a stroke, learned from strokes with times.

omniglot-strokes gives x, y and milliseconds. A small network maps the local geometry (`lines.geometry`) to the log of
the speed, relative to the stroke's mean. `paced` then puts points along any line so that they are evenly spaced in
time.
"""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from recognition.arrays import Float32, Float64
from torch import nn

from . import glyphs
from .glyphs import POINTS, even
from .lines import geometry, length

BODY = 45.0  # pixels of omniglot's page to a body height, about
STEPS = 64  # evenly spaced points that a stroke is resampled to


def strokes_in(lines: Iterable[str]) -> Iterator[list[list[float]]]:
    """The strokes of one omniglot file: rows of x, y (pixels, y up) and milliseconds; other lines end a stroke."""
    rows: list[list[float]] = []
    for line in lines:
        if line.count(",") == 2:
            rows.append([float(v) for v in line.split(",")])
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows


def timed_strokes(data: Path) -> list[Float64]:
    """Every stroke with at least eight samples, (n, 3): x, y in body heights, y down, and seconds."""
    found = []
    for archive in sorted((data / "handwriting/omniglot-strokes").glob("strokes_background_*.zip")):
        with zipfile.ZipFile(archive) as files:
            for name in sorted(n for n in files.namelist() if n.endswith(".txt")):
                if "__MACOSX" in name:
                    continue
                strokes = strokes_in(files.read(name).decode().splitlines())
                found += [np.array(rows) * [1 / BODY, -1 / BODY, 1e-3] for rows in strokes]
    return [s for s in found if len(s) >= 8 and length(s[:, :2]) > 0.25 and s[-1, 2] > s[0, 2]]


def network() -> nn.Sequential:
    """Features (n, 7) to log speed (n, 1), untrained, from a fixed seed."""
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(7, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))


def examples(strokes: Iterable[Float64]) -> tuple[Float32, Float32]:
    """Features (m, 7) and log speeds (m,), relative to the stroke's mean, of timed strokes."""
    xs, ys = [], []
    for stroke in strokes:
        keep = np.concatenate([[True], np.hypot(*np.diff(stroke[:, :2], axis=0).T) > 1e-6])
        stroke = stroke[keep]
        if len(stroke) < 6:
            continue
        along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(stroke[:, :2], axis=0).T))])
        at = np.linspace(0, along[-1], STEPS)
        points = np.stack([np.interp(at, along, stroke[:, k]) for k in (0, 1)], 1)
        times = np.interp(at, along, stroke[:, 2])
        kernel = np.hanning(9)[1:-1]
        pace = np.convolve(np.pad(np.diff(times), 3, "edge"), kernel / kernel.sum(), "valid")
        if pace.mean() <= 0:
            continue
        speed = -np.log(np.clip(pace / pace.mean(), 0.1, 8))
        xs.append(geometry(points)[:-1])
        ys.append(speed)
    return np.concatenate(xs), np.concatenate(ys).astype(np.float32)


def train(data: Path, steps: int = 2500, batch: int = 4096) -> tuple[nn.Sequential, dict[str, float]]:
    """The trained network; the numbers of strokes, and the share of held-back strokes' variance it explains.

    Every tenth stroke is held back.
    """
    strokes = timed_strokes(data)
    test = [s for k, s in enumerate(strokes) if k % 10 == 0]
    x, y = (torch.from_numpy(v) for v in examples([s for k, s in enumerate(strokes) if k % 10]))
    net = network()
    optimiser = torch.optim.AdamW(net.parameters(), 3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, steps)
    generator = torch.Generator().manual_seed(5)
    for _ in range(steps):
        pick = torch.randint(len(x), (batch,), generator=generator)
        loss = nn.functional.smooth_l1_loss(net(x[pick])[:, 0], y[pick])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    tx, ty = (torch.from_numpy(v) for v in examples(test))
    with torch.no_grad():
        explained = 1 - ((net(tx)[:, 0] - ty) ** 2).mean() / ty.var()
    return net, {"strokes": len(strokes), "held_back": len(test), "explained": float(explained)}


def paced(net: nn.Module, points: Float64, n: int) -> Float64:
    """`n` points (n, 2) along a line (m, 2) in body heights, evenly spaced in time."""
    fine = even(points, 240)
    with torch.no_grad():
        speed = net(torch.from_numpy(geometry(fine)))[:, 0].numpy()
    speed = np.exp(np.clip(speed - speed.mean(), -1.1, 0.8))
    between = 0.5 * (1 / speed[1:] + 1 / speed[:-1])
    time = np.concatenate([[0], np.cumsum(between)])
    at = np.linspace(0, time[-1], n)
    return np.stack([np.interp(at, time, fine[:, k]) for k in (0, 1)], 1)


def taught(net: nn.Module) -> dict[str, Float64]:
    """Each glyph's taught strokes as the pen would move along them: text to (strokes, POINTS, 2)."""
    return {g.text: np.stack([paced(net, s, POINTS) for s in g.strokes]) for g in glyphs.table()}
