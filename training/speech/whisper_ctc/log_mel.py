"""Whisper's log-mel features without padding to 30 s: 16 kHz mono in, (frames, 80) out, 10 ms a frame."""

from functools import cache

import numpy as np

from ..features import RATE, slaney_hz, slaney_mel

MELS = 80
FFT = 400  # samples: 25 ms, also the length of the window
HOP = 160  # samples: 10 ms
FLOOR = 1e-10  # power
RANGE = 8.0  # decades below the loudest value that are kept
BLOCK = 4096  # frames computed at a time
LN10 = np.float32(np.log(10))


@cache
def filters() -> np.ndarray:
    """Slaney's triangles with Slaney's norm over the bins of the spectrum, (80, 201)."""
    bins = np.linspace(0, RATE / 2, FFT // 2 + 1)
    edges = slaney_hz(np.linspace(slaney_mel(0), slaney_mel(RATE / 2), MELS + 2))
    ramps = edges[:, None] - bins[None]
    widths = np.diff(edges)
    triangles = np.maximum(0, np.minimum(-ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]))
    return (triangles * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


def log_power(samples: np.ndarray) -> np.ndarray:
    """Samples in [-1, 1] to log10 of the mel power, (len(samples) // 160, 80), not yet normalised.

    Needs more than 200 samples: the ends are mirrored.
    """
    samples = np.asarray(samples, np.float32)
    frames = len(samples) // HOP
    window = np.hanning(FFT + 1)[:-1].astype(np.float32)
    padded = np.pad(samples, FFT // 2, mode="reflect")
    out = np.empty((frames, MELS), np.float32)
    for start in range(0, frames, BLOCK):
        stop = min(start + BLOCK, frames)
        piece = padded[start * HOP : (stop - 1) * HOP + FFT]
        rows = np.lib.stride_tricks.sliding_window_view(piece, FFT)[::HOP] * window
        power = np.abs(np.fft.rfft(rows)).astype(np.float32) ** 2
        out[start:stop] = np.log10(np.maximum(power @ filters().T, np.float32(FLOOR)))
    return out


def normalised(log10_power: np.ndarray) -> np.ndarray:
    """Clamps to eight decades below the maximum and scales as Whisper does; same shape, float32."""
    x = np.asarray(log10_power, np.float32)
    return (np.maximum(x, x.max() - np.float32(RANGE)) + np.float32(4)) / np.float32(4)


def features(samples: np.ndarray) -> np.ndarray:
    """What the encoder is given: (frames, 80) float32."""
    return normalised(log_power(samples))
