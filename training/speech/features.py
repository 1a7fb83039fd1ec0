"""Log-mel features as NeMo computes them for its CTC exports: 16 kHz mono in, [mel, frames] out."""

import json
from functools import cache
from pathlib import Path

import numpy as np

RATE = 16000  # Hz
HOP = 160  # samples: 10 ms
WINDOW = 400  # samples: 25 ms
FFT = 512
MELS = 80
PREEMPHASIS = 0.97
GUARD = 2.0**-24
BLOCK = 4096  # frames at a time: the spectra of an hour do not fit
ENOUGH = 120  # frames: a shorter recording is normalised as if average speech filled it up to these


def slaney_hz(mel):
    """Slaney's scale: linear up to 1000 Hz, logarithmic above."""
    mel = np.asarray(mel, np.float64)
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mel - 15)))


def slaney_mel(hz):
    hz = np.asarray(hz, np.float64)
    return np.where(hz < 1000, hz * 3 / 200, 15 + 27 / np.log(6.4) * np.log(np.maximum(hz, 1) / 1000))


@cache
def filters(mels=MELS):
    """Triangles of equal area (Slaney's norm) over the bins of the spectrum, (mels, 257)."""
    bins = np.linspace(0, RATE / 2, FFT // 2 + 1)
    edges = slaney_hz(np.linspace(slaney_mel(0), slaney_mel(RATE / 2), mels + 2))
    widths = np.diff(edges)
    ramps = edges[:, None] - bins[None]
    lower = -ramps[:-2] / widths[:-1, None]
    upper = ramps[2:] / widths[1:, None]
    return (np.maximum(0, np.minimum(lower, upper)) * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


@cache
def window():
    """Symmetric Hann of 25 ms in the middle of the 512 samples of a frame."""
    out = np.zeros(FFT, np.float32)
    left = (FFT - WINDOW) // 2
    out[left : left + WINDOW] = np.hanning(WINDOW)
    return out


def between(rows, at):
    """Rows of (T, n), T of 2 or more, at places from 0 to T - 1, those between two by their shares of both."""
    low = np.minimum(at.astype(int), len(rows) - 2)
    share = (at - low).astype(np.float32)[:, None]
    return rows[low] * (1 - share) + rows[low + 1] * share


def log_mel(samples, mels=MELS):
    """Samples in [-1, 1] to log power, (frames, mels) with frames = samples // 160, not yet normalised."""
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
def global_cmvn():
    """What `speech.cmvn` found, as a model's config.json has it."""
    return {"frames": ENOUGH, **json.loads((Path(__file__).parent / "cmvn.json").read_text())}


@cache
def cmvn():
    """Mean, relative to the loudness, and deviation of each mel, (80,) each."""
    return tuple(np.array(global_cmvn()[name], np.float32) for name in ("mean", "deviation"))


def loudness(features):
    """The mean of what each mel bin stays below in nine frames of ten."""
    return np.quantile(features, 0.9, axis=0).mean()


def normalised(features, cmvn=None):
    """Each mel bin to mean 0 and (unbiased) deviation 1 over the utterance, (frames, mels); with `cmvn`, a short one's
    as if that speech, as loud, went on to ENOUGH frames.
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


def audio_signal(samples, cmvn=None):
    """What the exported model takes for one utterance: (mels, frames) float32."""
    return np.ascontiguousarray(normalised(log_mel(samples), cmvn).T)
