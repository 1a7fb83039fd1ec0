"""Makes shards of sounds that are not speech, with an empty text: noise, hum, tones, music, knocks, silence.

    python -m speech.data.nonspeech --hours 0.5 --out DIR/sounds

Samples are (n,) at 16 kHz; `n` is a number of samples.
"""

from pathlib import Path

import numpy as np
import tyro

from ..arrays import AnyFloats, Doubles, Floats
from ..sounds import acoustics
from ..sounds.features import RATE, log_mel
from .shards import Writer


def tone(n: int, rng: np.random.Generator) -> Doubles:
    """Draw one tone of 60 Hz to 6 kHz, steady or gliding, pure or with up to seven overtones."""
    start = np.exp(rng.uniform(np.log(60), np.log(6000)))
    stop = start if rng.random() < 0.6 else start * rng.uniform(0.3, 3)
    phase = 2 * np.pi * np.cumsum(np.linspace(start, stop, n)) / RATE
    overtones = 1 if rng.random() < 0.5 else int(rng.integers(2, 9))
    higher = (rng.uniform(0, 1 / k) * np.sin(k * phase) for k in range(2, overtones + 1))
    out = sum(higher, np.zeros(n)) + np.sin(phase)
    slow = 1 + rng.uniform(0, 0.5) * np.sin(2 * np.pi * rng.uniform(0.5, 8) * np.arange(n) / RATE)
    return out * slow


def note(n: int, hertz: float, rng: np.random.Generator) -> Doubles:
    """Draw a note of `hertz` Hz with overtones below 7 kHz that starts at once and decays."""
    t = np.arange(n) / RATE
    tones = (rng.uniform(0.2, 1) / k * np.sin(2 * np.pi * hertz * k * t) for k in range(1, 7) if hertz * k < 7000)
    return sum(tones, np.zeros(n)) * np.minimum(1, t / rng.uniform(0.003, 0.05)) * np.exp(-t * rng.uniform(0.5, 6))


def music(n: int, rng: np.random.Generator) -> Doubles:
    """Draw chords and a melody on a major scale, with a knock on some beats."""
    out = np.zeros(n)
    beat, base = int(RATE * rng.uniform(0.15, 0.6)), rng.uniform(80, 300)
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16])
    for start in range(0, n, beat):
        for _ in range(rng.integers(0, 4)):
            length = min(n - start, int(beat * rng.uniform(0.8, 4)))
            out[start : start + length] += note(length, base * 2 ** (rng.choice(scale) / 12), rng)
        if rng.random() < 0.4:
            length = min(n - start, beat // 2)
            out[start : start + length] += knock(length, rng) * rng.uniform(0.2, 2)
    return out


def knock(n: int, rng: np.random.Generator) -> Doubles:
    """Draw a burst of noise that decays within 5 to 50 ms (to 1 / e)."""
    return rng.normal(size=n) * np.exp(-np.arange(n) / RATE * rng.uniform(20, 200))


def knocks(n: int, rng: np.random.Generator) -> Doubles:
    """Draw up to eleven knocks at random places."""
    out = np.zeros(n)
    for start in rng.integers(0, n, rng.integers(1, 12)):
        out[start:] += knock(n - start, rng) * rng.uniform(0.1, 1)
    return out


def sound(rng: np.random.Generator) -> Floats:
    """Draw one sound of 0.4 to 8 seconds, (n,) in [-1, 1]."""
    n = int(RATE * rng.uniform(0.4, 8))
    kind = rng.choice(["noise", "tone", "music", "knocks", "silence"], p=[0.3, 0.2, 0.3, 0.1, 0.1])
    if kind == "silence":
        return (rng.normal(0, 10 ** rng.uniform(-5, -3), n) * (rng.random() < 0.8)).astype(np.float32)
    out: AnyFloats
    if kind == "noise":
        out = acoustics.noise(n, rng)
    else:
        out = {"tone": tone, "music": music, "knocks": knocks}[kind](n, rng)
        out = out / (out.std() + 1e-9) + acoustics.noise(n, rng) * 10 ** rng.uniform(-3, -0.3)
    if rng.random() < 0.4:
        out = acoustics.in_room(out, acoustics.room(rng))
    return (out / np.abs(out).max() * 10 ** rng.uniform(-2, -0.05)).astype(np.float32)


def main(hours: float, out: Path, seed: int = 1) -> None:
    """Write one shard of at least `--hours`, as the command line asks."""
    rng = np.random.default_rng(seed)
    writer = Writer(out / f"{seed:02}-000")
    while writer.at < hours * 360000:
        writer.add(log_mel(sound(rng)), text="", voice="none")
    writer.close()


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
