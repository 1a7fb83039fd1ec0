"""Manifests as text, and that what models/*.toml say agrees with the files, the cards and the recorded figures."""

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

import manifests
import pytest
from translation import manifest as translator

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
SHIPPED = sorted(path for path in MODELS.glob("*.toml") if path.name != "catalogue.toml")


def test_a_manifest_can_be_read_back() -> None:
    head: dict[str, manifests.Value] = {"id": "a", "labels": ["ੳ", '"', "\\"], "size": 3}
    text = manifests.toml(head, {"model": ("weights/a.onnx", "00ff")}, {"top1": 1}, decoding={"beam": 4, "bonus": 1.5})
    assert tomllib.loads(text) == {
        **head,
        "decoding": {"beam": 4, "bonus": 1.5},
        "files": [{"role": "model", "path": "weights/a.onnx", "sha256": "00ff"}],
        "metrics": {"top1": 1.0},
    }
    # The service reads metrics as floats.
    assert text.endswith("top1 = 1.0\n")
    assert '"ੳ"' in text


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.bin"
    manifests.replace(path, b"one")
    manifests.replace(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    manifests.replace(path, b"old")
    (tmp_path / "a.bin.part").mkdir()
    with pytest.raises(IsADirectoryError):
        manifests.replace(path, b"new")
    assert path.read_bytes() == b"old"


def test_there_is_a_manifest_for_each_bundled_model() -> None:
    assert [path.stem for path in SHIPPED] == [
        "digits-pa",
        "handwriting-pa",
        "letters-pa",
        "speech-en",
        "speech-pa",
        "translation-pa-en",
    ]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_manifest_agrees_with_its_files(path: Path) -> None:
    said: dict[str, Any] = tomllib.loads(path.read_text())
    assert said["id"] == path.stem
    assert {"operation", "layout", "licence", "source", "metrics"} <= said.keys()
    assert said["source"].startswith("https://") or (ROOT / said["source"]).is_dir()
    assert (MODELS / "cards" / f"{path.stem}.md").read_text().startswith(f"# {path.stem}")
    roles = [file["role"] for file in said["files"]]
    assert len(set(roles)) == len(roles) > 0
    for file in said["files"]:
        assert hashlib.sha256((MODELS / file["path"]).read_bytes()).hexdigest() == file["sha256"], file["path"]
    assert all(isinstance(value, float) for value in said["metrics"].values())


def test_each_weights_file_belongs_to_a_manifest() -> None:
    files = [file["path"] for path in SHIPPED for file in tomllib.loads(path.read_text())["files"]]
    named = {path for path in files if not path.startswith("fetched/")}
    assert {f"weights/{path.name}" for path in (MODELS / "weights").iterdir()} == named


def test_the_translators_manifest_is_what_its_generator_writes(tmp_path: Path) -> None:
    shipped = MODELS / f"{translator.MODEL}.toml"
    (tmp_path / "weights").symlink_to(MODELS / "weights")
    translator.write(tmp_path, tomllib.loads(shipped.read_text())["metrics"])
    assert (tmp_path / shipped.name).read_text() == shipped.read_text()


def test_the_translators_metrics_are_the_recorded_figures() -> None:
    metrics = tomllib.loads((MODELS / f"{translator.MODEL}.toml").read_text())["metrics"]
    figures = json.loads((ROOT / "training/notes/translation-pa-en.json").read_text())
    for direction, name in (("en-pa", "en_pa"), ("pa-en", "pa_en")):
        assert metrics[f"chrfpp_{name}"] == figures[direction]["all"]["chrf++"]
        assert metrics[f"bleu_{name}"] == figures[direction]["all"]["bleu"]
        assert metrics[f"chrfpp_everyday_{name}"] == figures[direction]["everyday"]["chrf++"]
        assert metrics["test_pairs"] == figures[direction]["all"]["n"]
