"""The evidence for a text, and the share of right letters that it lets expect.

`calibrate` fits it; `inference/src/speech/words/evidence.rs` is the service's own.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from ..arrays import Doubles, Floats
from ..search import ctc
from ..texts import metrics, units

TUNED = (0.5, 1.0)  # of the beam search: the language model's weight and the bonus for each unit
WIDTH = 16  # of the beam search


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
    """Return intercept, acoustic weight and language weight, (3,), by logistic regression; no weight is negative."""
    x = np.array([[1.0, one.acoustic, one.language] for one in found])
    y, n = np.array([one.right for one in found]), np.array([one.n for one in found], float)

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        scores = x @ weights
        return (n * (np.logaddexp(0, scores) - y * scores)).sum(), x.T @ (n * (expit(scores) - y))

    return minimize(loss, np.zeros(3), jac=True, bounds=[(None, None), (0, None), (0, None)], tol=1e-12).x


def probabilities(weights: Doubles, found: list[Evidence]) -> Doubles:
    """Return the expected share of right letters of each text, (n,)."""
    return expit(np.array([[1.0, one.acoustic, one.language] for one in found]) @ weights)


def agreement(weights: Doubles, found: list[Evidence], low: float) -> str:
    """Return how the probability and what is right agree, and how many texts are below `low`, for people to read."""
    p, right = probabilities(weights, found), np.average([one.right for one in found], weights=[one.n for one in found])
    return f"{len(found)} texts, right {right:.2f}, expected {p.mean():.2f}, low {100 * (p < low).mean():.0f} %"


def table(weights: Doubles, name: str = "confidence", **more: float) -> str:
    """Return a table of the manifest, with `more` values behind the weights."""
    named = dict(zip(("intercept", "acoustic", "language"), (f"{weight:.2f}" for weight in weights), strict=True))
    return "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in (named | more).items())])
