"""The translator's training: its stages, from small texts, on a processor."""

import gzip
import random
from pathlib import Path
from typing import Any

import pytest
from translation import phrases, prepared, tokeniser

pytest.importorskip("torch")
pytest.importorskip("transformers")

import learning
from translation import train
from translation.model import Sizes


def texts(tmp_path: Path) -> train.Options:
    """A folder with pairs of the phrase book, single sentences and a vocabulary."""
    book, rng = phrases.Phrases(), random.Random(1)
    rows = [(*book.draw(rng)[:2], "phrases") for _ in range(300)]
    work, mono = tmp_path / "work", tmp_path / "text/mono"
    prepared.write({"train": rows[:280], "dev": rows[280:290], "test": rows[290:]}, work / "pairs")
    mono.mkdir(parents=True)
    for name, side in (("commonvoice-en", 0), ("commonvoice-pa", 1), ("pratham-stories-pa", 1)):
        with gzip.open(mono / f"{name}.txt.gz", "wt") as file:
            file.writelines(f"{row[side]} {row[side]}\n" for row in rows[:60])
    (work / "tokens").mkdir()
    tokeniser.learn([text for row in rows for text in row[:2]], work / "tokens", 500)
    tokeniser.written(work / "tokens")
    return train.Options(tmp_path, work, tokens=300, dev_steps=2, steps=4, sentences=12, workers=0, threads=1)


def test_the_stages_go_on_where_they_were_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "SIZES", Sizes(16, 2, 1, 1, 32))
    monkeypatch.setattr(train, "TEACHER", Sizes(32, 2, 1, 1, 32))
    monkeypatch.setattr(train, "CUDA", False)
    options, advance = texts(tmp_path), train.Training.advance
    seen: list[tuple[str, int]] = []

    def stopped(self: train.Training, source: Any, target: Any) -> None:
        advance(self, source, target)
        seen.append((self.stage.name, self.counts["step"]))
        if len(seen) == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(train.Training, "advance", stopped)
    with pytest.raises(KeyboardInterrupt):
        train.main(options)
    assert seen[-1] == ("teacher", 3)
    train.main(options)
    expected = [*(("first", k) for k in range(1, 5)), *(("teacher", k) for k in range(1, 4))]
    # The step after the last checkpoint is made again; then the rate falls over as many steps as before.
    expected += [*(("teacher", k) for k in range(3, 9)), *(("student", k) for k in range(1, 9))]
    assert seen == expected
    rows = [line.split("\t") for line in (options.work / "first.tsv").read_text().splitlines()]
    assert {row[0] for row in rows} == {"pa", "en"}
    assert all(len(row) == 4 and float(row[3]) < 0 for row in rows)
    student = learning.load(options.work / "student.pt")
    assert student["done"]
    assert student["net"]["model.shared.weight"].shape[1] == 16
    before = list(seen)
    train.main(options)
    assert seen == before
