"""Measures the confidence of aligner-en on speech and on noise: the mean over its units of their highest probability.

    python -m speech.measure.confidence --models-dir ../models --held WORK/test

`min_confidence` in the manifest lies between the two: a window below it gets an empty transcript.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tyro
from manifests import MODELS

from ..arrays import Doubles
from ..network.recogniser import MODEL, Recogniser, shard_items
from ..search import ctc
from ..sounds import features

SECONDS = 5


def noises(rng: np.random.Generator) -> Iterator[tuple[str, Doubles]]:
    """Yield the name and the samples, (n,) in [-1, 1] at 16 kHz, of sounds without speech."""
    n = features.RATE * SECONDS
    t = np.arange(n) / features.RATE
    spectrum = np.fft.rfft(rng.normal(size=n))
    steps = np.arange(len(spectrum)) + 1
    for name, power in (("white", 0.0), ("pink", 0.5), ("brown", 1.0)):
        x = np.fft.irfft(spectrum / steps**power, n)
        yield name, 0.3 * x / np.abs(x).max()
    yield "tone", 0.2 * np.sin(2 * np.pi * 440 * t)
    yield "hum", sum((0.1 / k * np.sin(2 * np.pi * 50 * k * t) for k in range(1, 9)), np.zeros(n))
    chord = sum((0.1 * np.sin(2 * np.pi * f * t) for f in (261, 329, 392)), np.zeros(n))
    yield "chords", chord * np.exp(-3 * (t % 0.5))


def main(held: Path, models_dir: Path = MODELS) -> None:
    """Print the confidence on each noise, and its low quantiles on speech."""
    recogniser = Recogniser(models_dir / f"weights/{MODEL}.onnx")
    rng = np.random.default_rng(0)
    for name, samples in noises(rng):
        mel = features.log_mel(samples.astype(np.float32))
        print(f"{name} | {ctc.confidence(recogniser.log_probs(mel)):.2f}")
    for part in ("clean", "degraded"):
        found = [ctc.confidence(recogniser.log_probs(mel)) for _, mel in shard_items(held / part)]
        low, few, median = np.quantile(found, [0, 0.01, 0.5])
        print(f"{part} speech, {len(found)} clips | lowest {low:.2f}, 1 % below {few:.2f}, median {median:.2f}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
