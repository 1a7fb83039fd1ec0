"""What the judgement by people says of networks, and recordings of English with Gurmukhi spelling."""

from pathlib import Path

import numpy as np
import pytest
from speech.data import real
from speech.measure.judgement import SENTENCE, SPONTANEOUS, WHOLE, WORDS, Count, Drift, Figures, chosen, table


def figures(people: int, synthetic: int, digits: int = 0) -> Figures:
    """Figures of a network that has so much wrong, of 100 each."""
    found = Figures()
    for name, wrong in ((SENTENCE, people), (WORDS, 0), (SPONTANEOUS, 0), (WHOLE, 11)):
        found.counts[name] = Count("letters", wrong, 100)
    found.counts["digits of F04"] = Count("words", digits, 100)
    found.counts["clean"] = Count("characters", synthetic, 100)
    return found


def test_the_network_with_the_fewest_errors_of_people_is_chosen() -> None:
    assert chosen([figures(20, 5), figures(18, 5), figures(19, 0)]) == 1


def test_synthetic_voices_alone_choose_no_network() -> None:
    assert chosen([figures(20, 9), figures(20, 0)]) == 0
    assert chosen([figures(20, 9), figures(21, 0)]) == 0


@pytest.mark.parametrize("other", [figures(10, 12), figures(10, 5, digits=5)])
def test_a_network_that_another_set_shows_to_be_worse_is_not_chosen(other: Figures) -> None:
    first = figures(20, 5)
    assert chosen([first, other]) == 0
    assert other.worse(first) == (["clean"] if other.counts["clean"].wrong > 5 else ["digits of F04"])


def test_what_lies_in_the_interval_is_not_worse() -> None:
    assert figures(20, 11).worse(figures(20, 5)) == []
    assert figures(20, 12).worse(figures(20, 5)) == ["clean"]


def test_outputs_that_have_not_moved_have_no_drift() -> None:
    outputs = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    same, turned, longer = Drift(), Drift(), Drift()
    same.add(outputs, outputs)
    turned.add(-outputs, outputs)
    longer.add(1.5 * outputs, outputs)
    assert [str(drift) for drift in (same, turned, longer)] == ["0.0000, 0.000", "2.0000, 2.000", "0.0000, 0.500"]


def test_the_table_has_a_column_for_each_network() -> None:
    lines = table(["a", "b"], [figures(20, 5), figures(18, 5)], ["F04", "none"]).splitlines()
    assert lines[0] == "| set | of | a | b |"
    assert "| clean | 100 characters | 5.0 % [2.2, 11.2] | 5.0 % [2.2, 11.2] |" in lines
    assert lines[-2:] == [
        "| letters of people that are wrong |  | 20 | 18 |",
        "| people in the training |  | F04 | none |",
    ]
    assert len({line.count("|") for line in lines}) == 1


def test_half_of_the_speakers_may_be_learnt() -> None:
    assert real.learnt({"d", "b", "a", "c", "e"}) == {"a", "c", "e"}


def test_numbers_and_names_are_spelt_in_gurmukhi(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = np.zeros(160, np.float32)
    rows = [
        ("A", "numbers", "n1", samples, "907"),
        ("B", "names", "n2", samples, "Al B"),
        ("B", "names", "n3", samples, "É"),
    ]
    rows += [("A", "addresses", "n4", samples, "9 Elm Road"), ("C", "numbers", real.WRONG_CLIP, samples, "1")]
    monkeypatch.setattr(real, "accented", lambda _: iter(rows))
    assert [(row[0], row[3]) for row in real.spelt(Path())] == [("A", "ਨਾਈਨ ਜ਼ੀਰੋ ਸੈਵਨ"), ("B", "ਏ ਐੱਲ ਬੀ")]
    assert [row[0] for row in real.spelt_by_learnt(Path())] == ["en-accented"]
