"""Golden features: short signals made from formulas and seeds, and what NeMo's filter makes of them.

    python -m speech.golden --out DIR

One file `log-mel-golden.json`: for each signal its samples (16-bit integers, divide by 32768) in base64, and the
normalised features (80, frames) as little-endian float32 in base64. Another implementation should agree within
2e-3 on every value whose bin has a deviation (`flat` false).
"""

import argparse
import base64
import json
from pathlib import Path

import numpy as np

from . import features


def signals():
    """Name and 16-bit samples at 16 kHz."""
    rng = np.random.default_rng(5)
    t = np.arange(5000) / features.RATE
    sweep = np.sin(2 * np.pi * (100 * t + 0.5 * 22000 * t ** 2)) * 0.5
    vowel = sum(np.sin(2 * np.pi * 140 * k * t + k) / (1 + ((140 * k - 700) / 300) ** 2) for k in range(1, 50))
    vowel = vowel / np.abs(vowel).max() * 0.7 * np.hanning(len(t))
    burst = np.zeros(1700)
    burst[800:1100] = rng.normal(0, 0.2, 300)
    return {"sweep": sweep, "vowel-in-noise": vowel + rng.normal(0, 0.01, len(t)), "click-in-silence": burst,
            "faint-noise": rng.normal(0, 2e-4, 1000), "one-frame-and-a-bit": rng.normal(0, 0.1, 479)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    out = {}
    for name, signal in signals().items():
        whole = np.round(np.clip(signal, -1, 1) * 32767).astype("<i2")
        mel = features.audio_signal(whole.astype(np.float32) / 32768)
        out[name] = {"samples": base64.b64encode(whole.tobytes()).decode(), "frames": mel.shape[1],
                     "features": base64.b64encode(mel.astype("<f4").tobytes()).decode()}
    path = Path(arguments.out) / "log-mel-golden.json"
    path.write_text(json.dumps(out, indent=1) + "\n")
    print(path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
