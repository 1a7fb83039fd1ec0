"""Fits the `[confidence]` table of the translator on dev, and measures it on test.

    python -m translation.confidence --pairs WORK/pairs --models-dir ../models

A translation counts as right if its chrF++ is at least `RIGHT`. The evidence is the mean log-probability of its tokens,
and that of the source's tokens given it; `akhar translate --confidence` gives either by a table that has nothing else.
Prints the table for the manifest, and for fifths of test how many are right of those that are expected to be.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import sacrebleu
import tyro
from manifests import with_table
from numpy.typing import NDArray
from program import translated
from speech.whisper_ctc.evidence import Evidence, fitted, probabilities, table

from . import manifest, prepared
from .corpus import Pair

RIGHT = 50.0
PARTS = 5  # of equal size, by probability
Doubles = NDArray[np.float64]


def log_prob(probability: float) -> float:
    """The mean log-probability of which this probability is the logistic function."""
    bound = min(max(probability, 1e-4), 1 - 1e-4)
    return float(np.log(bound / (1 - bound)))


def evidence(pairs: Sequence[Pair], models_dir: Path) -> list[Evidence]:
    """What is known of the translations of the pairs in both directions, without those that only copy."""
    means: list[list[float]] = []
    right: list[float] = []
    manifest_text = (models_dir / f"{manifest.MODEL}.toml").read_text()
    for name in ("acoustic", "language"):
        means.append([])
        right.clear()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "weights").symlink_to((models_dir / "weights").resolve())
            only = with_table(manifest_text, "confidence", {"intercept": 0.0, name: 1.0, "low": 0.0})
            (Path(folder) / f"{manifest.MODEL}.toml").write_text(only)
            os.environ["AKHAR_MODELS_DIR"] = folder
            for a, b, one, other in ((0, 1, "en", "pa"), (1, 0, "pa", "en")):
                given = translated([pair[a] for pair in pairs], one, other)
                for (probability, text), pair in zip(given, pairs, strict=True):
                    if probability is not None:
                        means[-1].append(log_prob(probability))
                        right.append(sacrebleu.CHRF(word_order=2).sentence_score(text, [pair[b]]).score >= RIGHT)
    return [Evidence(a, b, is_right, 1) for a, b, is_right in zip(*means, right, strict=True)]


def reliability(expected: Doubles, right: Doubles) -> list[tuple[float, float]]:
    """The mean probability and the share of right ones of `PARTS` parts, from the least to the most probable."""
    order = np.argsort(expected)
    return [(float(expected[part].mean()), float(right[part].mean())) for part in np.array_split(order, PARTS)]


def main(pairs: Path, models_dir: Path) -> None:
    """Fits and measures."""
    parts = prepared.read(pairs)
    weights, least = fitted(evidence(parts["dev"], models_dir)), manifest.CONFIDENCE["low"]
    print(table(weights, low=least))
    test = evidence(parts["test"], models_dir)
    expected, right = probabilities(weights, test), np.array([one.right for one in test])
    low = expected < least
    for mean, share in reliability(expected, right):
        print(f"expected {mean:.2f}, right {share:.2f}")
    print(f"{len(test)} of test, {right.mean():.3f} right; {low.mean():.3f} below {least},")
    print(f"of which {right[low].mean():.3f} right, of the others {right[~low].mean():.3f}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
