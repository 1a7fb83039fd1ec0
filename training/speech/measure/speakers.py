"""How well the embeddings of Resemblyzer tell two speakers of one channel apart, on mixtures of known ones.

python -m speech.measure.speakers --data DIR --weights resemblyzer/pretrained.pt
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import librosa
import numpy as np
import numpy.typing as npt
import soundfile
import torch
import tyro
from sklearn.cluster import SpectralClustering

RATE = 16_000
FRAME = 160
# Frames of a window that gets one embedding, and from one window to the next.
WINDOW, HOP = 120, 30
# Speech is at most this far below a recording's loud frames, dB.
RANGE_DB = 25
Samples = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


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


def is_speech(samples: Samples) -> npt.NDArray[np.bool_]:
    """Whether each frame is speech, by its energy."""
    n = len(samples) // FRAME
    power = np.convolve((samples[: n * FRAME].reshape(n, FRAME) ** 2).mean(1), np.ones(15) / 15, "same") + 1e-12
    return 10 * np.log10(power / np.percentile(power, 95)) > -RANGE_DB


def turns(clips: list[Samples], draw: random.Random) -> Iterator[Samples]:
    """Pieces of 1.5 to 5 seconds of a speaker's clips, of one loudness."""
    for clip in clips:
        at = 0
        while len(clip) - at > RATE:
            turn = clip[at : at + int(draw.uniform(1.5, 5) * RATE)]
            at += len(turn)
            yield turn / (np.sqrt((turn**2).mean()) + 1e-9) * 0.05


def mixture(speakers: tuple[list[Samples], list[Samples]], draw: random.Random) -> tuple[Samples, Labels]:
    """Two speakers in turn with pauses up to 0.4 s, and who speaks in each frame (-1: nobody)."""
    sounds, labels = [], []
    for pair in zip(*(turns(clips, draw) for clips in speakers), strict=False):
        for who, turn in enumerate(pair):
            speech = is_speech(turn)
            pause = int(draw.uniform(0, 40))
            sounds += [turn[: len(speech) * FRAME], np.zeros(pause * FRAME, np.float32)]
            labels += [np.where(speech, who, -1), np.full(pause, -1)]
    return np.concatenate(sounds), np.concatenate(labels)


def confusion(encoder: Encoder, samples: Samples, labels: Labels) -> float:
    """The share of the speech given to the wrong speaker, with ideal speech detection and two known to speak."""
    mels = librosa.feature.melspectrogram(y=samples, sr=RATE, n_fft=400, hop_length=FRAME, n_mels=40).T
    starts = [at for at in range(0, len(labels) - WINDOW + 1, HOP) if (labels[at : at + WINDOW] >= 0).mean() > 0.5]
    windows = torch.tensor(np.stack([mels[at : at + WINDOW] for at in starts]), dtype=torch.float32)
    embedded = encoder(windows).numpy()
    affinity = np.clip(embedded @ embedded.T, 0, 1) ** 8
    clusters = SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(affinity)
    votes = np.zeros((len(labels), 2))
    for at, cluster in zip(starts, clusters, strict=True):
        votes[at : at + WINDOW, cluster] += np.bartlett(WINDOW) + 1e-3
    wrong = votes.argmax(1)[labels >= 0] != labels[labels >= 0]
    return float(min(wrong.mean(), 1 - wrong.mean()))


def main(data: Path, weights: Path) -> None:
    """Print the share of speech given to the wrong speaker, over pairs of the speakers of `en-accented`."""
    clips = defaultdict(list)
    for path in sorted((data / "speech/en-accented/flac").glob("*.flac")):
        clips[path.stem.split("-", 1)[1]].append(soundfile.read(path, dtype="float32")[0])
    speakers = sorted(name for name, own in clips.items() if len(own) == 3)
    random.Random(7).shuffle(speakers)
    encoder = Encoder(weights)
    shares = [
        confusion(encoder, *mixture((clips[one], clips[other]), random.Random(seed)))
        for one, other in zip(speakers[::2], speakers[1::2], strict=False)
        for seed in range(2)
    ]
    above = np.mean(np.array(shares) > 0.15)
    print(f"speech given to the wrong speaker, {len(shares)} mixtures: mean {np.mean(shares):.1%},", end=" ")
    print(f"median {np.median(shares):.1%}, above 15 % in {above:.0%}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
