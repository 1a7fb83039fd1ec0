"""The installed files of speech-pa and their manifest."""

import hashlib
import tomllib
from pathlib import Path

import manifests
import pytest
from speech.whisper_ctc import ship

DECODING = {"beam_width": 32, "lm_weight": 0.5, "insertion_bonus": 1.0, "latency_s": 0.0, "min_confidence": 0.25}
TABLE = "[confidence]\nintercept = 0.13\nacoustic = 7.55\nlanguage = 2.57\nlow = 0.5\nlm_weight = 0.2\n"


def shipped(folder: Path, confidence: str | None = None, **decoding: float) -> Path:
    """The path of the manifest; an export is made in `folder` unless it is there."""
    for name in ("model.half.onnx", "vocab.txt", "config.json", "pa.lm"):
        if not (folder / name).exists():
            (folder / name).write_bytes(name.encode())
    table = ship.confidence_of(confidence) if confidence else None
    sizes = ship.ship(folder, folder / "pa.lm", folder / "models", DECODING | decoding, table)
    assert sizes["config"] == (folder / "config.json").stat().st_size
    return folder / "models/speech-pa.toml"


def test_shipping_writes_the_files_and_their_manifest(tmp_path: Path) -> None:
    path = shipped(tmp_path, TABLE)
    manifest = tomllib.loads(path.read_text())
    assert (manifest["id"], manifest["layout"], manifest["language"]) == ("speech-pa", "whisper-ctc", "pa")
    assert manifest["decoding"] == DECODING
    assert "beam_width = 32\n" in path.read_text()  # the service reads it as an integer
    assert manifest["confidence"] == {
        "intercept": 0.13,
        "acoustic": 7.55,
        "language": 2.57,
        "low": 0.5,
        "lm_weight": 0.2,
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
    assert (path.parent / names["model"]).read_text() == "model.half.onnx"
    assert manifest["metrics"] == {}
    assert not list(tmp_path.rglob("*.part"))


def test_without_a_calibration_there_is_no_confidence_table(tmp_path: Path) -> None:
    assert "confidence" not in tomllib.loads(shipped(tmp_path).read_text())


def test_metrics_are_kept_only_for_the_same_files_and_settings(tmp_path: Path) -> None:
    def metrics(**decoding: float) -> dict[str, float]:
        return tomllib.loads(shipped(tmp_path, TABLE, **decoding).read_text())["metrics"]

    path = shipped(tmp_path, TABLE)
    path.write_text(path.read_text() + "noise = 0.1\n")
    assert metrics() == {"noise": 0.1}
    assert metrics(lm_weight=0.4) == {}
    path.write_text(path.read_text() + "noise = 0.1\n")
    (tmp_path / "model.half.onnx").write_bytes(b"another")
    assert metrics(lm_weight=0.4) == {}


@pytest.mark.parametrize("table", ["", "[confidence]\nlow = 0.5\n", TABLE + "high = 1\n"])
def test_a_confidence_table_with_other_keys_is_refused(table: str) -> None:
    with pytest.raises(ValueError, match=r"\[confidence\] has the keys"):
        ship.confidence_of(table)


def test_a_file_that_is_too_large_stops_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789a")
    with pytest.raises(ValueError, match="a has 11 bytes: expected at most 10"):
        manifests.installed("m", {"model": tmp_path / "a"}, tmp_path / "models", 10)
    assert not (tmp_path / "models").exists()
