"""Manifests as text, and that what models/*.toml say agrees with the files."""

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import manifests
import pytest

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
SHIPPED = sorted(path for path in MODELS.glob("*.toml") if path.name != "catalogue.toml")


def test_a_table_replaces_its_own_and_a_new_one_comes_before_the_files() -> None:
    files = '[[files]]\nrole = "model"\npath = "weights/a.onnx"\nsha256 = "00ff"\n'
    old = f'id = "a"\nlabels = ["ੳ", "["]\n\n[alignment]\nlatency_s = 0.05\n\n{files}\n[metrics]\nwrong = 0.5\n'
    new = manifests.with_table(old, "metrics", {"right": 0.25, "n": 3.0})
    assert new == old.replace("wrong = 0.5\n", "right = 0.25\nn = 3.0\n")
    assert manifests.with_table(new, "metrics", {"wrong": 0.5}) == old
    assert manifests.with_table(old, "alignment", {"latency_s": 0.06}) == old.replace("0.05", "0.06")
    confidence = manifests.with_table(old, "confidence", {"low": 0.5, "unit": "ੳ"})
    assert confidence == old.replace(files, f'[confidence]\nlow = 0.5\nunit = "ੳ"\n\n{files}')
    assert tomllib.loads(confidence)["files"] == tomllib.loads(old)["files"]


def test_a_role_that_the_manifest_does_not_name_leaves_everything_as_it_is(tmp_path: Path) -> None:
    old = '[[files]]\nrole = "model"\npath = "weights/a.onnx"\nsha256 = "00ff"\n\n[metrics]\n'
    (tmp_path / "a.toml").write_text(old)
    with pytest.raises(KeyError, match="vocab"):
        manifests.installed(tmp_path, "a", {"model": b"m", "vocab": b"v"})
    assert [path.name for path in tmp_path.iterdir()] == ["a.toml"]
    assert (tmp_path / "a.toml").read_text() == old


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
    assert [
        path.stem for path in SHIPPED
    ] == "digits-pa handwriting-pa letters-pa punctuation-pa-en speech-en speech-pa translation-pa-en".split()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_manifest_agrees_with_its_files(path: Path) -> None:
    said: dict[str, Any] = tomllib.loads(path.read_text())
    assert said["id"] == path.stem
    assert {"operation", "layout", "licence", "source"} <= said.keys()
    assert said["source"].startswith("https://") or (ROOT / said["source"]).is_dir()
    assert (MODELS / "cards" / f"{path.stem}.md").read_text().startswith(f"# {path.stem}")
    roles = [file["role"] for file in said["files"]]
    assert len(set(roles)) == len(roles) > 0
    for file in said["files"]:
        assert hashlib.sha256((MODELS / file["path"]).read_bytes()).hexdigest() == file["sha256"], file["path"]


def test_each_weights_file_belongs_to_a_manifest() -> None:
    files = [file["path"] for path in SHIPPED for file in tomllib.loads(path.read_text())["files"]]
    named = {path for path in files if not path.startswith("fetched/")}
    assert {f"weights/{path.name}" for path in (MODELS / "weights").iterdir()} == named
