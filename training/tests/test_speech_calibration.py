"""The evidence for a text, and the fit of what it lets expect."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from speech.search import ctc
from speech.texts import units
from speech.whisper_ctc.evidence import Evidence, evidence, fitted, table

LANGUAGE_MODEL = Path(__file__).resolve().parents[2] / "models/weights/speech-pa.lm"


def drawn(weights: tuple[float, float, float], n: int = 4000) -> list[Evidence]:
    """Texts whose share of right letters is that of known weights, with noise."""
    rng = np.random.default_rng(1)
    found = []
    for acoustic, language in zip(rng.uniform(0.2, 1, n), rng.uniform(-4, -0.5, n), strict=True):
        p = 1 / (1 + np.exp(-(weights[0] + weights[1] * acoustic + weights[2] * language)))
        letters = int(rng.integers(5, 40))
        found.append(Evidence(acoustic, language, rng.binomial(letters, p) / letters, letters))
    return found


def test_the_fit_finds_the_weights_that_made_the_data() -> None:
    # 90,000 letters: the weights' standard errors are below 0.06.
    assert fitted(drawn((-1.0, 6.0, 1.5))) == pytest.approx([-1.0, 6.0, 1.5], abs=0.3)


def test_a_weight_that_would_be_negative_is_0() -> None:
    intercept, acoustic, language = fitted(drawn((-2.0, 6.0, -1.5)))
    assert language == 0
    assert acoustic > 4
    assert -10 < intercept < 10


def test_the_table_is_what_a_manifest_takes() -> None:
    found = tomllib.loads(table(np.array([0.131, 7.554, 2.567]), low=0.5, lm_weight=0.2))["confidence"]
    assert found == {"intercept": 0.13, "acoustic": 7.55, "language": 2.57, "low": 0.5, "lm_weight": 0.2}


def emitted(text: str, probability: float) -> np.ndarray:
    """Log-probabilities in which each unit of the text has this probability in a frame of its own."""
    rows = []
    for unit in units.encode(text, "pa"):
        for best, p in ((unit, probability), (units.blank("pa"), 0.99)):
            row = np.full(units.blank("pa") + 1, (1 - p) / units.blank("pa"))
            row[best] = p
            rows.append(np.log(row))
    return np.array(rows, np.float32)


def test_evidence_by_a_worked_example() -> None:
    text = "ਪਾਣੀ ਹੈ"
    found = evidence(emitted(text, 0.9), LANGUAGE_MODEL, (0.5, 1.0), 8, text)
    assert found is not None
    assert (found.right, found.n) == (1, 6)
    assert found.acoustic == pytest.approx(0.9, abs=1e-5)
    scores = ctc.scored(units.encode(text, "pa"), units.blank("pa"), LANGUAGE_MODEL)
    assert found.language == pytest.approx(sum(scores) / 7)
    other = evidence(emitted(text, 0.9), LANGUAGE_MODEL, (0.5, 1.0), 8, "")
    assert other is not None
    assert other.right == 0


def test_no_letters_are_no_evidence() -> None:
    silence = np.full((5, units.blank("pa") + 1), -20, np.float32)
    silence[:, -1] = 0
    assert evidence(silence, LANGUAGE_MODEL, (0.5, 1.0), 8, "") is None
