"""A classifier's probabilities in; its figures, and how they are written, out. Needs NumPy alone."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

N_BINS = 15  # of the calibration error


class Scores(TypedDict):
    """Figures of one set of pictures; shares are 0..1."""

    n: int  # pictures
    errors: int  # whose best label is wrong
    top1: float
    errors3: int  # whose label is not among the best three
    top3: float
    ece: float  # expected calibration error


class Figures(Scores):
    """Scores with the confusions that occurred, as `right→read times`, most frequent first, at most 20."""

    confusions: list[str]


class Unlike(TypedDict):
    """Best probabilities for pictures that are none of the labels; low ones are right."""

    n: int  # pictures
    median: float
    above_half: float  # share of pictures
    above_nine_tenths: float


class Results(TypedDict, total=False):
    """All figures of a model. Those of letters held out come from the folds' networks, all others from its file."""

    printed: Figures
    scribbles: Unlike
    other_set: Unlike  # handwritten letters for the digits' model, and the other way round
    handwriting: Figures  # all 420 digits, or the 35 letters of drawers held out
    parts: dict[str, Figures]  # the same by fold
    robustness: dict[str, Figures]  # by condition
    pair_bindi: Figures  # synthetic, drawers held out
    labels41: Figures  # letters and pair-bindi letters, drawers held out
    seen: Figures  # the same pictures read by the shipped file, which was trained on their drawers


def geometric_mean(values: Iterable[float]) -> float:
    """Of positive numbers."""
    return float(np.exp(np.mean(np.log(list(values)))))


def scores(rows: npt.NDArray[np.floating[Any]], truth: Sequence[int]) -> Scores:
    """Top-1, top-3 and the expected calibration error of `rows` (n, labels), probabilities; `truth`: n label indices.

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
