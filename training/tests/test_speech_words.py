"""Which recognised words are right, and how well their confidence agrees with that."""

import json
from pathlib import Path

import numpy as np
import pytest
from speech.measure import words
from speech.measure.words import Word
from speech.whisper_ctc.evidence import Evidence


def test_words_are_right_where_they_stand_in_what_is_said() -> None:
    assert words.right_of("ੳ ਅ ੲ", ["ੳ", "ਸ", "ੲ"]) == [True, False, True]
    assert words.right_of("ੳ ਅ", ["ਹ", "ੳ", "ਅ"]) == [False, True, True]
    assert words.right_of("ੳ ਅ ੲ", ["ੲ"]) == [True]
    assert words.right_of("", ["ੳ"]) == [False]
    assert words.right_of("No, forty-nine.", ["no", "49."]) == [True, True]
    assert words.right_of("ਸਿਫ਼ਰ", ["Sefer"]) == [False]


def test_the_voice_of_a_clip_is_in_its_set(tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean/00-000.json").write_text(json.dumps([{"voice": "a"}, {"voice": "b"}]))
    row = {"file": "0001.wav", "spoken": "ੳ ਅ", "words": [["ੳ", 1, 0.9, -1.0], ["7", 0, 0.0, 0.0]]}
    (tmp_path / "clean.jsonl").write_text(json.dumps(row) + "\n")
    assert words.words(tmp_path / "clean.jsonl", tmp_path) == [Word("clean", "b", Evidence(0.9, -1.0, 1.0, 1))]


def test_the_error_is_the_distance_of_confidence_and_accuracy() -> None:
    agreeing = words.calibration_error(np.array([1.0, 0.5, 0.5]), np.array([1.0, 1.0, 0.0]))
    assert agreeing == pytest.approx(0)
    assert words.calibration_error(np.array([1.0, 1.0]), np.array([0.0, 1.0])) == pytest.approx(0.5)


def test_the_confidence_of_a_voice_is_learned_from_the_others() -> None:
    def some(voice: str, right: float, n: int) -> list[Word]:
        return [Word("clean", voice, Evidence(0.0, 0.0, right, 1))] * n

    found = [*some("a", 1, 3), *some("a", 0, 1), *some("b", 1, 1), *some("b", 0, 3)]
    assert words.left_out(found) == pytest.approx([0.25] * 4 + [0.75] * 4, abs=1e-3)
