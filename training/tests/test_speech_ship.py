"""The installed files of speech-pa and aligner-en, and their manifests."""

import hashlib
import tomllib
from pathlib import Path

import pytest
from speech import ship

MODELS = Path(__file__).resolve().parents[2] / "models"
TABLE = "[confidence]\nintercept = 0.13\nacoustic = 7.55\nlanguage = 2.57\nlow = 0.5\nlm_weight = 0.2\n"


def shipped(folder: Path, confidence: str = "") -> Path:
    """The path of the manifest, which is that of the repository at first; an export is made unless it is there."""
    path = folder / "models/speech-pa.toml"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_text((MODELS / path.name).read_text())
    for name in (*ship.PANJABI.values(), "pa.lm"):
        if not (folder / name).exists():
            (folder / name).write_bytes(name.encode())
    (folder / "confidence.toml").write_text(confidence)
    ship.panjabi(folder, folder / "pa.lm", path.parent, folder / "confidence.toml" if confidence else None)
    return path


def test_shipping_writes_the_files_and_their_manifest(tmp_path: Path) -> None:
    path = shipped(tmp_path, TABLE)
    manifest, old = tomllib.loads(path.read_text()), tomllib.loads((MODELS / path.name).read_text())
    assert manifest["confidence"] == {
        "intercept": 0.13,
        "acoustic": 7.55,
        "language": 2.57,
        "low": 0.5,
        "lm_weight": 0.2,
        "word": old["confidence"]["word"],
        "doubt": old["confidence"]["doubt"],
    }
    names = {file["role"]: file["path"] for file in manifest["files"]}
    assert names == {
        "model": "weights/speech-pa.onnx",
        "vocab": "weights/speech-pa.vocab.txt",
        "config": "weights/speech-pa.config.json",
        "language-model": "weights/speech-pa.lm",
    }
    for file in manifest["files"]:
        assert hashlib.sha256((path.parent / file["path"]).read_bytes()).hexdigest() == file["sha256"]
    assert (path.parent / names["model"]).read_text() == "model.int8.onnx"
    changed = ("files", "confidence")
    assert {k: v for k, v in manifest.items() if k not in changed} == {k: v for k, v in old.items() if k not in changed}
    assert not list(tmp_path.rglob("*.part"))


def test_without_a_calibration_the_confidence_table_stays(tmp_path: Path) -> None:
    old = tomllib.loads((MODELS / "speech-pa.toml").read_text())
    assert tomllib.loads(shipped(tmp_path).read_text())["confidence"] == old["confidence"]


@pytest.mark.parametrize("table", ["", "[confidence]\nlow = 0.5\n", TABLE + "high = 1\n"])
def test_a_confidence_table_with_other_keys_is_refused(table: str) -> None:
    with pytest.raises(ValueError, match=r"\[confidence\] has the keys"):
        ship.confidence_of(table)


def test_a_file_that_is_too_large_stops_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shipped(tmp_path)
    before = path.read_text()
    (tmp_path / "pa.lm").write_bytes(b"0123456789a0123456789")
    monkeypatch.setattr(ship, "LARGEST", 20)
    with pytest.raises(ValueError, match=r"pa\.lm has 21 bytes: expected at most 20"):
        ship.panjabi(tmp_path, tmp_path / "pa.lm", path.parent)
    assert path.read_text() == before


def test_the_english_network_is_shipped_as_the_aligner_of_speech_en(tmp_path: Path) -> None:
    old, path = (MODELS / "speech-en.toml").read_text(), tmp_path / "speech-en.toml"
    path.write_text(old)
    for name in ship.FILES.values():
        (tmp_path / name).write_bytes(name.encode())
    ship.aligner(tmp_path, tmp_path)
    before, after = tomllib.loads(old), tomllib.loads(path.read_text())
    assert after["alignment"] == before["alignment"]
    for was, file in zip(before["files"], after["files"], strict=True):
        ours = file["role"].startswith("aligner-")
        assert (file["sha256"] == was["sha256"]) != ours
        if ours:
            assert hashlib.sha256((tmp_path / file["path"]).read_bytes()).hexdigest() == file["sha256"]
