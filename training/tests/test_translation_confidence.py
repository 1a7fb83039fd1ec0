"""The confidence of translations: the mean log-probability behind a probability, and the calibration's parts."""

from pathlib import Path

import numpy as np
import pytest
from program import translated
from translation.confidence import log_prob, reliability


@pytest.mark.parametrize("mean", [-3.0, -1.2, -0.1])
def test_the_log_probability_is_found_again(mean: float) -> None:
    probability = 1 / (1 + np.exp(-mean))
    assert log_prob(round(float(probability), 4)) == pytest.approx(mean, abs=0.01)


def test_the_parts_go_from_the_least_to_the_most_probable() -> None:
    expected = np.array([0.9, 0.1, 0.5, 0.3, 0.7, 0.2, 0.4, 0.6, 0.8, 1.0])
    parts = reliability(expected, (expected > 0.5).astype(float))
    assert [round(mean, 2) for mean, _ in parts] == [0.15, 0.35, 0.55, 0.75, 0.95]
    assert [share for _, share in parts] == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_the_program_gives_a_probability_and_a_text_for_each_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    akhar = tmp_path / "akhar"
    akhar.write_text("#!/bin/sh\nprintf '0.5000\\tHello.\\n\\t7248\\n'\n")
    akhar.chmod(0o755)
    monkeypatch.setenv("AKHAR", str(akhar))
    assert translated(["ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ।", "7248"], "pa", "en") == [(0.5, "Hello."), (None, "7248")]
    with pytest.raises(ValueError, match="gave 2 lines for 1"):
        translated(["ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ।"], "pa", "en")
