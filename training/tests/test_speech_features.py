"""Features, augmentation and recording conditions of the speech package, against values worked out by hand."""

import numpy as np
import pytest
from speech.arrays import Floats
from speech.sounds import acoustics, augment, features
from speech.sounds.features import MELS, RATE, WHISPER

SEEDS = range(12)


def random_mel(frames: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(-4, 2, (frames, MELS)).astype(np.float32)


def tone(hertz: float, seconds: float = 0.5) -> Floats:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * RATE)) / RATE)).astype(np.float32)


def decibels(power: float) -> float:
    return float(10 * np.log10(power))


def test_slaneys_scale() -> None:
    assert augment.slaney_hz([0, 3, 15, 42]).tolist() == pytest.approx([0, 200, 1000, 6400])
    assert augment.slaney_mel([0, 200, 1000, 6400]).tolist() == pytest.approx([0, 3, 15, 42])
    hertz = np.linspace(0, 8000, 99)
    assert augment.slaney_hz(augment.slaney_mel(hertz)) == pytest.approx(hertz)


@pytest.mark.parametrize(("samples", "frames"), [(159, 0), (160, 1), (319, 1), (16000, 100), (48100, 300)])
def test_a_frame_is_ten_milliseconds(samples: int, frames: int) -> None:
    mel = features.log_mel(np.zeros(samples, np.float32))
    assert mel.shape == (frames, MELS)
    assert mel.dtype == np.float32
    assert mel == pytest.approx(np.full((frames, MELS), -24 * np.log(2)), abs=1e-5)  # silence is the guard of 2^-24


def test_features_are_normalised_as_the_network_was_taught() -> None:
    mel = random_mel(features.global_cmvn()["frames"])
    expected = (mel - mel.mean(0)) / mel.std(0, ddof=1)
    assert features.normalised(mel) == pytest.approx(expected, abs=1e-4)
    values = features.normalised(features.log_mel(tone(1000), WHISPER), WHISPER)
    assert values.shape == (50, MELS)
    assert values.max() - values.min() == pytest.approx(2)


def test_a_warp_by_one_changes_nothing() -> None:
    assert augment.warp_matrix(1.0) == pytest.approx(np.eye(MELS), abs=1e-4)


@pytest.mark.parametrize("alpha", augment.WARPS[::6])
def test_warps_are_weighted_means_and_move_by_alpha(alpha: float) -> None:
    matrix = augment.warp_matrix(alpha)
    assert matrix.sum(0) == pytest.approx(np.ones(MELS), abs=1e-5)
    assert matrix.min() >= 0
    source = augment.slaney_hz(np.arange(1, MELS + 1) * augment.slaney_mel(RATE / 2) / (MELS + 1)) @ matrix
    low = slice(5, 50)  # below the bend
    assert source[low] == pytest.approx(alpha * augment.centres()[low], rel=0.01)


@pytest.fixture(scope="module")
def change() -> augment.Augment:
    bank = augment.noises(pieces=3)  # the whole bank takes seconds to make
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(augment, "noises", lambda: bank)
        return augment.Augment()


def test_tempo_stays_within_what_is_asked(change: augment.Augment) -> None:
    mel = random_mel(200)
    lengths = [len(change.tempo(mel, np.random.default_rng(k), 1.1)) for k in range(60)]
    assert max(lengths) <= 200 / 0.85
    assert min(lengths) == int(200 / 1.1)  # never faster than allowed
    assert len(change.tempo(mel[:3], np.random.default_rng(0), 1.2)) == 8


def test_noise_is_two_to_thirty_decibels_below_the_speech(change: augment.Augment) -> None:
    mel = np.full((300, MELS), 3, np.float32)
    for seed in SEEDS:
        added = np.exp(change.noise(mel, np.random.default_rng(seed)).astype(float)) - np.exp(3.0)
        asked = np.random.default_rng(seed)
        asked.integers(0, len(change.bank) - len(mel))  # which piece of the bank is taken
        assert decibels(added.mean() / np.exp(3.0)) == pytest.approx(-asked.uniform(2, 30), abs=1)


