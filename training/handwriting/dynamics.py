"""How fast a pen moves along a stroke, learned from strokes with times.

omniglot-strokes gives x, y and milliseconds. A small network maps the local geometry (turning over two
distances, distance from both ends, length) to log speed relative to the stroke's mean; `paced` then
puts points along any line so that they are evenly spaced in time.
"""

import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

from .glyphs import even

BODY = 45.0  # pixels of omniglot's page to a body height, about
STEPS = 64


def timed_strokes(data: Path):
    """(x, y in body heights, y down; seconds) of every stroke with enough samples."""
    found = []
    for archive in sorted((data / "handwriting/omniglot-strokes").glob("strokes_background_*.zip")):
        with zipfile.ZipFile(archive) as files:
            for name in sorted(n for n in files.namelist() if n.endswith(".txt")):
                if "__MACOSX" in name:
                    continue
                rows = []
                for line in files.read(name).decode().splitlines():
                    if line.count(",") == 2:
                        rows.append([float(v) for v in line.split(",")])
                    elif rows:
                        found.append(np.array(rows) * [1 / BODY, -1 / BODY, 1e-3])
                        rows = []
                if rows:
                    found.append(np.array(rows) * [1 / BODY, -1 / BODY, 1e-3])
    return [s for s in found if len(s) >= 8 and length(s[:, :2]) > 0.25 and s[-1, 2] > s[0, 2]]


def length(points):
    return np.hypot(*np.diff(points, axis=0).T).sum()


def geometry(points):
    """Features of evenly spaced points, (n, 7)."""
    n, total = len(points), length(points)
    step = total / (n - 1)
    rows = []
    for reach in (0.06, 0.15, 0.3):
        k = max(1, min(int(round(reach / step)), n // 3))
        padded = np.concatenate([np.repeat(points[:1], k, 0), points, np.repeat(points[-1:], k, 0)])
        back, ahead = points - padded[:n], padded[2 * k :] - points
        cosine = (back * ahead).sum(1) / (np.hypot(*back.T) * np.hypot(*ahead.T) + 1e-6)
        cosine[:k] = cosine[n - k :] = 1.0
        rows.append(np.arccos(np.clip(cosine, -1, 1)))
    along = np.linspace(0, total, n)
    rows += [np.exp(-along / 0.2), np.exp(-(total - along) / 0.2), along / total, np.full(n, np.log(total))]
    return np.stack(rows, 1).astype(np.float32)


def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(7, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))


def examples(strokes):
    """Features and log speeds relative to the stroke's mean."""
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


def train(data: Path, steps=2500, batch=4096):
    """The network, and the share of held-back strokes' variance in log speed it explains."""
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


def paced(net, points, n):
    """N points along the line, evenly spaced in time."""
    fine = even(points, 240)
    with torch.no_grad():
        speed = net(torch.from_numpy(geometry(fine)))[:, 0].numpy()
    speed = np.exp(np.clip(speed - speed.mean(), -1.1, 0.8))
    between = 0.5 * (1 / speed[1:] + 1 / speed[:-1])
    time = np.concatenate([[0], np.cumsum(between)])
    at = np.linspace(0, time[-1], n)
    return np.stack([np.interp(at, time, fine[:, k]) for k in (0, 1)], 1)
