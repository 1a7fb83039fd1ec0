"""A classifier's probabilities in; its figures, and how they are written, out. Needs NumPy alone."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from figures import Figures

N_BINS = 15  # of the calibration error


def geometric_mean(values: Iterable[float]) -> float:
    """Of positive numbers."""
    return float(np.exp(np.mean(np.log(list(values)))))


def scores(rows: npt.NDArray[np.floating[Any]], truth: Sequence[int]) -> Figures:
    """Top-1, top-3 and the expected calibration error of `rows` (n, labels), probabilities; `truth`: n label indices.

    `n` counts the pictures, `errors` those whose best label is wrong, `errors3` those whose label is not among the best
    three; shares are 0..1.

    The calibration error is the mean over 15 equal bins of the best probability, weighted by the pictures in each, of
    the distance between the bin's accuracy and its mean probability (Guo et al., On calibration of modern neural
    networks, 2017).
    """
    labels = np.array(truth)
    order = np.argsort(-rows, 1)
    right = order[:, 0] == labels
    sure = rows.max(1)
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    ece = sum(
        abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean()
        for b in range(N_BINS)
        if (bins == b).any()
    )
    top3 = (order[:, :3] == labels[:, None]).any(1)
    return {
        "n": len(labels),
        "errors": int((~right).sum()),
        "top1": float(right.mean()),
        "errors3": int((~top3).sum()),
        "top3": float(top3.mean()),
        "ece": float(ece),
    }
