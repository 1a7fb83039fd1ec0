"""The conditions of the Panjabi test set: a telephone, other voices, a low bit rate."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile
from speech.arrays import Floats
from speech.data import clips, corpus, held, shards
from speech.sounds import acoustics
from speech.sounds.features import RATE


def tones(*hertz: float) -> Floats:
    t = np.arange(RATE) / RATE
    return np.sum([0.2 * np.sin(2 * np.pi * f * t) for f in hertz], axis=0).astype(np.float32)


def level(samples: Floats, hertz: int) -> float:
    """The amplitude of a tone in a second of samples."""
    return float(2 * np.abs(np.fft.rfft(samples)[hertz]) / len(samples))


def test_a_telephone_keeps_300_to_3400_hz() -> None:
    found = held.over_telephone(tones(100, 1000, 3000, 5000))
    assert found.shape == (RATE,)
    assert found.dtype == np.float32
    assert level(found, 1000) == pytest.approx(0.2, abs=0.01)
    assert level(found, 3000) == pytest.approx(0.2, abs=0.03)
    assert level(found, 100) < 0.005
    assert level(found, 5000) < 0.001


def test_other_voices_are_10_db_below_the_speech_and_never_the_own_voice() -> None:
    sounds = [tones(440), tones(550), tones(660), tones(770), tones(880), tones(440)[: RATE // 2]]
    voices = ["a", "b", "c", "d", "e", "a"]
    first, *_, last = held.among_others(sounds, voices, np.random.default_rng(0))
    added = first - sounds[0]
    expected = acoustics.loudness(sounds[0]) * 10 ** (-10 / 20)
    assert added.std() == pytest.approx(expected, rel=0.01)
    assert [level(added, f) > expected / 3 for f in (440, 550, 660, 770, 880)] == [False, True, True, True, True]
    assert len(last) == RATE // 2  # shorter than the others
    assert level(last - sounds[-1], 220) < 0.01


def test_a_pause_has_clicks_and_breaths_that_are_softer_than_speech() -> None:
    rng = np.random.default_rng(0)
    found = [acoustics.pause(n, rng) for n in (0, 1, RATE // 100, *[RATE] * 40)]
    assert [len(one) for one in found] == [0, 1, RATE // 100, *[RATE] * 40]
    loud = [np.abs(one).max() for one in found[3:]]
    assert min(loud) == 0
    assert 0.05 < np.median(loud) < max(loud) < 2
    assert all((one == 0).mean() > 0.3 for one in found[3:])


def test_pauses_are_put_before_and_behind_an_utterance() -> None:
    options = corpus.Options(Path(), "pa", "digits", 1, Path(), whisper=True, pauses=True)
    rng, speech = np.random.default_rng(2), tones(440)
    added = [len(corpus.varied({"kind": "digits"}, speech, options, rng)) / RATE - 1 for _ in range(200)]
    assert 0.4 < np.mean([seconds > 0.2 for seconds in added]) < 0.75
    assert max(added) < 2 * corpus.LONG_PAUSE[1] + 0.2


def test_conditions_have_the_texts_of_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held.acoustics, "through_mp3", lambda sounds, _: [one[::-1] for one in sounds])
    sounds = [tones(440, 700), tones(550, 900)]
    writer = shards.Writer(tmp_path / "clean" / held.WHOLE)
    for k, text in enumerate(("ਇੱਕ", "ਦੋ")):
        writer.add(np.zeros((100, 80), np.float32), kind="sentences", text=text, voice=f"espeak:{k}")
    writer.close()
    clips.write(tmp_path / "clean/wav", (clips.Clip(f"{k}.wav", samples) for k, samples in enumerate(sounds)))
    held.conditions("dev", tmp_path)
    for name in ("telephone", "babble", "mp3-16"):
        table = (tmp_path / name / "wav/clips.tsv").read_text()
        assert table == "file\ttext\tword_starts\n0000.wav\tਇੱਕ\t\n0001.wav\tਦੋ\t\n"
        rate, samples = wavfile.read(tmp_path / name / "wav/0000.wav")
        assert (rate, len(samples)) == (RATE, RATE)
        assert np.abs(samples - np.round(sounds[0] * 32767)).max() > 100  # not clean itself
        assert [item["voice"] for item in shards.Shard(tmp_path / name / held.WHOLE).items] == ["espeak:0", "espeak:1"]
