"""The evidence for a text, and the share of right letters that it lets expect.

`calibrate` fits it; `inference/src/speech/words/evidence.rs` is the service's own.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Floats
from ..search import ctc
from ..texts import metrics, units

TUNED = (0.5, 1.0)  # of the beam search: the language model's weight and the bonus for each unit
WIDTH = 16  # of the beam search
STEPS = 50


class Evidence(NamedTuple):
    """What is known of one text: `right` of `n` letters are right."""

    acoustic: float
    language: float
    right: float
    n: int


def evidence(scores: Floats, lm: str | Path, tuned: tuple[float, float], width: int, truth: str) -> Evidence | None:
    """Return the evidence for the text of (T, units + 1) log-probabilities; None where it has no letters."""
    found = ctc.searched(scores, lm, tuned, width)
    if found is None or not any(found.units):
        return None
    letters = [np.exp(score) for unit, score in zip(found.units, found.acoustic, strict=True) if unit]
    said, truth = units.decode(found.units, "pa").replace(" ", ""), truth.replace(" ", "")
    n = max(len(said), len(truth))
    right = 1 - metrics.distance(truth, said) / n
    return Evidence(float(np.mean(letters)), float(np.mean(found.language)), right, n)


def fitted(found: list[Evidence]) -> Doubles:
    """Return intercept, acoustic weight and language weight, (3,), by Newton's method; negative weights become 0."""
    x = np.array([[1.0, one.acoustic, one.language] for one in found])
    y, n = np.array([one.right for one in found]), np.array([one.n for one in found], float)
    used = [0, 1, 2]
    while True:
        weights = np.zeros(3)
        for _ in range(STEPS):
            p = 1 / (1 + np.exp(-x @ weights))
            step = x[:, used].T @ ((y - p) * n)
            curve = (x[:, used] * (n * p * (1 - p))[:, None]).T @ x[:, used]
            weights[used] += np.linalg.solve(curve + 1e-6 * np.eye(len(used)), step)
        negative = [k for k in used[1:] if weights[k] < 0]
        if not negative:
            return weights
        used = [k for k in used if k not in negative]


def probabilities(weights: Doubles, found: list[Evidence]) -> Doubles:
    """Return the expected share of right letters of each text, (n,)."""
    return np.array([1 / (1 + np.exp(-(weights @ [1.0, one.acoustic, one.language]))) for one in found])


def table(weights: Doubles, low: float, lm_weight: float | None = None) -> str:
    """Return the manifest's table."""
    names = ("intercept", "acoustic", "language")
    lines = [f"{name} = {value:.2f}" for name, value in zip(names, weights, strict=True)]
    weight = [] if lm_weight is None else [f"lm_weight = {lm_weight}"]
    return "\n".join(["[confidence]", *lines, f"low = {low}", *weight])
