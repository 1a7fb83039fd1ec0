"""Data augmentation on log-mel features: cheap enough to be drawn anew each time an utterance is used.

Every function takes and gives (frames, 80) float32: natural logarithms of mel power, 10 ms a frame.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from ..arrays import AnyFloats, Doubles, Floats
from . import acoustics
from .features import MELS, RATE, log_mel

GUARD = 2.0**-24  # the power of silence in NeMo's log-mels
WARPS = np.linspace(0.84, 1.2, 37)  # factors of the frequency axis
BANDS, BAND = 2, 14  # of `masked`: how many bands, and the mels of the widest
STRETCH, EVERY = 18, 120  # of `masked`: frames of the longest stretch, and frames for which one is drawn


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


def between(rows: Floats, at: Doubles) -> Floats:
    """Interpolate linearly between the rows of (T, n), T at least 2, at the places `at` (m,) in [0, T - 1].

    Returns (m, n).
    """
    low = np.minimum(at.astype(int), len(rows) - 2)
    share = (at - low).astype(np.float32)[:, None]
    return rows[low] * (1 - share) + rows[low + 1] * share


def centres() -> Doubles:
    """Return the centre frequency of each mel in Hz, (80,)."""
    return slaney_hz(np.linspace(slaney_mel(0), slaney_mel(RATE / 2), MELS + 2))[1:-1]


def warp_matrix(alpha: float, knee: float = 4600) -> Floats:
    """Return the matrix (80, 80) that warps log-mels as a vocal tract 1 / alpha as long would.

    The frequency axis is scaled linearly up to about `knee` Hz and bent above it, so that 8 kHz stays where it is
    (vocal tract length perturbation: Jaitly and Hinton, 2013).
    """
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


def noises(seconds: int = 8, pieces: int = 60, seed: int = 0) -> Floats:
    """Return a bank of noise as log-mels, (frames, 80); the noise has standard deviation 1 before the filters."""
    rng = np.random.default_rng(seed)
    return np.concatenate([log_mel(acoustics.noise(seconds * RATE, rng)) for _ in range(pieces)])


class Augment:
    """Random changes of log-mel features; it holds the noise bank and the warp matrices, the same for every object."""

    def __init__(self) -> None:
        self.warps: Floats = np.stack([warp_matrix(a) for a in WARPS])
        self.bank = noises()
        self.centres = centres()

    def tempo(self, mel: Floats, rng: np.random.Generator, fastest: float) -> Floats:
        """Change the speed by a factor from 0.85 to 1.2, at most `fastest`, without another pitch.

        `fastest` is what the number of units allows. The result has at least 8 frames.
        """
        factor = min(rng.uniform(0.85, 1.2), fastest)
        n = max(8, int(len(mel) / factor))
        return between(mel, np.linspace(0, len(mel) - 1, n))

    def reverb(self, mel: Floats, rng: np.random.Generator) -> Floats:
        """Add a reverberation whose power falls by 60 dB in 0.2 to 0.9 s."""
        keep = 10 ** (-6 * 0.01 / rng.uniform(0.2, 0.9))
        power = np.exp(mel)
        late = lfilter([0, 1 - keep], [1, -keep], power, axis=0)
        return np.log(power + np.float32(rng.uniform(0.1, 1.2)) * late.astype(np.float32))

    def noise(self, mel: Floats, rng: np.random.Generator) -> Floats:
        """Add noise of the bank, 2 to 30 dB below the speech."""
        start = rng.integers(0, len(self.bank) - len(mel))
        other = self.bank[start : start + len(mel)]
        loud = np.log(np.mean(np.exp(np.quantile(mel, 0.9, axis=0))))
        gain = loud - np.log(np.mean(np.exp(other[::7]))) - rng.uniform(2, 30) * np.log(10) / 10
        return np.logaddexp(mel, other + np.float32(gain))

    def babble(self, mel: Floats, others: Sequence[AnyFloats], rng: np.random.Generator) -> Floats:
        """Add other speakers, (frames, 80) each, repeated for as long as the speech lasts, 3 to 25 dB below it."""
        powers = []
        for other in others:
            turned = np.roll(np.asarray(other, np.float32), rng.integers(len(other)), axis=0)
            powers.append(np.exp(np.resize(turned @ self.warps[rng.integers(len(WARPS))], mel.shape)))
        together = np.log(np.sum(powers, axis=0))
        gain = np.log(np.mean(np.exp(mel)) / np.mean(np.exp(together))) - rng.uniform(3, 25) * np.log(10) / 10
        return np.logaddexp(mel, together + np.float32(gain))

    def band(self, mel: Floats, rng: np.random.Generator) -> Floats:
        """Limit the band as a telephone does: the highest mels, and half of the time the lowest, fall to the floor."""
        out = mel.copy()
        floor = np.quantile(mel, 0.02)
        out[:, rng.integers(48, 72) :] = floor
        if rng.random() < 0.5:
            out[:, : rng.integers(2, 9)] = floor
        return out + rng.normal(0, 0.3, out.shape).astype(np.float32)

    def narrow(self, mel: Floats, rng: np.random.Generator) -> Floats:
        """Simulate a recording at 8 or 11.025 kHz: above half that rate remains a faint mirror image of the band."""
        half = rng.choice([4000, 4000, 4000, 5512.5])
        out = mel.copy()
        above = self.centres > half
        mirrored = np.abs(self.centres[None] - (2 * half - self.centres[above])[:, None]).argmin(1)
        lost = rng.uniform(9, 25)  # 40 to 110 dB
        out[:, above] = np.logaddexp(mel[:, mirrored] - np.float32(lost), np.float32(np.log(GUARD)))
        return out

    def __call__(
        self,
        mel: AnyFloats,
        rng: np.random.Generator,
        fastest: float = 1.2,
        strength: float = 1.0,
        others: Sequence[AnyFloats] = (),
    ) -> Floats:
        """Return (frames, 80), not normalised, with some of the changes applied.

        `fastest`: the highest factor of speed. `strength` in [0, 1] scales how often speed, room and noise change and
        how far above silence the noise floor may rise. `others`: the features of whoever speaks at the same time.
        """
        mel = np.asarray(mel, np.float32)
        if rng.random() < 0.5 * strength:
            mel = self.tempo(mel, rng, fastest)
        if rng.random() < 0.8:
            mel = mel @ self.warps[rng.integers(len(WARPS))]
        if rng.random() < 0.5:  # a microphone's response: normalisation removes it, but not from noise added later
            points = rng.normal(0, 1.2, 6)
            mel = mel + np.interp(np.arange(MELS), np.linspace(0, MELS, 6), points).astype(np.float32)
        if others:
            mel = self.babble(mel, others, rng)
        if rng.random() < 0.35 * strength:
            mel = self.reverb(mel, rng)
        if rng.random() < 0.5 * strength:
            mel = self.noise(mel, rng)
        if rng.random() < 0.15:
            mel = self.band(mel, rng)
        last = rng.random()
        if last < 0.15:
            return self.narrow(mel, rng)
        if last < 0.75:  # the noise floor of the recording
            mel = np.logaddexp(mel, np.float32(mel.max() - rng.uniform(17 - 10 * strength, 17)))
        return mel


def quiet(mel: AnyFloats, rng: np.random.Generator, longest: int = 90) -> Floats:
    """Return a pause of 1 to `longest` frames, (n, 80): digital silence, or this recording's own noise floor."""
    n = 1 + int(rng.random() ** 2 * longest)
    if rng.random() < 0.3:
        return np.full((n, MELS), np.log(GUARD), np.float32)
    floor = np.quantile(np.asarray(mel[:300], np.float32), 0.05, axis=0)
    return (floor + rng.uniform(-1, 1) + rng.normal(0, 0.7, (n, MELS))).astype(np.float32)


