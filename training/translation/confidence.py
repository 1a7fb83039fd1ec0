"""Fits the `[confidence]` table of the translator on dev, and measures it on test.

    python -m translation.confidence --pairs WORK/pairs --models-dir ../models

A translation counts as right if its chrF++ is at least `RIGHT`. `akhar translate --confidence` gives the probability by
the table that the manifest has, and thereby the mean log-probability of the tokens. Prints the table for
the manifest, and for fifths of test how many translations are right of those that are expected to be.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sacrebleu
import tyro
from numpy.typing import NDArray
from program import translated
from speech.whisper_ctc.evidence import Evidence, fitted, probabilities

from . import manifest, prepared
from .corpus import Pair

RIGHT = 50.0
PARTS = 5  # of equal size, by probability
Doubles = NDArray[np.float64]


class Rated(NamedTuple):
    """A translation: its mean log-probability, and its chrF++ against the reference."""

    log_prob: float
    score: float


def log_prob(probability: float, table: dict[str, float]) -> float:
    """The mean log-probability by which `table` gives this probability."""
    bound = min(max(probability, 1e-4), 1 - 1e-4)
    return float((np.log(bound / (1 - bound)) - table["intercept"]) / table["language"])


def rated(pairs: Sequence[Pair], table: dict[str, float]) -> list[Rated]:
    """The translations of the pairs in both directions; without those that only copy."""
    chrf, out, languages = sacrebleu.CHRF(word_order=2), [], ("en", "pa")
    for a, b in ((0, 1), (1, 0)):
        given = translated([pair[a] for pair in pairs], languages[a], languages[b])
        for (probability, text), pair in zip(given, pairs, strict=True):
            if probability is not None:
                out.append(Rated(log_prob(probability, table), chrf.sentence_score(text, [pair[b]]).score))
    return out


def evidence(found: Sequence[Rated]) -> list[Evidence]:
    """What `fitted` takes: each translation is one letter, right or not."""
    return [Evidence(0.0, one.log_prob, float(one.score >= RIGHT), 1) for one in found]


def reliability(expected: Doubles, right: Doubles) -> list[tuple[float, float]]:
    """The mean probability and the share of right ones of `PARTS` parts, from the least to the most probable."""
    order = np.argsort(expected)
    return [(float(expected[part].mean()), float(right[part].mean())) for part in np.array_split(order, PARTS)]


def main(pairs: Path, models_dir: Path) -> None:
    """Fits and measures."""
    parts = prepared.read(pairs)
    table = tomllib.loads((models_dir / f"{manifest.MODEL}.toml").read_text())["confidence"]
    dev = evidence(rated(parts["dev"], table))
    weights = fitted(dev)
    print(f"intercept {weights[0]:.2f}, language {weights[2]:.2f}, from {len(dev)} translations of dev")
    test = evidence(rated(parts["test"], table))
    expected, right = probabilities(weights, test), np.array([one.right for one in test])
    least = manifest.CONFIDENCE["low"]
    low = expected < least
    for mean, share in reliability(expected, right):
        print(f"expected {mean:.2f}, right {share:.2f}")
    print(f"{len(test)} of test, {right.mean():.3f} right; {low.mean():.3f} below {least},")
    print(f"of which {right[low].mean():.3f} right, of the others {right[~low].mean():.3f}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
