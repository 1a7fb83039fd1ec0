"""Cleaning, splitting and aligning of parallel text."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from translation import alignment, cleaning, prepared


@pytest.mark.parametrize(
    ("pa", "expected"),
    [
        ("ਮੈਪਰੋ [Mapro] ਲਿਆਓ", "ਮੈਪਰੋ ਲਿਆਓ"),
        ("ਆਰੀਆ [Arya] [Ragi Malt] ਦਿਓ", "ਆਰੀਆ Ragi Malt ਦਿਓ"),
        ("2 [pouches],ਥੈਲੇ [pouches] ਦਿਓ", "2 ਥੈਲੇ ਦਿਓ"),
        ("[Beard Wash] ਮਹਿੰਗਾ ਹੈ", "Beard Wash ਮਹਿੰਗਾ ਹੈ"),
    ],
)
def test_glosses_are_left_out(pa: str, expected: str) -> None:
    assert cleaning.unglossed(pa) == expected


@pytest.mark.parametrize(
    ("pa", "expected"),
    [
        ("ਚਾਹੁੰਦਾ ਹਾਂ I", "ਚਾਹੁੰਦਾ ਹਾਂ।"),
        ("ਹਾਂ I ਇਸ ਦੇ ਨਾਲ", "ਹਾਂ। ਇਸ ਦੇ ਨਾਲ"),
        ("ਹੈ | ਅਤੇ ਹੈ|", "ਹੈ। ਅਤੇ ਹੈ।"),
        ("ਐਕਟ II ਹੈ", "ਐਕਟ II ਹੈ"),
        ("ਕੀ ਹੈ ? ਹੈ ।", "ਕੀ ਹੈ? ਹੈ।"),
        ("ਤੌਰਉੱਤੇ ਹੈ", "ਤੌਰ ਉੱਤੇ ਹੈ"),
    ],
)
def test_dandas_and_spaces(pa: str, expected: str) -> None:
    assert cleaning.danda(pa) == expected


def test_plain_text() -> None:
    assert cleaning.plain("don\\’t  say \\'x\\' &amp; go ?") == "don’t say 'x' & go?"
    assert cleaning.plain("ਤੁਸੀਂਂ") == "ਤੁਸੀਂ"
    assert cleaning.plain("a\ue000b") == "ab"


def test_names_left_out_are_put_in() -> None:
    rows = [
        ("Name 12", "ਪ੍ਰਨੀਤ [Parneet],", "indicvoices:digital-slot"),
        ("Add Rs 100 to Name 12", "100 ਰੁਪਏ ਪ੍ਰਨੀਤ [Parneet] ਵਿੱਚ ਪਾਓ", "indicvoices:digital"),
        ("Add Rs 100 to Name 12 now", "100 ਰੁਪਏ ਸਨੀ [Sunny] ਵਿੱਚ ਪਾਓ", "indicvoices:digital"),
    ]
    found = cleaning.cleaned(rows)
    assert [pair[:2] for pair, _ in found] == [
        ("Parneet", "ਪ੍ਰਨੀਤ"),
        ("Add Rs 100 to Parneet", "100 ਰੁਪਏ ਪ੍ਰਨੀਤ ਵਿੱਚ ਪਾਓ"),
    ]
    assert found[1][1] == "add rs § to §"


@pytest.mark.parametrize(
    ("en", "pa", "expected"),
    [
        ("Go home.", "ਘਰ ਜਾਓ।", True),
        ("ਘਰ", "ਘਰ", False),
        ("Go <TAG> home", "ਘਰ ਜਾਓ", False),
        ("Wi-Fi", "Wi-Fi", True),
        ("Go home", "Go", False),
        ("Go", "ਉਹ ਆਪਣੇ ਘਰ ਨੂੰ ਜਾ ਰਿਹਾ ਹੈ ਅਤੇ ਫਿਰ ਆਵੇਗਾ", False),
    ],
)
def test_what_may_be_a_translation(en: str, pa: str, expected: bool) -> None:
    assert cleaning.fits(en, pa) is expected


def test_templates() -> None:
    assert cleaning.template("Wake me at 6:15!") == cleaning.template("wake me at 7") == "wake me at §"
    listed = [
        cleaning.template(text, ["Jams", "Amul Butter", "Ghee"])
        for text in ("Show Jams and Ghee", "Show Jams, Amul Butter and Ghee!")
    ]
    assert listed[0] == listed[1]
    assert cleaning.template("Pay <AMNT> to Name 3") == "pay § to §"


def test_rows_of_a_template_are_capped_and_in_one_part(tmp_path: Path) -> None:
    del tmp_path
    rows = [((f"Pay Rs {k} now", f"ਹੁਣ {k} ਰੁਪਏ ਦਿਓ", "indicvoices:digital"), "pay rs § now") for k in range(40)]
    assert len(prepared.capped(rows)) == prepared.CAP
    parts = Counter(prepared.by_template(f"template number {k}") for k in range(3000))
    assert 30 < parts["test"] < 90
    assert 30 < parts["dev"] < 90
    template = next(f"t {k}" for k in range(999) if prepared.by_template(f"t {k}") == "test")
    row = ("a", "b", "indicvoices:gov")
    assert prepared.part(row, template, "train") == prepared.part(row, template, "test") == "test"
    other = next(f"t {k}" for k in range(999) if prepared.by_template(f"t {k}") == "train")
    assert prepared.part(row, other, "test") is None
    assert prepared.part(row, other, "train") == "train"
    assert prepared.part(("a", "b", "fenix"), template, "train") == "train"


def test_parts_are_read_as_written(tmp_path: Path) -> None:
    parts = {"train": [('say "x"', "ਕਹੋ", "a")], "dev": [], "test": [("b", "ਬ", "c")]}
    prepared.write(parts, tmp_path)
    assert prepared.read(tmp_path) == parts


def test_the_alignment_model_tells_translations_from_others() -> None:
    nouns = {"dog": "ਕੁੱਤਾ", "cat": "ਬਿੱਲੀ", "house": "ਘਰ", "tree": "ਰੁੱਖ", "water": "ਪਾਣੀ"}
    verbs = {"sees": "ਵੇਖਦਾ", "wants": "ਚਾਹੁੰਦਾ", "likes": "ਪਸੰਦ"}
    rows = [
        (f"the {a} {v} the {b}", f"{nouns[a]} {nouns[b]} {verbs[v]} ਹੈ")
        for a in nouns
        for b in nouns
        for v in verbs
        if a != b
    ]
    wrong = [("the dog sees the cat", "ਘਰ ਪਾਣੀ ਚਾਹੁੰਦਾ ਹੈ"), ("the tree wants the house", "ਬਿੱਲੀ ਕੁੱਤਾ ਪਸੰਦ ਹੈ")]
    found = alignment.scores([*rows, *wrong])
    assert found[: len(rows)].min() > found[len(rows) :].max() + 0.5
    assert np.isfinite(alignment.scores([("", "ਘਰ"), ("a", "b")])).all()
