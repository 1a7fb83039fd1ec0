"""Recording conditions: resampling, rooms, noise, telephone lines, clipping and mp3.

Samples are (n,) float32 in [-1, 1], mono, at 16 kHz unless a rate is given.
"""

import itertools
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import signal
from scipy.io import wavfile

from ..arrays import AnyFloats, Floats
from .features import RATE

FRAME = 576  # samples: a granule of MPEG-2 layer III


def resampled(samples: Floats, rate: int, speed: float = 1.0) -> Floats:
    """Resample from `rate` Hz to 16 kHz; `speed` above 1 makes the sound faster and higher.

    The rate that stands for `speed` is rounded to a multiple of 50 Hz.
    """
    target = round(RATE / speed / 50) * 50
    if target == rate:
        return samples
    common = np.gcd(target, rate)
    return signal.resample_poly(samples, target // common, rate // common).astype(np.float32)


def trimmed(samples: Floats, floor: float = 0.004, margin: float = 0.08) -> tuple[Floats, int]:
    """Cut off the silence at both ends, up to `margin` seconds; returns the rest and how many samples went in front.

    Silence is what stays below 5 · `floor` of the peak.
    """
    loud = np.flatnonzero(np.abs(samples) > floor * max(1e-9, np.abs(samples).max()) * 5)
    if not len(loud):
        return samples, 0
    start = max(0, loud[0] - int(margin * RATE))
    return samples[start : loud[-1] + int(margin * RATE)], start


def room(rng: np.random.Generator) -> Floats:
    """Draw a room's impulse response, (n,): the direct path (1 at sample 0), early reflections, an exponential tail.

    The tail falls by 60 dB in 0.12 to 0.7 s.
    """
    decay = rng.uniform(0.12, 0.7)  # seconds to fall 60 dB
    n = int(decay * RATE * 0.8)
    tail = rng.normal(size=n) * 10 ** (-3 * np.arange(n) / (decay * RATE))
    tail *= np.minimum(1, np.arange(n) / (0.02 * RATE))
    out = tail * rng.uniform(0.02, 0.12)
    for _ in range(rng.integers(2, 7)):
        out[rng.integers(int(0.001 * RATE), int(0.03 * RATE))] += rng.uniform(-0.5, 0.5)
    cut = rng.uniform(2500, 7500)
    out = signal.lfilter(*signal.butter(1, cut / (RATE / 2)), out)
    out[0] = 1.0
    return out.astype(np.float32)


def noise(n: int, rng: np.random.Generator) -> Floats:
    """Draw noise of a random kind, (n,), with standard deviation 1."""
    kind = rng.integers(0, 5)
    if kind == 0:
        out: AnyFloats = rng.normal(size=n)
    elif kind in (1, 2):  # from pink to brown, by the slope of its spectrum
        spectrum = np.fft.rfft(rng.normal(size=n))
        hertz = np.maximum(np.fft.rfftfreq(n, 1 / RATE), 30)
        out = np.fft.irfft(spectrum * hertz ** -rng.uniform(0.3, 1.2), n)
    elif kind == 3:  # mains and a fan
        t = np.arange(n) / RATE
        base = rng.uniform(45, 130)
        tones = (rng.uniform(0, 1 / k) * np.sin(2 * np.pi * base * k * t + rng.uniform(0, 6.3)) for k in range(1, 12))
        out = sum(tones, np.zeros(n)) + 0.3 * rng.normal(size=n)
    else:  # bursts: a band of noise that comes and goes
        low = rng.uniform(100, 3000)
        out = signal.lfilter(*signal.butter(2, [low / 8000, min(0.98, low * 2 / 8000)], "band"), rng.normal(size=n))
        slow = np.interp(np.arange(n), np.linspace(0, n, max(3, n // 3000)), rng.random(max(3, n // 3000)) ** 3)
        out = out * slow + 0.02 * rng.normal(size=n)
    return (out / (out.std() + 1e-9)).astype(np.float32)


def loudness(samples: AnyFloats) -> np.floating:
    """Return the root mean square over the louder half of the pieces of 20 ms."""
    n = len(samples) // 320 * 320
    power = np.sort((samples[:n].reshape(-1, 320) ** 2).mean(1)) if n else np.array([1e-8])
    return np.sqrt(power[len(power) // 2 :].mean() + 1e-12)


def with_noise(
    samples: AnyFloats, decibels: float, rng: np.random.Generator, other: AnyFloats | None = None
) -> AnyFloats:
    """Add noise `decibels` dB below the loudness of the speech: a random one, or `other`, as long as `samples`."""
    added = noise(len(samples), rng) if other is None else other / (other.std() + 1e-9)
    return samples + added * (loudness(samples) * 10 ** (-decibels / 20))


def in_room(samples: AnyFloats, response: Floats) -> Floats:
    """Convolve with an impulse response; the length stays the same."""
    return signal.fftconvolve(samples, response)[: len(samples)].astype(np.float32)


def band(samples: AnyFloats, low: float, high: float) -> Floats:
    """Keep the frequencies from `low` to `high` Hz."""
    edges = [low / (RATE / 2), high / (RATE / 2)]
    return signal.sosfilt(signal.butter(4, edges, "band", output="sos"), samples).astype(np.float32)


def pause(n: int, rng: np.random.Generator) -> Floats:
    """Draw what is heard before or behind speech whose peak is 1, (n,): silence, clicks, half of the time a breath."""
    out = np.zeros(n, np.float32)
    for _ in range(rng.integers(0, 3)):
        length = int(rng.uniform(0.002, 0.03) * RATE)
        click = rng.normal(size=length) * np.exp(-5 * np.arange(length) / length) * 10 ** rng.uniform(-2, -0.3)
        at = int(rng.integers(0, max(1, n - length)))
        out[at : at + length] += click[: n - at]
    if rng.random() < 0.5 and n > 0.3 * RATE:
        length = int(rng.uniform(0.15, min(0.6, n / RATE)) * RATE)
        at = int(rng.integers(0, n - length + 1))
        air = band(rng.normal(size=length), rng.uniform(200, 800), rng.uniform(2000, 6000))
        out[at : at + length] += air * np.hanning(length) * 10 ** rng.uniform(-2.2, -1)
    return out


def telephone(samples: AnyFloats, rng: np.random.Generator) -> Floats:
    """Limit the band to that of a telephone (150 to 350 Hz up to 3 to 3.8 kHz), half of the time with µ-law steps.

    Source of the µ-law: ITU-T G.711, here as a formula of 8 bits.
    """
    out = band(samples, rng.uniform(150, 350), rng.uniform(3000, 3800))
    if rng.random() < 0.5:  # µ-law
        peak = np.abs(out).max() + 1e-9
        y = np.sign(out) * np.log1p(255 * np.abs(out) / peak) / np.log(256)
        y = np.round(y * 127) / 127
        out = np.sign(y) * (256 ** np.abs(y) - 1) / 255 * peak
    return out.astype(np.float32)


def degraded(samples: AnyFloats, rng: np.random.Generator, babble: AnyFloats | None = None) -> AnyFloats:
    """Apply random recording conditions: room, noise of 3 to 30 dB SNR, telephone, clipping.

    About a third of the utterances stay unchanged. `babble`: other voices, as long as `samples`, that may be the noise.
    """
    if rng.random() < 0.35:
        return samples
    if rng.random() < 0.5:
        samples = in_room(samples, room(rng))
    if rng.random() < 0.6:
        use = babble is not None and rng.random() < 0.25
        samples = with_noise(samples, rng.uniform(3, 30), rng, babble if use else None)
    if rng.random() < 0.12:
        samples = telephone(samples, rng)
    if rng.random() < 0.05:
        peak = np.abs(samples).max() * rng.uniform(0.3, 0.9)
        samples = np.clip(samples, -peak, peak)
    return samples


def as_mp3(samples: AnyFloats, path: Path, kilobits: int) -> None:
    """Write a mono mp3 file at a constant bit rate of `kilobits` kb/s, with the program `lame`."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as sound:
        wavfile.write(sound.name, RATE, (np.clip(samples, -1, 1) * 32767).astype(np.int16))
        subprocess.run(
            ["lame", "--silent", "-m", "m", "-q", "7", "-b", str(kilobits), "--resample", "16", sound.name, path],
            check=True,
            stderr=subprocess.DEVNULL,
        )


def through_mp3(pieces: list[Floats], kilobits: int) -> list[Floats]:
    """Encode and decode utterances as one mp3 file of `kilobits` kb/s; each keeps its length and its place in time.

    Raises RuntimeError where the decoder gives back less than nine tenths of the samples.
    """
    joined = np.concatenate(pieces)
    with tempfile.TemporaryDirectory() as folder:
        packed, back = Path(folder) / "a.mp3", Path(folder) / "b.wav"
        as_mp3(joined, packed, kilobits)
        subprocess.run(["lame", "--silent", "--decode", packed, back], check=True, stderr=subprocess.DEVNULL)
        out = wavfile.read(back)[1].astype(np.float32) / np.float32(32768)
    if len(out) < len(joined) * 0.9:
        raise RuntimeError(f"mp3 gave {len(out)} samples back of {len(joined)}")
    out = np.pad(out, (0, max(0, len(joined) + FRAME - len(out))))
    late = np.dot(out[FRAME : len(joined)], joined[:-FRAME]) > np.dot(out[: len(joined)], joined)
    out = out[FRAME:] if late else out  # the lowest rates have no room for the tag that says the delay
    ends = np.cumsum([0] + [len(p) for p in pieces])
    return [out[a:b] for a, b in itertools.pairwise(ends)]
