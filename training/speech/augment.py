"""What is done to log-mel features each time they are seen: cheap, and never the same twice."""

import numpy as np
from scipy.signal import lfilter

from . import world
from .features import GUARD, MELS, RATE, between, log_mel, slaney_hz, slaney_mel

WARPS = np.linspace(0.84, 1.2, 37)


def centres():
    """Hz of the middle of each mel, (80,)."""
    return slaney_hz(np.linspace(slaney_mel(0), slaney_mel(RATE / 2), MELS + 2))[1:-1]


def warp_matrix(alpha, knee=4600):
    """(80, 80): log-mels as a vocal tract 1 / alpha as long would give them, linear up to a knee in Hz."""
    edge = centres()
    top = RATE / 2
    bend = knee * min(alpha, 1) / alpha
    source = np.where(edge <= bend, edge * alpha, top - (top - bend * alpha) / (top - bend) * (top - edge))
    at = np.clip((slaney_mel(source) / slaney_mel(top)) * (MELS + 1) - 1, 0, MELS - 1)
    low = np.minimum(at.astype(int), MELS - 2)
    out = np.zeros((MELS, MELS), np.float32)
    out[low, np.arange(MELS)] += 1 - (at - low)
    out[low + 1, np.arange(MELS)] += at - low
    return out


def noises(seconds=8, pieces=60, seed=0):
    """A bank of noise as log-mels, (frames, 80), deviation 1 before the filters."""
    rng = np.random.default_rng(seed)
    return np.concatenate([log_mel(world.noise(seconds * RATE, rng)) for _ in range(pieces)])


class Augment:
    def __init__(self, seed=0):
        self.warps = np.stack([warp_matrix(a) for a in WARPS])
        self.bank = noises()
        self.centres = centres()

    def tempo(self, mel, rng, fastest):
        """Faster or slower without another pitch; `fastest` is what the number of units allows."""
        factor = min(rng.uniform(0.85, 1.2), fastest)
        n = max(8, int(len(mel) / factor))
        return between(mel, np.linspace(0, len(mel) - 1, n))

    def reverb(self, mel, rng):
        keep = 10 ** (-6 * 0.01 / rng.uniform(0.2, 0.9))
        power = np.exp(mel)
        late = lfilter([0, 1 - keep], [1, -keep], power, axis=0)
        return np.log(power + np.float32(rng.uniform(0.1, 1.2)) * late.astype(np.float32))

    def noise(self, mel, rng):
        start = rng.integers(0, len(self.bank) - len(mel))
        other = self.bank[start : start + len(mel)]
        loud = np.log(np.mean(np.exp(np.quantile(mel, 0.9, axis=0))))
        gain = loud - np.log(np.mean(np.exp(other[::7]))) - rng.uniform(2, 30) * np.log(10) / 10
        return np.logaddexp(mel, other + np.float32(gain))

    def band(self, mel, rng):
        out = mel.copy()
        floor = np.quantile(mel, 0.02)
        out[:, rng.integers(48, 72) :] = floor
        if rng.random() < 0.5:
            out[:, : rng.integers(2, 9)] = floor
        return out + rng.normal(0, 0.3, out.shape).astype(np.float32)

    def narrow(self, mel, rng):
        """Recorded at a lower rate: above its half is what the way back to 16 kHz left of the mirrored band."""
        half = rng.choice([4000, 4000, 4000, 5512.5])
        out = mel.copy()
        above = self.centres > half
        mirrored = np.abs(self.centres[None] - (2 * half - self.centres[above])[:, None]).argmin(1)
        lost = rng.uniform(9, 25)  # 40 to 110 dB
        out[:, above] = np.logaddexp(mel[:, mirrored] - np.float32(lost), np.float32(np.log(GUARD)))
        return out

    def __call__(self, mel, rng, fastest=1.2, strength=1.0):
        """(frames, 80) not normalised to the same, changed; at less strength the world comes in less often."""
        mel = np.asarray(mel, np.float32)
        if rng.random() < 0.5 * strength:
            mel = self.tempo(mel, rng, fastest)
        if rng.random() < 0.8:
            mel = mel @ self.warps[rng.integers(len(WARPS))]
        if rng.random() < 0.5:  # a microphone's colour: matters only to what is added behind it
            points = rng.normal(0, 1.2, 6)
            mel = mel + np.interp(np.arange(MELS), np.linspace(0, MELS, 6), points).astype(np.float32)
        if rng.random() < 0.35 * strength:
            mel = self.reverb(mel, rng)
        if rng.random() < 0.5 * strength:
            mel = self.noise(mel, rng)
        if rng.random() < 0.15:
            mel = self.band(mel, rng)
        last = rng.random()
        if last < 0.15:
            return self.narrow(mel, rng)
        if last < 0.75:  # what silence sounds like
            mel = np.logaddexp(mel, np.float32(mel.max() - rng.uniform(17 - 10 * strength, 17)))
        return mel


def quiet(mel, rng, longest=90):
    """Up to so many frames of what this recording sounds like where nobody speaks, or of no sound at all."""
    n = 1 + int(rng.random() ** 2 * longest)
    if rng.random() < 0.3:
        return np.full((n, MELS), np.log(GUARD), np.float32)
    floor = np.quantile(np.asarray(mel[:300], np.float32), 0.05, axis=0)
    return (floor + rng.uniform(-1, 1) + rng.normal(0, 0.7, (n, MELS))).astype(np.float32)


def masked(mel, rng, strength=1.0, bands=2, width=14, longest=18, every=120):
    """SpecAugment on normalised features: bands of mels and stretches of time set to the mean."""
    width, longest = int(width * strength), int(longest * strength)
    for _ in range(bands):
        n = rng.integers(0, width + 1)
        start = rng.integers(0, MELS - n + 1)
        mel[:, start : start + n] = 0
    for _ in range(max(1, len(mel) // every)):
        n = min(rng.integers(0, longest + 1), len(mel) // 8)
        start = rng.integers(0, len(mel) - n + 1)
        mel[start : start + n] = 0
    return mel
