"""The diarization error rate of the embeddings of Resemblyzer, on mixtures of people who share a channel.

python -m speech.measure.speakers --data DIR --weights resemblyzer/pretrained.pt

The error rate is missed speech, false alarms and speech given to the wrong speaker, over all speech. The rule that
finds speech and the threshold for a further speaker are chosen on half of the speakers of English, and used on all
others.
"""

import itertools
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import librosa
import numpy as np
import torch
import tyro
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import AgglomerativeClustering

from ..arrays import Doubles, Floats, Ints, Mask
from ..sounds.features import RATE
from . import mixtures
from .mixtures import FRAME, PAUSE, Clips

# Frames of a window that gets one embedding, and from one window to the next.
WINDOW, HOP = 120, 40
STEP = 2  # frames that the power is measured over
MOST_SPEAKERS = 4
COLLAR = 25  # frames left out on each side of a change of the reference
ENOUGH = 0.15
COLUMNS = (
    "known pauses, two known",
    "known pauses, number unknown",
    "the service's pauses, two known",
    "missed and false alarms of the rule",
    "two known",
    "number unknown",
    "the same with a collar of 0.25 s",
    "of these at most 15 %",
    "one speaker, number unknown",
    "of these with a second one",
)


class Encoder(torch.nn.Module):
    """The network of Resemblyzer 0.1.4: windows of 40 mels (windows, frames, 40) to unit vectors (windows, 256)."""

    def __init__(self, weights: Path) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(40, 256, 3, batch_first=True)
        self.linear = torch.nn.Linear(256, 256)
        state = torch.load(weights, map_location="cpu", weights_only=False)["model_state"]
        self.load_state_dict({name: state[name] for name in self.state_dict()})

    @torch.inference_mode()
    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        """The embedding of each window."""
        embedded = torch.relu(self.linear(self.lstm(mels)[1][0][-1]))
        return embedded / embedded.norm(dim=1, keepdim=True)


@dataclass(frozen=True)
class Recording:
    """Who speaks in each frame (-1: nobody), the power of each step, the embedding of each window."""

    labels: Ints
    powers: Floats
    embedded: Floats


@dataclass(frozen=True)
class Rule:
    """Speech is at most so far below the loud steps and at least so far above the quiet ones, dB."""

    below: float
    above: float
    smoothed: int = 7  # steps

    def speech(self, recording: Recording) -> Mask:
        """Whether each frame is speech."""
        powers = np.convolve(recording.powers, np.ones(self.smoothed) / self.smoothed, "same")
        quiet, loud = np.percentile(powers, [10, 95])
        gate = max(loud * 10 ** (-self.below / 10), quiet * 10 ** (self.above / 10), 1e-7)
        return mixtures.bridged(np.repeat(powers >= gate, STEP), PAUSE)


SERVICE = Rule(35, -np.inf, smoothed=1)  # as inference/src/speech/cut/windows.rs, but over the whole recording
Recordings = dict[tuple[int, str], list[Recording]]  # by the number of speakers and the condition


