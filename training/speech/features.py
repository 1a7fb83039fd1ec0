"""Log-mel features as NeMo computes them for its CTC exports: mono samples at 16 kHz in, (mels, frames) out.

Source: NeMo's `AudioToMelSpectrogramPreprocessor` (NVIDIA, Apache-2.0) with `normalize: per_feature`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import AnyFloats, Doubles, Floats

RATE = 16000  # Hz
HOP = 160  # samples: 10 ms
WINDOW = 400  # samples: 25 ms
FFT = 512
MELS = 80
PREEMPHASIS = 0.97
GUARD = 2.0**-24  # added to the power, so that the logarithm of silence is finite
BLOCK = 4096  # frames computed at a time: the spectra of an hour do not fit in memory
ENOUGH = 120  # frames: a shorter recording is normalised as if average speech filled it up to this length
Cmvn = tuple[Floats, Floats]


def slaney_hz(mel: npt.ArrayLike) -> Doubles:
    """Convert mels to Hz on Slaney's scale: linear up to 1000 Hz (15 mel), logarithmic above.

    Source: M. Slaney, Auditory Toolbox (1998), as librosa computes it with `htk=False`. The shape stays the same.
    """
    mel = np.asarray(mel, np.float64)
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mel - 15)))


def slaney_mel(hz: npt.ArrayLike) -> Doubles:
    """Convert Hz to mels: the inverse of `slaney_hz`."""
    hz = np.asarray(hz, np.float64)
    return np.where(hz < 1000, hz * 3 / 200, 15 + 27 / np.log(6.4) * np.log(np.maximum(hz, 1) / 1000))


@cache
def filters(mels: int = MELS) -> Floats:
    """Return the mel filter bank, (mels, 257): triangles of equal area (Slaney's norm) over the spectrum's bins."""
    bins = np.linspace(0, RATE / 2, FFT // 2 + 1)
    edges = slaney_hz(np.linspace(slaney_mel(0), slaney_mel(RATE / 2), mels + 2))
    widths = np.diff(edges)
    ramps = edges[:, None] - bins[None]
    lower = -ramps[:-2] / widths[:-1, None]
    upper = ramps[2:] / widths[1:, None]
    return (np.maximum(0, np.minimum(lower, upper)) * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


@cache
def window() -> Floats:
    """Return the analysis window, (512,): a symmetric Hann window of 25 ms in the middle of a frame."""
    out = np.zeros(FFT, np.float32)
    left = (FFT - WINDOW) // 2
    out[left : left + WINDOW] = np.hanning(WINDOW)
    return out


def between(rows: Floats, at: Doubles) -> Floats:
    """Interpolate linearly between the rows of (T, n), T at least 2, at the places `at` (m,) in [0, T - 1].

    Returns (m, n).
    """
    low = np.minimum(at.astype(int), len(rows) - 2)
    share = (at - low).astype(np.float32)[:, None]
    return rows[low] * (1 - share) + rows[low + 1] * share


def log_mel(samples: AnyFloats, mels: int = MELS) -> Floats:
    """Return the natural logarithm of the mel power, (frames, mels), not yet normalised.

    `samples`: (n,) in [-1, 1] at 16 kHz. There are n // 160 frames of 10 ms.
    """
    samples = np.asarray(samples, np.float32)
    frames = len(samples) // HOP
    sharp = samples.copy()
    sharp[1:] -= np.float32(PREEMPHASIS) * samples[:-1]
    padded = np.pad(sharp, FFT // 2)
    out = np.empty((frames, mels), np.float32)
    for start in range(0, frames, BLOCK):
        stop = min(start + BLOCK, frames)
        piece = padded[start * HOP : (stop - 1) * HOP + FFT]
        rows = np.lib.stride_tricks.sliding_window_view(piece, FFT)[::HOP] * window()
        spectrum = np.fft.rfft(rows)
        power = spectrum.real.astype(np.float32) ** 2 + spectrum.imag.astype(np.float32) ** 2
        out[start:stop] = np.log(power @ filters(mels).T + np.float32(GUARD))
    return out


@cache
def global_cmvn() -> dict[str, Any]:
    """Return what `speech.cmvn` measured in the form of a model's config.json: frames, mean (80), deviation (80)."""
    return {"frames": ENOUGH, **json.loads((Path(__file__).parent / "cmvn.json").read_text())}


@cache
def cmvn() -> Cmvn:
    """Return the mean (relative to the loudness) and the standard deviation of each mel, (80,) each."""
    mean, deviation = (np.array(global_cmvn()[name], np.float32) for name in ("mean", "deviation"))
    return mean, deviation


def loudness(features: AnyFloats) -> np.floating:
    """Return the mean over the mel bins of each bin's 0.9 quantile over the frames; `features`: (frames, mels)."""
    return np.quantile(features, 0.9, axis=0).mean()


def normalised(features: AnyFloats, cmvn: Cmvn | None = None) -> Floats:
    """Bring each mel bin to mean 0 and (unbiased) standard deviation 1 over the utterance, (frames, mels).

    With `cmvn`, an utterance shorter than ENOUGH frames is normalised as if average speech of the same loudness
    filled it up to ENOUGH frames.
    """
    features = np.asarray(features, np.float32)
    n = len(features)
    mean = features.mean(0)
    squares = ((features - mean) ** 2).sum(0)
    if cmvn is not None and n < ENOUGH:
        more, other = ENOUGH - n, cmvn[0] + loudness(features)
        whole = (n * mean + more * other) / ENOUGH
        squares = squares + n * (mean - whole) ** 2 + more * (cmvn[1] ** 2 + (other - whole) ** 2)
        n, mean = ENOUGH, whole
    deviation = np.sqrt(squares / max(n - 1, 1))
    return ((features - mean) / (deviation + np.float32(1e-5))).astype(np.float32)


def audio_signal(samples: AnyFloats, cmvn: Cmvn | None = None) -> Floats:
    """Return the exported model's input for one utterance, (mels, frames); `samples`: (n,) in [-1, 1] at 16 kHz."""
    return np.ascontiguousarray(normalised(log_mel(samples), cmvn).T)
