"""Writes golden files for the service's tests: signals from formulas and seeds, results from the reference code here.

    python -m speech.golden --out DIR

`log-mel.json`: short signals (16-bit integers, divide by 32768) and their normalised features by NeMo's filter,
(80, frames) as little-endian float32. Another implementation should agree within 2e-3. `global-cmvn.json` is one of
them normalised with global statistics besides, which are given in the form of `config.json`.

`search.json`: a small language model and emissions of log-probabilities (frames, units + 1) as float32, with the text
that prefix beam search finds and the first frame of each of its units.
"""

import argparse
import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from . import align, beam, features, ngram
from .arrays import Doubles, Floats

UNITS, FRAMES, WEIGHT, BONUS, WIDTH = 9, 48, 0.5, 0.6, 8
ORDER = 5  # of the language model


def signals() -> dict[str, Doubles]:
    """Return the signals by name, (n,) in [-1, 1] at 16 kHz."""
    rng = np.random.default_rng(5)
    t = np.arange(5000) / features.RATE
    sweep = np.sin(2 * np.pi * (100 * t + 0.5 * 22000 * t**2)) * 0.5
    tones = (np.sin(2 * np.pi * 140 * k * t + k) / (1 + ((140 * k - 700) / 300) ** 2) for k in range(1, 50))
    vowel = sum(tones, np.zeros(len(t)))
    vowel = vowel / np.abs(vowel).max() * 0.7 * np.hanning(len(t))
    burst = np.zeros(1700)
    burst[800:1100] = rng.normal(0, 0.2, 300)
    return {
        "sweep": sweep,
        "vowel-in-noise": vowel + rng.normal(0, 0.01, len(t)),
        "click-in-silence": burst,
        "faint-noise": rng.normal(0, 2e-4, 1000),
        "one-frame-and-a-bit": rng.normal(0, 0.1, 479),
    }


def golden_signal(signal: Doubles, cmvn: features.Cmvn | None = None) -> dict[str, str]:
    """Return a signal as 16-bit samples and its features, both in base64."""
    whole = np.round(np.clip(signal, -1, 1) * 32767).astype("<i2")
    mel = features.audio_signal(whole.astype(np.float32) / np.float32(32768), cmvn)
    return {
        "samples": base64.b64encode(whole.tobytes()).decode(),
        "features": base64.b64encode(mel.astype("<f4").tobytes()).decode(),
    }


def language(rng: np.random.Generator, path: Path) -> tuple[bytes, list[list[int]]]:
    """Write a language model of a few invented words to `path`; returns the file's bytes and the words."""
    words = [list(rng.integers(1, UNITS, rng.integers(1, 6))) for _ in range(30)]
    found: list[dict[int, int]] = [{} for _ in range(ORDER)]
    for _ in range(400):
        text = [0]
        for k in rng.integers(0, len(words), rng.integers(1, 6)):
            text += [*words[k], 0]
        for n in range(1, ORDER + 1):
            for end in range(max(n, 2), len(text) + 1):
                key = 0
                for unit in text[end - n : end]:
                    key = key << ngram.BITS | int(unit)
                found[n - 1][key] = found[n - 1].get(key, 0) + 1
    counts = [(np.array(sorted(c), np.uint64), np.array([c[k] for k in sorted(c)], float)) for c in found]
    grams = ngram.pruned(ngram.smoothed(counts, UNITS), counts, 1.0)
    ngram.write(path, grams, ngram.backed_off(grams))
    return path.read_bytes(), words


def emissions(rng: np.random.Generator, words: list[list[int]]) -> Floats:
    """Draw log-probabilities, (FRAMES, UNITS + 1), that spell some of the words indistinctly."""
    logits = rng.normal(0, 1.5, (FRAMES, UNITS + 1))
    logits[:, UNITS] += 3
    t = 1
    while t < FRAMES - 8:
        for unit in [*words[rng.integers(len(words))], 0]:
            if t < FRAMES:
                logits[t, unit] += rng.uniform(1, 6)
            t += int(rng.integers(1, 4))
    return (logits - np.log(np.exp(logits).sum(1, keepdims=True))).astype("<f4")


def searched(folder: Path) -> dict[str, Any]:
    """Return the language model, fifty emissions and the result of beam search and alignment for each."""
    rng = np.random.default_rng(7)
    path = folder / "search.lm"
    raw, words = language(rng, path)
    model, said = ngram.Model(path), []
    path.unlink()
    for _ in range(50):
        log_probs = emissions(rng, words)
        ids = beam.search(log_probs, model, WEIGHT, BONUS, WIDTH)
        first = align.frames_of(log_probs, ids, UNITS)
        assert first is not None, "the search found a text that does not fit the frames"
        said.append(
            {
                "emissions": base64.b64encode(log_probs.tobytes()).decode(),
                "units": [int(i) for i in ids],
                "first": [int(f) for f in first],
            }
        )
    return {
        "units": UNITS,
        "weight": WEIGHT,
        "bonus": BONUS,
        "width": WIDTH,
        "language": base64.b64encode(raw).decode(),
        "said": said,
    }


def main() -> None:
    """Write the files to the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    folder = Path(parser.parse_args().out)
    folder.mkdir(parents=True, exist_ok=True)
    features_of = {name: golden_signal(signal) for name, signal in signals().items()}
    short = {"global_cmvn": features.global_cmvn(), **golden_signal(signals()["vowel-in-noise"], features.cmvn())}
    for name, golden in (("log-mel", features_of), ("global-cmvn", short), ("search", searched(folder))):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(golden, indent=1) + "\n")
        print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
