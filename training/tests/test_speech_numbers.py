"""Sentences with numbers: those that measure the service, and those that a training has."""

import re

import numpy as np
from speech.measure import numbers
from speech.texts import amounts, units


def test_the_sentences_with_numbers_have_each_kind_in_each_place() -> None:
    found = list(numbers.sentences(np.random.default_rng(3), 60))
    assert all(units.plain(text, "pa") == text for text, _ in found)
    assert all(re.fullmatch(r"\d+(:30)?", value) for _, value in found)
    frames = [
        frame
        for kind in (numbers.YEARS, numbers.PRICES, numbers.TIMES, numbers.AMOUNTS, numbers.SHARES)
        for frame in kind
    ]
    for frame in frames:
        before, behind = frame.split("{}")
        assert any(text.startswith(before) and text.endswith(behind) for text, _ in found), frame
    for place in range(3):
        assert all(
            kind[place].startswith("{}") == (place == 0) for kind in (numbers.YEARS, numbers.PRICES, numbers.TIMES)
        )


def test_figures_are_read_without_commas() -> None:
    assert numbers.values("ਅਗਸਤ 1947 ਨੂੰ ₹2,50,000, 5:30 ਵਜੇ।") == ["1947", "250000", "5:30"]
    assert numbers.values("15%") == ["15"]
    assert numbers.values("ਉੱਨੀ ਸੌ") == []


def test_years_are_said_in_hundreds() -> None:
    assert amounts.hundreds(1947) == "ਉੱਨੀ ਸੌ ਸੰਤਾਲੀ"
    assert amounts.hundreds(1900) == "ਉੱਨੀ ਸੌ"
    assert amounts.hundreds(2026) == "ਦੋ ਹਜ਼ਾਰ ਛੱਬੀ"


def test_phrases_of_numbers_are_plain_and_stand_everywhere_in_a_sentence() -> None:
    rng = np.random.default_rng(5)
    assert all(units.plain(text, "pa") == text for text in (amounts.phrase(rng) for _ in range(400)))
    found = [amounts.amid("ਕ ਖ ਗ", rng).split() for _ in range(60)]
    assert {("first" if text[0] != "ਕ" else "last" if text[-1] != "ਗ" else "amid") for text in found} == {
        "first",
        "amid",
        "last",
    }
    assert all([word for word in text if word in "ਕਖਗ"] == ["ਕ", "ਖ", "ਗ"] for text in found)


def test_no_frame_that_judges_numbers_is_a_text_of_a_training() -> None:
    rng = np.random.default_rng(6)
    phrases = [amounts.phrase(rng) for _ in range(400)]
    assert not any(text in phrases for text, _ in numbers.sentences(rng))
