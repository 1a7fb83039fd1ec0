"""Kokoro's log-mels without its sound: most of its time goes into the waveform, which features do not need.

    python -m speech.shortcut learn --data DIR --minutes 12 --out DIR/shortcut.pt
    python -m speech.shortcut speak --data DIR --language pa --kind sentences --network DIR/shortcut.pt --hours 1
                                    --seed 71 --out DIR/shards

`learn` lets Kokoro speak and learns the way from what its vocoder is given, 80 frames a second, to the log-mels of what
it says, 100 a second. `speak` writes shards as `speech.corpus` does, some ten times as fast as by the sound; rooms and
noise are added to the features. What the network leaves out, mostly the grain of noise, is put back at random.
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from . import augment, checkpoint, kokoro, world
from .corpus import made, texts_of, wait
from .features import GUARD, MELS, between, log_mel
from .shards import Writer
from .voices import Speakers

WIDE, STYLE = 384, 128
EDGE = 8  # frames kept before and behind what is said
PIECE = 300  # frames learnt from at once


class Shortcut(nn.Module):
    """(B, T, LATENT) at 100 frames a second and (B, STYLE) to (B, T, MELS) log-mels."""

    def __init__(self):
        super().__init__()
        self.into = nn.Linear(kokoro.LATENT, WIDE)
        self.voice = nn.Linear(STYLE, WIDE)
        self.blocks = nn.ModuleList(nn.Conv1d(WIDE, WIDE, 5, padding=2) for _ in range(4))
        self.out = nn.Linear(WIDE, MELS)
        self.register_buffer("grain", torch.zeros(2, MELS))  # deviation of what is left out; how it goes on by 10 ms

    def forward(self, latent, style):
        x = self.into(latent) + self.voice(style)[:, None]
        for block in self.blocks:
            x = x + block(F.gelu(x).mT).mT
        return self.out(F.gelu(x)) * 4 - 8

    @torch.no_grad()
    def mels(self, latent, style, rng):
        """(T, LATENT) at 80 a second to (frames, MELS) with grain."""
        out = self(torch.tensor(at_hundred(latent))[None], torch.tensor(style)[None])[0].numpy()
        deviation, on = self.grain.numpy()
        noise = rng.normal(size=out.shape).astype(np.float32) * np.sqrt(1 - on**2)
        for k in range(1, len(noise)):
            noise[k] += on * noise[k - 1]
        return np.maximum(out + deviation * noise, np.float32(np.log(GUARD)))


def at_hundred(latent):
    """(T, n) at 80 frames a second to 100; a frame of features stands for what is around its start."""
    return between(latent, np.clip(np.arange(int(len(latent) * 1.25)) * 0.8 - 0.5, 0, len(latent) - 1))


class Planner:
    """Texts with the voices that shall say them."""

    def __init__(self, data, language, kind, rng):
        self.speakers, self.rng = Speakers(language, "pairs"), rng
        self.source = texts_of(data, language, kind, rng)

    def next(self):
        """(text, phonemes, voice, pace)"""
        text = next(self.source)
        _, voice, how = self.speakers.plan(self.rng)
        return text, self.speakers.read(text), voice, how["pace"]


def spoken(data, minutes, rng):
    """[(latent at 100 a second, style, log-mels)] of both languages."""
    engine, out, done = kokoro.Kokoro(), [], 0
    planners = [
        Planner(data, language, kind, rng)
        for language, kind in (("pa", "sentences"), ("en", "sentences"), ("pa", "sentences"), ("en", "digits"))
    ]
    while done < minutes * 6000:
        wait()
        _, phonemes, voice, pace = planners[len(out) % len(planners)].next()
        latent, style, samples = engine.both(phonemes, voice, pace)
        if len(samples):
            mel = log_mel(world.resampled(samples, kokoro.RATE))
            latent = at_hundred(latent)
            n = min(len(mel), len(latent))
            out.append((latent[:n], style, mel[:n].astype(np.float32)))
            done += n
    return out


def learn(data, minutes, passes, rng):
    rows = spoken(data, minutes, rng)
    kept = rows[::12]
    rows = [row for k, row in enumerate(rows) if k % 12]
    torch.manual_seed(1)
    net = Shortcut()
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3)
    steps = passes * sum(len(r[2]) for r in rows) // (8 * PIECE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, steps)
    weight = np.array([len(r[2]) for r in rows], float)
    for step in range(steps):
        batch = []
        for k in rng.choice(len(rows), 8, p=weight / weight.sum()):
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
        latent, style, mel = (torch.tensor(np.stack(one)) for one in zip(*batch))
        loss = (net(latent, style) - mel).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 100 == 99:
            print(f"step {step + 1} of {steps}: {loss.item():.3f}", flush=True)
    with torch.no_grad():
        left = [
            mel - net(torch.tensor(latent)[None], torch.tensor(style)[None])[0].numpy() for latent, style, mel in kept
        ]
    print(f"held out: {np.mean([np.abs(one).mean() for one in left]):.3f} of a natural logarithm")
    deviation = np.median(np.abs(np.concatenate(left)), axis=0) * 1.48
    on = np.mean([(one[1:] * one[:-1]).mean(0) / (one**2).mean(0) for one in left], axis=0)
    net.grain.copy_(torch.tensor(np.stack([deviation, np.clip(on, 0, 0.95)]).astype(np.float32)))
    return net


def said(mel):
    """Without the silence at both ends, up to a margin."""
    loud = np.flatnonzero(mel.max(1) > mel.max() - 9)
    return mel[max(0, loud[0] - EDGE) : loud[-1] + EDGE]


def shard(path, engine, net, planner, seconds, rng):
    """One pair of files with about so many seconds."""
    writer, world_of, done = Writer(path), augment.Augment(int(rng.integers(1000))), 0
    while done < seconds * 100:
        wait()
        text, phonemes, voice, pace = planner.next()
        latent, style = engine.latent(phonemes, voice, pace)
        if len(latent) < 16:
            continue
        mel = said(net.mels(latent, style, rng)) + np.float32(rng.uniform(-6, 0))
        if rng.random() < 0.3:
            mel = world_of.reverb(mel, rng)
        if rng.random() < 0.4:
            mel = world_of.noise(mel, rng)
        writer.add(mel, text=text, voice=voice)
        done += len(mel)
    writer.close()


def speak(arguments):
    net, engine = Shortcut(), kokoro.Kokoro()
    net.load_state_dict(checkpoint.load(arguments.network))

    def make(path, seconds, rng):
        shard(path, engine, net, Planner(arguments.data, arguments.language, arguments.kind, rng), seconds, rng)

    made(arguments, make)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_subparsers(dest="what", required=True)
    learning, speaking = what.add_parser("learn"), what.add_parser("speak")
    for one in (learning, speaking):
        one.add_argument("--data", required=True)
        one.add_argument("--out", required=True)
        one.add_argument("--seed", type=int, default=1)
    learning.add_argument("--minutes", type=float, default=12)
    learning.add_argument("--passes", type=int, default=40)
    speaking.add_argument("--language", choices=("pa", "en"), required=True)
    speaking.add_argument("--kind", choices=("words", "sentences", "digits"), required=True)
    speaking.add_argument("--network", required=True)
    speaking.add_argument("--hours", type=float, required=True)
    speaking.add_argument("--shard-minutes", type=float, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.what == "speak":
        speak(arguments)
    else:
        net = learn(arguments.data, arguments.minutes, arguments.passes, np.random.default_rng(arguments.seed))
        checkpoint.write(arguments.out, net.state_dict())


if __name__ == "__main__":
    main()
