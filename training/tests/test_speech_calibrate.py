"""The evidence that `inference/examples/evidence.rs` prints, and what the fit makes of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from speech.measure import calibrate
from speech.measure.calibrate import Answer

WEIGHTS = np.array([4.0, 1.0, 8.0])
RIGHT = Answer("en-read~1.wav", "No, forty-nine.", "No, 49.", [(2, -0.1, -0.1)])
WRONG = Answer("pa-digits~1.wav", "ਸਿਫ਼ਰ", "Sefer", [(5, -3.0, -0.6)])


def test_lines_of_the_program_are_read(tmp_path: Path) -> None:
    line = {"file": "en-read~1.wav", "spoken": "No, forty-nine.", "text": "No, 49.", "segments": [[2, -0.1, -0.1]]}
    (tmp_path / "fit.jsonl").write_text(json.dumps(line) + "\n")
    assert calibrate.answers(tmp_path / "fit.jsonl") == [RIGHT]
    assert RIGHT.kind == "en-read"


def test_a_voice_is_in_one_part_only() -> None:
    everybody = ["c", "a", "b", "d"]
    assert [calibrate.half(who, everybody) for who in "abcd"] == ["fit", "test", "fit", "test"]


def test_numerals_are_right_and_nothing_is_in_panjabi() -> None:
    right, wrong = calibrate.weighed(RIGHT), calibrate.weighed(WRONG)
    assert right is not None
    assert wrong is not None
    assert (right.right, right.n) == (1, len("nofortynine"))
    assert (wrong.right, wrong.acoustic, wrong.language) == (0, -3.0, -0.6)
    assert calibrate.weighed(Answer("en-numbers~1.wav", "12", "12", [])) is None


def test_segments_weigh_as_much_as_they_have_letters() -> None:
    found = calibrate.weighed(RIGHT._replace(segments=[(1, -1.0, -0.5), (3, -3.0, -0.1)]))
    assert found is not None
    assert (found.acoustic, found.language) == pytest.approx((-2.5, -0.2))


def test_one_unlikely_segment_is_a_warning() -> None:
    assert calibrate.warned(WEIGHTS, WRONG, 0.5)
    assert not calibrate.warned(WEIGHTS, RIGHT, 0.5)
    assert calibrate.warned(WEIGHTS, RIGHT._replace(segments=RIGHT.segments + WRONG.segments), 0.5)
    assert not calibrate.warned(WEIGHTS, RIGHT._replace(segments=[]), 0.5)


def test_the_report_counts_texts_by_set() -> None:
    empty = WRONG._replace(text="", segments=[])
    english, panjabi = calibrate.report(WEIGHTS, [WRONG, empty, RIGHT], 0.5)
    assert english == "en-read | 1 clips, 0 empty, 0 warned | 1 texts, right 1.00, expected 0.96, low 0 %"
    assert panjabi == "pa-digits | 2 clips, 1 empty, 1 warned | 1 texts, right 0.00, expected 0.02, low 100 %"