def observed(encoder: Encoder, samples: Floats, labels: Ints) -> Recording:
    """What is known of a recording before speech and speakers are looked for."""
    labels = labels[: len(labels) // STEP * STEP]
    powers = (samples[: len(labels) * FRAME].reshape(-1, STEP * FRAME) ** 2).mean(1)
    mels = librosa.feature.melspectrogram(y=samples, sr=RATE, n_fft=400, hop_length=FRAME, n_mels=40).T
    windows = [mels[at : at + WINDOW] for at in range(0, len(labels) - WINDOW + 1, HOP)]
    return Recording(labels, powers, encoder(torch.tensor(np.stack(windows), dtype=torch.float32)).numpy())


def diarized(recording: Recording, speech: Mask, n: int | None, threshold: float = 0) -> Ints:
    """Give the speech to `n` speakers, or to as many as Ward's clustering keeps apart at a threshold; -1 is nobody."""
    starts = np.arange(len(recording.embedded)) * HOP
    voiced = np.array([speech[at : at + WINDOW].mean() > 0.5 for at in starts])
    if voiced.sum() < MOST_SPEAKERS:
        voiced[:] = True
    # Ward's distance between two clusters grows with the root of the number of windows.
    height = None if n else threshold * voiced.sum() ** 0.5
    clusters = AgglomerativeClustering(n, distance_threshold=height).fit_predict(recording.embedded[voiced])
    if clusters.max() >= MOST_SPEAKERS:
        return diarized(recording, speech, MOST_SPEAKERS)
    far = np.abs(np.arange(len(speech))[:, None] - starts[voiced] - WINDOW // 2)
    votes = np.maximum(1 - far / (WINDOW / 2), 1e-4 / (1 + far)) @ np.eye(MOST_SPEAKERS)[clusters]
    return np.where(speech, votes.argmax(1), -1)


def errors(labels: Ints, found: Ints, collar: int = 0) -> Doubles:
    """Missed speech, false alarms and confusion over all speech, (3,), with the best match of speakers."""
    kept = np.ones(len(labels), bool)
    for change in np.flatnonzero(np.diff(labels)) + 1 if collar else []:
        kept[max(0, change - collar) : change + collar] = False
    labels, found = labels[kept], found[kept]
    both = (labels >= 0) & (found >= 0)
    shared = np.zeros((MOST_SPEAKERS, MOST_SPEAKERS))
    np.add.at(shared, (labels[both], found[both]), 1)
    right = shared[linear_sum_assignment(shared, maximize=True)].sum()
    missed, false_alarms = ((labels >= 0) & (found < 0)).sum(), ((labels < 0) & (found >= 0)).sum()
    return np.array([missed, false_alarms, both.sum() - right]) / (labels >= 0).sum()


def recordings(encoder: Encoder, speakers: list[Clips], n_pairs: int, n_alone: int) -> Recordings:
    """Recordings of so many pairs of speakers, and so many of each speaker alone, each in all conditions."""
    pairs = list(itertools.combinations(speakers, 2))
    random.Random(1).shuffle(pairs)
    alone = [(one,) for one in speakers] * n_alone
    out: Recordings = defaultdict(list)
    for seed, people in enumerate([*itertools.islice(itertools.cycle(pairs), n_pairs), *alone]):
        samples, labels = mixtures.mixed(people, random.Random(seed))
        for condition in mixtures.CONDITIONS:
            sound = mixtures.heard(samples, condition, np.random.default_rng(seed))
            out[len(people), condition].append(observed(encoder, sound, labels))
    return out


def labelled(ones: list[Recording], rule: Rule | None, n: int | None, threshold: float = 0) -> list[Ints]:
    """Diarize recordings; without a rule, their speech is known."""
    return [diarized(one, rule.speech(one) if rule else one.labels >= 0, n, threshold) for one in ones]


def rates(ones: list[Recording], found: list[Ints], collar: int = 0) -> Doubles:
    """The diarization error rate of each recording."""
    return np.array([errors(one.labels, labels, collar).sum() for one, labels in zip(ones, found, strict=True)])


def without_speakers(ones: list[Recording], rule: Rule) -> float:
    """The part of the rate that finding speech costs: missed speech and false alarms."""
    return float(np.mean([errors(one.labels, rule.speech(one) - 1)[:2].sum() for one in ones]))


def chosen(tuning: Recordings) -> tuple[Rule, float]:
    """The rule with the fewest errors, and then the threshold with the lowest mean rate over kinds and conditions."""
    rules = [Rule(below, above) for below in range(18, 36, 2) for above in (2, 3, 4, 6)]
    rule = min(rules, key=lambda rule: sum(without_speakers(ones, rule) for ones in tuning.values()))

    def mean(threshold: float) -> float:
        return float(np.mean([rates(ones, labelled(ones, rule, None, threshold)).mean() for ones in tuning.values()]))

    return rule, min((k / 50 for k in range(10, 28)), key=mean)


def row(two: list[Recording], one: list[Recording], rule: Rule, threshold: float) -> list[float]:
    """The figures below COLUMNS, of recordings of two speakers and of one."""
    unknown, alone = labelled(two, rule, None, threshold), labelled(one, rule, None, threshold)
    return [
        rates(two, labelled(two, None, 2)).mean(),
        rates(two, labelled(two, None, None, threshold)).mean(),
        rates(two, labelled(two, SERVICE, 2)).mean(),
        without_speakers(two, rule),
        rates(two, labelled(two, rule, 2)).mean(),
        rates(two, unknown).mean(),
        rates(two, unknown, COLLAR).mean(),
        (rates(two, unknown) <= ENOUGH).mean(),
        rates(one, alone).mean(),
        np.mean([labels.max() > 0 for labels in alone]),
    ]


def main(data: Path, weights: Path) -> None:
    """Print the rule, the threshold and a table of error rates, by speech and condition."""
    encoder = Encoder(weights)
    english = mixtures.english(data)
    half = len(english) // 2
    rule, threshold = chosen(recordings(encoder, english[:half], 12, 1))
    print(f"chosen: {rule}, threshold {threshold}")
    print("|".join(("speech", "condition", *COLUMNS)))
    measured = {
        "English": recordings(encoder, english[half:], 24, 1),
        "Panjabi, two people": recordings(encoder, mixtures.panjabi(data), 10, 3),
        "Panjabi, espeak-ng": recordings(encoder, mixtures.synthetic(data), 16, 1),
    }
    for name, ones in measured.items():
        for condition in mixtures.CONDITIONS:
            figures = row(ones[2, condition], ones[1, condition], rule, threshold)
            print("|".join((name, condition, *(f"{figure:.1%}" for figure in figures))))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
