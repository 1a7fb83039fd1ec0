"""What a translation copies: what is found in a text, replaced, and put back."""

import random
import re

import pytest
from program import Stream
from translation import names, placeholders
from translation.placeholders import Lexicon

NAMES = Lexicon(
    [
        ("Moga", "ਮੋਗਾ", "both"),
        ("Moga", "ਮੋਗੇ", "pa"),
        ("New Delhi", "ਨਵੀਂ ਦਿੱਲੀ", "both"),
        ("Karan", "ਕਰਨ", "en"),
    ]
)


def shown(text: str) -> str:
    """A text with its placeholders as <n0> and <w0>."""
    return re.sub(
        "[\ue000-\ue01f]",
        lambda m: f"<n{ord(m[0]) - 0xE000}>" if ord(m[0]) < 0xE010 else f"<w{ord(m[0]) - 0xE010}>",
        text,
    )


def test_the_program_finds_what_is_copied() -> None:
    assert placeholders.mask("੪੫੦ 😀", "pa") == ("\ue000 \ue010", {"\ue000": "450", "\ue010": "😀"})
    assert list(placeholders.mask("Karan, New Delhi", "en", NAMES)[1].values()) == ["ਕਰਨ", "ਨਵੀਂ ਦਿੱਲੀ"]
    assert placeholders.mask("Karan", "en") == ("Karan", {})


def test_numbers_in_words_stay_in_the_texts_to_learn_from() -> None:
    assert placeholders.mask("ਪੰਜ ਬੱਚੇ", "pa") == ("ਪੰਜ ਬੱਚੇ", {})
    assert placeholders.mask("ਪੰਜ ਬੱਚੇ", "pa", in_words=True) == ("\ue000 ਬੱਚੇ", {"\ue000": "five"})


def test_values_are_put_back() -> None:
    assert placeholders.restore("to \ue010ਘਰ at", {"\ue000": "5", "\ue010": "Moga"}) == "to Moga ਘਰ at 5"


def test_a_request_that_is_none_stops_the_program() -> None:
    with pytest.raises(RuntimeError, match="stopped"):
        Stream("text").ask({"step": "mask", "text": "", "language": "hi"})


@pytest.mark.parametrize(
    ("source", "target", "language", "expected"),
    [
        ("At 6:15 in Moga", "ਮੋਗੇ 6:15 ਵਜੇ", "en", ("At <n0> in <w0>", "<w0> <n0> ਵਜੇ")),
        ("ਮੋਗੇ 6:15 ਵਜੇ", "At 6:15 in Moga", "pa", ("<w0> <n0> ਵਜੇ", "At <n0> in <w0>")),
        ("50,000 for Karan", "ਕਰਨ ਲਈ ੫੦੦੦੦", "en", ("<n0> for <w0>", "<w0> ਲਈ <n0>")),
        ("ਕਰਨ ਲਈ", "for Karan", "pa", ("ਕਰਨ ਲਈ", "for Karan")),
        # What only one side has stays; another Latin word that Panjabi keeps does not.
        ("5 apps on Linux", "Linux 'ਤੇ ਐਪਾਂ", "en", ("5 apps on <w0>", "<w0> 'ਤੇ ਐਪਾਂ")),
        ("2 and 2", "2 ਅਤੇ 2", "en", ("<n0> and <n1>", "<n0> ਅਤੇ <n1>")),
    ],
)
def test_pairs_for_training(source: str, target: str, language: str, expected: tuple[str, str]) -> None:
    class Still(random.Random):
        def random(self) -> float:
            return 0.5

    found = placeholders.masked(source, target, language, Still(), NAMES)
    assert tuple(map(shown, found)) == expected


def test_a_third_of_the_pairs_has_placeholders_in_any_order() -> None:
    rng = random.Random(6)
    drawn = [placeholders.masked("1 a 2", "2 ਅ 1", "en", rng) for _ in range(3000)]
    assert all(sorted(a[0] + a[-1]) == sorted(b[0] + b[-1]) for a, b in drawn)
    assert {a[0] for a, _ in drawn} == {chr(0xE000 + k) for k in range(10)}
    assert 0.55 < sum(a[0] == "\ue000" for a, _ in drawn) / len(drawn) < 0.8


# The lexicon.


def test_the_lexicon_is_well_formed() -> None:
    rows = names.rows()
    written = names.written()
    assert all(way in ("both", "en", "pa") for _, _, way in rows)
    assert all(pa == " ".join(pa.split()) and en == " ".join(en.split()) for en, pa, _ in rows)
    assert ("Harpreet", "ਹਰਪ੍ਰੀਤ", "both") in written
    assert ("Gurinder", "ਗੁਰਿੰਦਰ", "both") in written
    assert ("Karan", "ਕਰਨ", "en") in written
    assert not [row for row in written if row[0] in ("Rajpal", "Gurdev")]
    assert max(len(form.split()) for en, pa, _ in rows for form in (en, pa)) <= 3


# What is put back.


@pytest.mark.parametrize(("language", "carrier"), [("en", "I met {} yesterday."), ("pa", "ਮੈਂ ਕੱਲ੍ਹ {} ਨੂੰ ਮਿਲਿਆ।")])
def test_names_are_put_back_in_the_other_language(language: str, carrier: str) -> None:
    lexicon, rows = names.lexicon(), [row for row in names.written() if row[2] == "both"]
    for en, pa, _ in random.Random(3).sample(rows, 200):
        mine, theirs = (en, pa) if language == "en" else (pa, en)
        masked, values = placeholders.mask(carrier.format(mine), language, lexicon)
        assert carrier.format(theirs) == placeholders.restore(masked, values)


@pytest.mark.parametrize("language", ["en", "pa"])
@pytest.mark.parametrize(
    "text",
    [
        *("4096", "14/05/2025", "2025-05-14", "6:15", "₹12,500.50", "+91 98765 43210", "98765-43210"),
        *("nivo@example.org", "https://bopa.in/xi"),
    ],
)
def test_numbers_and_addresses_are_put_back_as_they_are(text: str, language: str) -> None:
    masked, values = placeholders.mask(f"ਮੈਨੂੰ {text} ਦਿਓ" if language == "pa" else f"Give me {text} now", language)
    assert text not in masked
    assert text in values.values()
    assert text in placeholders.restore(masked, values)
