"""Kokoro's Panjabi as features without its vocoder, which takes most of its time and which features do not need.

    python -m speech.data.shortcut learn --data DIR --minutes 10 --out WORK/shortcut.pt
    python -m speech.data.shortcut speak --data DIR --network WORK/shortcut.pt --hours 5 --seed 71 --out WORK/pairs

`learn` synthesises speech with Kokoro and trains a network from the vocoder's input, 80 frames a second, to the
log-mels of the sound, 100 frames a second. `speak` writes shards as `speech.data.corpus --whisper --engine pairs` does,
without recording conditions: the training adds those. The network gives smooth log-mels; the noise that it leaves
out is drawn at random and added.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import learning
import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.nn import functional as F

from ..arrays import Floats
from ..sounds import acoustics
from ..sounds.augment import between
from ..sounds.features import MELS, WHISPER, log_mel
from ..voices import kokoro
from ..voices.speakers import Speakers
from .corpus import made, planned, texts_of
from .shards import Writer

WIDE, STYLE = 384, 128  # channels of the network; values of a voice
EDGE = 15  # frames kept before and after the speech
PIECE, BATCH = 300, 8  # frames of an utterance in a batch, and utterances
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
        return out + deviation * noise


def at_hundred(latent: Floats) -> Floats:
    """Resample (T, n) from 80 frames a second to 100; a frame of features is centred on its start."""
    return between(latent, np.clip(np.arange(int(len(latent) * 1.25)) * 0.8 - 0.5, 0, len(latent) - 1))


def asked(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, str, str, float]]:
    """Yield text, phonemes, voice and pace of utterances without end."""
    speakers = Speakers("pa", "pairs")
    for _, pieces in texts_of(data, "pa", "conversation", rng):
        _, voice, how = planned(speakers, rng, held=False)
        yield " ".join(pieces), ", ".join(map(kokoro.panjabi, pieces)), voice, how["pace"]


def spoken(data: Path, minutes: float, rng: np.random.Generator) -> list[Row]:
    """Synthesise at least `minutes`."""
    engine, done = kokoro.Kokoro(), 0
    out: list[Row] = []
    for _, phonemes, voice, pace in asked(data, rng):
        if done >= minutes * 6000:
            break
        if (given := engine.both(phonemes, voice, pace)) is not None:
            latent, style, samples = given
            mel, latent = log_mel(acoustics.resampled(samples, kokoro.RATE), WHISPER), at_hundred(latent)
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
        edge = ((0, max(0, PIECE - len(mel))), (0, 0))
        batch.append((np.pad(latent[at : at + PIECE], edge, "edge"), style, np.pad(mel[at : at + PIECE], edge, "edge")))
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


def learn(data: Path, out: Path, minutes: float = 10, passes: int = 40, seed: int = 1) -> None:
    """Train a network on `minutes` of synthesised speech, seen `passes` times; every twelfth utterance is held out."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    rows = spoken(data, minutes, rng)
    kept = rows[::12]
    rows = [row for k, row in enumerate(rows) if k % 12]
    torch.manual_seed(seed)
    net = Shortcut()
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3)
    steps = passes * sum(len(r[2]) for r in rows) // (BATCH * PIECE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, steps)
    for step in range(steps):
        latent, style, mel = batch_of(rows, rng)
        with torch.autocast("cpu", learning.HALF):
            found = net(latent, style)
        loss = (found.float() - mel).abs().mean()
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


def speak(data: Path, network: Path, hours: float, out: Path, seed: int = 1) -> None:
    """Write every shard that is missing."""
    torch.set_num_threads(1)
    net, engine = Shortcut(), kokoro.Kokoro()
    net.load_state_dict(learning.load(network))

    def make(path: Path, rng: np.random.Generator) -> None:
        writer = Writer(path)
        for text, phonemes, voice, pace in asked(data, rng):
            if writer.at >= SHARD_MINUTES * 6000:
                break
            if (given := engine.latent(phonemes, voice, pace)) is not None:
                writer.add(trimmed(net.mels(*given, rng)), text=text, voice=f"pairs:{voice}")
        writer.close()

    made(out, hours, SHARD_MINUTES, seed, make)


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"learn": learn, "speak": speak}, description=__doc__)
