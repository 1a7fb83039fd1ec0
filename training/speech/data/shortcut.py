"""Log-mels of Kokoro's voices without its vocoder, which takes most of its time and which features do not need.

    python -m speech.data.shortcut learn --data DIR --minutes 12 --out DIR/shortcut.pt
    python -m speech.data.shortcut speak --data DIR --language pa --kind sentences --network DIR/shortcut.pt --hours 1
                                    --seed 71 --out DIR/shards

`learn` synthesises speech with Kokoro and trains a network from the vocoder's input, 80 frames a second, to the
log-mels of the sound, 100 frames a second. `speak` writes shards as `speech.data.corpus` does, some ten times as fast
as with the sound; rooms and noise are added to the features. The network gives smooth log-mels; the noise that it
leaves out is drawn at random and added.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import learning
import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.nn import functional as F

from ..arrays import Floats
from ..sounds import acoustics, augment
from ..sounds.augment import GUARD, between
from ..sounds.features import MELS, log_mel
from ..voices import kokoro
from ..voices.speakers import Speakers
from .corpus import made, texts_of
from .shards import Writer

WIDE, STYLE = 384, 128  # channels of the network; values of a voice
EDGE = 8  # frames kept before and after the speech
PIECE = 300  # frames of an utterance in a batch
BATCH = 8  # utterances
SHARD_MINUTES = 15
Row = tuple[Floats, Floats, Floats]  # latent (T, LATENT) at 100 frames a second, style (STYLE,), log-mels (T, 80)


class Shortcut(nn.Module):
    """(B, T, LATENT) at 100 frames a second and (B, STYLE) to (B, T, MELS) log-mels."""

    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(kokoro.LATENT, WIDE)
        self.voice = nn.Linear(STYLE, WIDE)
        self.blocks = nn.ModuleList(nn.Conv1d(WIDE, WIDE, 5, padding=2) for _ in range(4))
        self.out = nn.Linear(WIDE, MELS)
        # Of each mel: the standard deviation of the noise that is left out, and its correlation after 10 ms.
        self.register_buffer("grain", torch.zeros(2, MELS))

    def forward(self, latent: Tensor, style: Tensor) -> Tensor:
        """Return smooth log-mels."""
        x = self.into(latent) + self.voice(style)[:, None]
        for block in self.blocks:
            x = x + block(F.gelu(x).mT).mT
        return self.out(F.gelu(x)) * 4 - 8

    @torch.no_grad()
    def mels(self, latent: Floats, style: Floats, rng: np.random.Generator) -> Floats:
        """Return the log-mels, (frames, MELS), with noise, of a latent (T, LATENT) at 80 frames a second."""
        out = self(torch.tensor(at_hundred(latent))[None], torch.tensor(style)[None])[0].numpy()
        deviation, on = self.grain.numpy()
        noise = rng.normal(size=out.shape).astype(np.float32) * np.sqrt(1 - on**2)
        for k in range(1, len(noise)):
            noise[k] += on * noise[k - 1]
        return np.maximum(out + deviation * noise, np.float32(np.log(GUARD)))


def at_hundred(latent: Floats) -> Floats:
    """Resample (T, n) from 80 frames a second to 100; a frame of features is centred on its start."""
    return between(latent, np.clip(np.arange(int(len(latent) * 1.25)) * 0.8 - 0.5, 0, len(latent) - 1))


class Planner:
    """Draws texts and a voice for each."""

    def __init__(self, data: str | Path, language: str, kind: str, rng: np.random.Generator) -> None:
        self.speakers, self.rng = Speakers(language, "pairs"), rng
        self.source = texts_of(data, language, kind, rng)

    def next(self) -> tuple[str, str, str, float]:
        """Return text, phonemes, voice and pace of the next utterance."""
        text = next(self.source)
        _, voice, how = self.speakers.plan(self.rng)
        return text, self.speakers.read(text), voice, how["pace"]


def spoken(data: str | Path, minutes: float, rng: np.random.Generator) -> list[Row]:
    """Synthesise at least `minutes` of both languages."""
    engine, done = kokoro.Kokoro(), 0
    out: list[Row] = []
    planners = [
        Planner(data, language, kind, rng)
        for language, kind in (("pa", "sentences"), ("en", "sentences"), ("pa", "sentences"), ("en", "digits"))
    ]
    while done < minutes * 6000:
        _, phonemes, voice, pace = planners[len(out) % len(planners)].next()
        latent, style, samples = engine.both(phonemes, voice, pace)
        if len(samples):
            mel = log_mel(acoustics.resampled(samples, kokoro.RATE))
            latent = at_hundred(latent)
            n = min(len(mel), len(latent))
            out.append((latent[:n], style, mel[:n].astype(np.float32)))
            done += n
    return out


def batch_of(rows: Sequence[Row], rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw BATCH pieces of PIECE frames, longer utterances more often: (B, T, LATENT), (B, STYLE), (B, T, MELS)."""
    weight = np.array([len(r[2]) for r in rows], float)
    batch = []
    for k in rng.choice(len(rows), BATCH, p=weight / weight.sum()):
        latent, style, mel = rows[k]
        at = rng.integers(0, max(1, len(mel) - PIECE))
        short = max(0, PIECE - len(mel))
        batch.append(
            (
                np.pad(latent[at : at + PIECE], ((0, short), (0, 0)), mode="edge"),
                style,
                np.pad(mel[at : at + PIECE], ((0, short), (0, 0)), mode="edge"),
            )
        )
    latents, styles, mels = (torch.tensor(np.stack(one)) for one in zip(*batch, strict=True))
    return latents, styles, mels


