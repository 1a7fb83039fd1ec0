"""The words that translations may have."""

import gzip
from pathlib import Path

import pytest
from translation import dictionary, prepared


@pytest.fixture
def found(tmp_path: Path) -> dict[str, bool]:
    rows = [("The snake's house", "ਸੱਪ ਦਾ ਘਰ", "x")] * 4 + [("Rare snake", "ਵਿਰਲਾ ਸੱਪ", "x")]
    prepared.write({"train": rows, "dev": [], "test": []}, tmp_path / "pairs")
    lexicon = tmp_path / "text/lexicon"
    lexicon.mkdir(parents=True)
    for name, text in (
        ("unilex-pa-frequency.tsv", "ਡੰਗ\t40\nਵੌਕ\t33\n"),
        ("cmudict-en-us.dict", "dangle D AE\ndon't D OW\n"),
    ):
        with gzip.open(lexicon / f"{name}.gz", "wt") as file:
            file.write(text)
    return dictionary.known(tmp_path, tmp_path / "pairs")


def test_the_words_are_those_of_the_lists_and_of_several_pairs(found: dict[str, bool]) -> None:
    assert {"ਡੰਗ", "dangle", "don", "t", "snake", "ਘਰ", "moga", "ਮੋਗਾ", "fifty"} <= set(found)
    assert {"ਵੌਕ", "rare", "ਵਿਰਲਾ"}.isdisjoint(found)
    assert found["snake"]
    assert found["ਸੱਪ"]
    assert not found["dangle"]