def test_other_speakers_are_three_to_twenty_five_decibels_below_the_speech(change: augment.Augment) -> None:
    mel = np.full((300, MELS), 3, np.float32)
    others = [random_mel(40), random_mel(700)]
    for seed in SEEDS:
        out = change.babble(mel, others, np.random.default_rng(seed)).astype(float)
        added = np.exp(out) - np.exp(3.0)
        assert -25.5 < decibels(added.mean() / np.exp(3.0)) < -2.5


def test_a_lower_rate_leaves_the_band_below_its_half(change: augment.Augment) -> None:
    mel = random_mel(100)
    below = augment.centres() < 4000
    above = augment.centres() > 5512.5
    for seed in SEEDS:
        out = change.narrow(mel, np.random.default_rng(seed))
        assert np.array_equal(out[:, below], mel[:, below])
        assert out[:, above].max() <= mel.max() - 9 + np.log(2)


@pytest.mark.parametrize("strength", [0.0, 0.35, 1.0])
def test_augmented_features_are_finite_and_as_long_as_the_text_needs(change: augment.Augment, strength: float) -> None:
    mel = random_mel(120).astype(np.float16)
    for seed in range(40):
        out = change(mel, np.random.default_rng(seed), 1.05, strength)
        assert out.dtype == np.float32
        assert out.shape[1] == MELS
        assert int(120 / 1.05) <= len(out) <= 120 / 0.85
        assert np.isfinite(out).all()


def test_resampling_keeps_a_tone_and_speed_raises_it() -> None:
    def peak(samples: Floats) -> float:
        return float(np.abs(np.fft.rfft(samples)).argmax() * RATE / len(samples))

    at_eight = (0.5 * np.sin(2 * np.pi * 500 * np.arange(8000) / 8000)).astype(np.float32)
    assert peak(acoustics.resampled(at_eight, 8000)) == pytest.approx(500, abs=1)
    assert peak(acoustics.resampled(at_eight, 8000, 1.25)) == pytest.approx(625, abs=2)
    same = tone(300)
    assert acoustics.resampled(same, RATE) is same


def test_trimming_leaves_the_margin() -> None:
    samples = np.pad(np.ones(1000, np.float32), (5000, 3000))
    rest, cut = acoustics.trimmed(samples)
    assert cut == 5000 - 1280
    assert len(rest) == 1280 + 999 + 1280
    silence = np.zeros(10, np.float32)
    assert acoustics.trimmed(silence)[0] is silence


@pytest.mark.parametrize("ratio", [0, 10, 30])
def test_added_noise_has_the_ratio_that_was_asked(ratio: int) -> None:
    speech = np.concatenate([tone(300, 1), np.zeros(RATE, np.float32)])
    added = acoustics.with_noise(speech, ratio, np.random.default_rng(1)) - speech
    loud = (speech[:RATE] ** 2).mean()  # the loudness is that of the louder half
    assert decibels(loud / (added**2).mean()) == pytest.approx(ratio, abs=0.1)
    given = acoustics.with_noise(speech, ratio, np.random.default_rng(1), np.tile(tone(50, 1), 2)) - speech
    assert decibels(loud / (given**2).mean()) == pytest.approx(ratio, abs=0.1)


def test_a_telephone_passes_speech_and_stops_hum_and_hiss() -> None:
    for seed in SEEDS:
        passed = [
            decibels(
                (acoustics.telephone(tone(hertz), np.random.default_rng(seed)) ** 2)[2000:].mean()
                / (tone(hertz) ** 2).mean()
            )
            for hertz in (50, 1000, 6000)
        ]
        assert passed[0] < -20
        assert passed[1] == pytest.approx(0, abs=0.3)
        assert passed[2] < -20