@torch.no_grad()
def measure_grain(net: Shortcut, rows: Sequence[Row]) -> None:
    """Set the network's `grain` by what it leaves out of utterances that it was not trained on."""
    left = [mel - net(torch.tensor(latent)[None], torch.tensor(style)[None])[0].numpy() for latent, style, mel in rows]
    print(f"held out: {np.mean([np.abs(one).mean() for one in left]):.3f} of a natural logarithm")
    deviation = np.median(np.abs(np.concatenate(left)), axis=0) * 1.48
    on = np.mean([(one[1:] * one[:-1]).mean(0) / (one**2).mean(0) for one in left], axis=0)
    net.grain.copy_(torch.tensor(np.stack([deviation, np.clip(on, 0, 0.95)]).astype(np.float32)))


def learn(data: Path, out: Path, minutes: float = 12, passes: int = 40, seed: int = 1) -> None:
    """Train a network on `minutes` of synthesised speech, seen `passes` times; every twelfth utterance is held out."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    rows = spoken(data, minutes, rng)
    kept = rows[::12]
    rows = [row for k, row in enumerate(rows) if k % 12]
    torch.manual_seed(1)
    net = Shortcut()
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3)
    steps = passes * sum(len(r[2]) for r in rows) // (BATCH * PIECE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, steps)
    for step in range(steps):
        latent, style, mel = batch_of(rows, rng)
        loss = (net(latent, style) - mel).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 100 == 99:
            print(f"step {step + 1} of {steps}: {loss.item():.3f}", flush=True)
    measure_grain(net, kept)
    learning.write(out, net.state_dict())


def trimmed(mel: Floats) -> Floats:
    """Cut off the silence at both ends of (frames, MELS), up to EDGE frames."""
    loud = np.flatnonzero(mel.max(1) > mel.max() - 9)
    return mel[max(0, loud[0] - EDGE) : loud[-1] + EDGE]


def shard(
    path: Path, engine: kokoro.Kokoro, net: Shortcut, planner: Planner, seconds: float, rng: np.random.Generator
) -> None:
    """Write one shard of at least `seconds`."""
    rng.integers(1000)  # not used; without this draw a seed would give other shards than it did before
    writer, change, done = Writer(path), augment.Augment(), 0
    while done < seconds * 100:
        text, phonemes, voice, pace = planner.next()
        latent, style = engine.latent(phonemes, voice, pace)
        if len(latent) < 16:
            continue
        mel = trimmed(net.mels(latent, style, rng)) + np.float32(rng.uniform(-6, 0))
        if rng.random() < 0.3:
            mel = change.reverb(mel, rng)
        if rng.random() < 0.4:
            mel = change.noise(mel, rng)
        writer.add(mel, text=text, voice=voice)
        done += len(mel)
    writer.close()


def speak(
    data: Path,
    language: Literal["pa", "en"],
    kind: Literal["words", "sentences", "digits"],
    network: Path,
    hours: float,
    out: Path,
    seed: int = 1,
) -> None:
    """Write shards."""
    torch.set_num_threads(1)
    net, engine = Shortcut(), kokoro.Kokoro()
    net.load_state_dict(learning.load(network))

    def make(path: Path, seconds: float, rng: np.random.Generator) -> None:
        shard(path, engine, net, Planner(data, language, kind, rng), seconds, rng)

    made(out, hours, SHARD_MINUTES, seed, make)


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"learn": learn, "speak": speak}, description=__doc__)
