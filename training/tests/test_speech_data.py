"""Data of the speech package: shards, lengths, sources, voices."""

import struct
from pathlib import Path

import numpy as np
import pytest
from speech.arrays import Floats
from speech.data import clips, held, lengths, long, real, shards
from speech.sounds.features import MELS, RATE
from speech.texts import numbers
from speech.voices import speakers
from speech.whisper_ctc import ctranslate

LANGUAGES = ("pa", "en")


def tone(seconds: float, level: float = 0.5) -> Floats:
    return (level * np.sin(2 * np.pi * 300 * np.arange(int(seconds * RATE)) / RATE)).astype(np.float32)


def write_shard(path: Path, rows: list[tuple[str, str, int]]) -> None:
    """A shard of (text, voice, frames); utterance k is filled with the value k."""
    writer = shards.Writer(path)
    for k, (text, voice, frames) in enumerate(rows):
        writer.add(np.full((frames, MELS), k, np.float32), text=text, voice=voice)
    writer.close()


def test_a_shard_returns_what_was_written(tmp_path: Path) -> None:
    write_shard(tmp_path / "a" / "01-000", [("ਇੱਕ", "x", 3), ("", "y", 5)])
    assert shards.found(tmp_path / "a") == [tmp_path / "a" / "01-000"]
    shard = shards.Shard(tmp_path / "a" / "01-000")
    assert shard.items == [
        {"start": 0, "frames": 3, "text": "ਇੱਕ", "voice": "x"},
        {"start": 3, "frames": 5, "text": "", "voice": "y"},
    ]
    assert shard.mel(1).shape == (5, MELS)
    assert shard.mel(1).dtype == np.float16
    assert (shard.mel(0) == 0).all()
    assert (shard.mel(1) == 1).all()


def test_an_unfinished_shard_is_not_found(tmp_path: Path) -> None:
    writer = shards.Writer(tmp_path / "01-000")
    writer.add(np.zeros((3, MELS), np.float32), text="")
    assert shards.found(tmp_path) == []
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    writer.close()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".mel"]


def test_ctc_needs_a_frame_for_each_unit_and_between_equal_ones() -> None:
    assert lengths.tight([]) == 0
    assert lengths.tight([1, 2, 3]) == 3
    assert lengths.tight([1, 1, 1, 2]) == 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_voices_of_the_tests_are_never_trained_on(language: str) -> None:
    def drawn(held_out: bool) -> set[tuple[str, str]]:
        plans = [speakers.planned(language, None, np.random.default_rng(k), held_out) for k in range(600)]
        return {(engine, voice.split("+")[-1]) for engine, voice, _ in plans}

    training, test = drawn(False), drawn(True)
    assert not training & test
    assert {voice for engine, voice in test if engine == "espeak"} == set(speakers.HELD_VARIANTS)
    assert {engine for engine, _ in training} == set(speakers.SHARES[language])
    for engine, names in speakers.HELD[language].items():
        assert not set(names) & set(speakers.TRAINING[language].get(engine, []))
    assert sum(speakers.SHARES[language].values()) == pytest.approx(1)


def test_silence_at_the_ends_of_recordings_is_cut_to_the_margin() -> None:
    def around(level: float) -> Floats:
        return np.concatenate([tone(1, level), tone(0.5), tone(1, level)])

    assert len(real.voiced(around(0.5 * 10 ** (-31 / 20)))) == RATE // 2 + 2 * int(0.2 * RATE)
    assert len(real.voiced(around(0.5 * 10 ** (-29 / 20)))) == 2.5 * RATE
    assert len(real.voiced(tone(0.5))) == RATE // 2


def test_the_test_set_is_written_as_shards_and_clips(tmp_path: Path) -> None:
    first: dict[str, object] = {"text": "ਇੱਕ ਦੋ", "voice": "espeak:pa+f4", "times": [(0, 0.15), (1, 0.31)]}
    second: dict[str, object] = {"text": "ਤਿੰਨ", "voice": "flite:awb"}
    rows = [(first, tone(0.4, 2.0)), (second, tone(0.3))]
    held.write(tmp_path, rows)
    table = (tmp_path / "wav/clips.tsv").read_text().splitlines()
    assert table == ["file\ttext\tword_starts", "0000.wav\tਇੱਕ ਦੋ\t0:0.1500 1:0.3100", "0001.wav\tਤਿੰਨ\t"]
    one, two = clips.read(tmp_path / "wav")
    assert (one.text, one.starts, len(one.samples)) == ("ਇੱਕ ਦੋ", [(0, 0.15), (1, 0.31)], 6400)
    assert np.abs(one.samples).max() == pytest.approx(1 / 1.01, abs=1e-3)  # scaled where it would clip
    assert two.samples == pytest.approx(tone(0.3), abs=1e-4)
    shard = shards.Shard(tmp_path / "00-000")
    assert [item["voice"] for item in shard.items] == ["espeak:pa+f4", "flite:awb"]
    assert shard.items[0]["times"] == [[0, 0.15], [1, 0.31]]


def test_a_long_recording_is_filled_with_clips(tmp_path: Path) -> None:
    texts = [numbers.pa(k) for k in range(3)]
    clips.write(tmp_path, (clips.Clip(f"{k}.wav", tone(0.5 + 0.1 * k), text) for k, text in enumerate(texts)))
    samples, table = long.joined(tmp_path, 20, np.random.default_rng(0))
    assert 20 - 2.5 < len(samples) / RATE <= 20
    assert sorted(text for _, _, text in table[:3]) == sorted(texts)  # each once before any repeats
    before = 0.0
    for start, end, text in table:
        assert 0.2 <= start - before <= 1.2
        assert end - start == pytest.approx(0.5 + 0.1 * numbers.PA.index(text))
        assert np.abs(samples[int(before * RATE) : round(start * RATE)]).max() == 0
        assert np.abs(samples[round(start * RATE) : round(end * RATE)]).max() == pytest.approx(0.5, abs=0.01)
        before = end


def packed(text: str) -> bytes:
    raw = text.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw


def ctranslate_file() -> bytes:
    values = np.arange(6, dtype="<f4").reshape(2, 3)
    raw = struct.pack("<I", 6) + packed("WhisperSpec") + struct.pack("<II", 3, 1)
    raw += packed("encoder/weight") + struct.pack("<BIIBI", 2, 2, 3, 0, values.nbytes) + values.tobytes()
    return raw + struct.pack("<I", 1) + packed("decoder/weight") + packed("encoder/weight")


def test_variables_of_a_ctranslate2_file() -> None:
    found = ctranslate.variables(ctranslate_file())
    assert list(found) == ["encoder/weight", "decoder/weight"]
    assert found["decoder/weight"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["encoder/weight"].dtype == np.float32


def test_other_versions_and_truncated_files_are_refused() -> None:
    with pytest.raises(ValueError, match="version 5, expected 6"):
        ctranslate.variables(struct.pack("<I", 5) + ctranslate_file()[4:])
    with pytest.raises(ValueError, match="ends early"):
        ctranslate.variables(ctranslate_file()[:60])
