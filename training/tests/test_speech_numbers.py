"""Sentences with numbers, by which the service is measured."""

import re

import numpy as np
from speech.measure import numbers
from speech.texts import units


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
