"""Whisper's log-mel features without padding to 30 s: mono samples at 16 kHz in, (frames, 80) out, 10 ms a frame.

Source: `log_mel_spectrogram` of OpenAI's `whisper` (MIT).
"""

from functools import cache

import numpy as np

from ..arrays import AnyFloats, Floats
from ..features import RATE, slaney_hz, slaney_mel

MELS = 80
FFT = 400  # samples: 25 ms, also the length of the window
HOP = 160  # samples: 10 ms
FLOOR = 1e-10  # power
RANGE = 8.0  # decades that are kept below the loudest value
BLOCK = 4096  # frames computed at a time
LN10 = np.float32(np.log(10))


@cache
def filters() -> Floats:
    """Return the mel filter bank, (80, 201): triangles of equal area (Slaney's norm) over the spectrum's bins."""
    bins = np.linspace(0, RATE / 2, FFT // 2 + 1)
    edges = slaney_hz(np.linspace(slaney_mel(0), slaney_mel(RATE / 2), MELS + 2))
    ramps = edges[:, None] - bins[None]
    widths = np.diff(edges)
    triangles = np.maximum(0, np.minimum(-ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]))
    return (triangles * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


def log_power(samples: AnyFloats) -> Floats:
    """Return log10 of the mel power, (n // 160, 80), not yet normalised.

    `samples`: (n,) in [-1, 1] at 16 kHz, more than 200 of them: the ends are mirrored.
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


def normalised(log10_power: AnyFloats) -> Floats:
    """Clamp to eight decades below the maximum and scale as Whisper does; the shape stays the same."""
    x = np.asarray(log10_power, np.float32)
    return (np.maximum(x, x.max() - np.float32(RANGE)) + np.float32(4)) / np.float32(4)


def features(samples: AnyFloats) -> Floats:
    """Return the encoder's input, (frames, 80); the argument is that of `log_power`."""
    return normalised(log_power(samples))