def spaced(mels: Sequence[AnyFloats], chance: float, rng: np.random.Generator) -> Floats:
    """Join the features of utterances, (frames, 80) each, with pauses before, between and behind them by chance."""
    out: list[AnyFloats] = []
    for place in range(len(mels) + 1):
        if rng.random() < chance:
            out.append(quiet(mels[min(place, len(mels) - 1)], rng))
        out += mels[place : place + 1]
    return np.concatenate(out).astype(np.float32)


def masked(mel: Floats, rng: np.random.Generator, strength: float = 1.0) -> Floats:
    """Set two bands of mels and some stretches of time to the mean (0) of normalised features, in place.

    A band has at most 14 mels and a stretch at most 18 frames, both times `strength`; a stretch is drawn for every
    120 frames. Source: SpecAugment (Park et al., 2019).
    """
    width, longest = int(BAND * strength), int(STRETCH * strength)
    for _ in range(BANDS):
        n = int(rng.integers(0, width + 1))
        start = rng.integers(0, MELS - n + 1)
        mel[:, start : start + n] = 0
    for _ in range(max(1, len(mel) // EVERY)):
        n = min(int(rng.integers(0, longest + 1)), len(mel) // 8)
        start = rng.integers(0, len(mel) - n + 1)
        mel[start : start + n] = 0
    return mel
