"""Batches of about equal length: utterances, or several of them one behind the other, changed and normalised."""

from typing import NamedTuple

import numpy as np
import torch

from . import augment, features, model, phones, units
from .shards import Shard, found

FEW = 5  # utterances of a voice: fewer would be repeated
PAUSED = 0.2  # how often silence goes before, behind or between
POOL = 30  # batches drawn at a time, sorted by length among themselves


def tight(ids):
    """Frames that CTC needs for these units: one each and one between equal neighbours."""
    return len(ids) + sum(a == b for a, b in zip(ids, ids[1:]))


def fits(ids, frames):
    """Whether so many frames of features have room for these units."""
    return tight(ids) <= 0.9 * model.out_length(frames)


class Row(NamedTuple):
    """One utterance of a shard."""

    shard: Shard
    number: int
    units: list
    frames: int
    voice: str
    phones: list

    def mel(self):
        return self.shard.mel(self.number)


class Sources:
    """Folders of shards with weights, the phones of their texts where these are taught; shards that appear later are
    taken in.
    """

    def __init__(self, folders, language, with_phones):
        self.folders, self.language = folders, language  # {folder: weight}
        self.spelling = phones.Spelling() if with_phones else None
        self.known, self.items, self.voices = set(), {f: [] for f in folders}, {f: {} for f in folders}
        self.refresh()

    def refresh(self):
        for folder in self.folders:
            for path in found(folder):
                if path in self.known:
                    continue
                self.known.add(path)
                shard = Shard(path)
                for k, item in enumerate(shard.items):
                    if (units.plain(item["text"], self.language) or "") != item["text"]:
                        continue
                    ids = units.encode(item["text"], self.language)
                    if fits(ids, item["frames"]):
                        place = self.voices[folder].setdefault(item["voice"], [])
                        place.append(len(self.items[folder]))
                        spoken = self.spelling.phones(item["text"]) if self.spelling else []
                        self.items[folder].append(Row(shard, k, ids, item["frames"], item["voice"], spoken))
        return sum(row.frames for rows in self.items.values() for row in rows) / 360000  # hours


class Batches:
    def __init__(self, sources, language, seed, frames=8000, strength=1.0):
        self.sources, self.language, self.frames = sources, language, frames
        self.rng = np.random.default_rng(seed)
        self.augment, self.strength = augment.Augment(), strength

    def draw(self, longest):
        """Features, units and phones of one utterance, or of several of one folder, at most `longest` frames in all."""
        rng = self.rng
        folders = [f for f in self.sources.folders if self.sources.items[f]]
        weight = np.array([self.sources.folders[f] for f in folders], float)
        folder = folders[rng.choice(len(folders), p=weight / weight.sum())]
        rows = self.sources.items[folder]
        for _ in range(50):
            row = rows[rng.integers(len(rows))]
            if row.frames <= longest:
                break
        picked = [row]
        goal = rng.uniform(0, longest) if rng.random() < 0.6 else 0
        while True:
            total = sum(p.frames for p in picked)
            same = self.sources.voices[folder][row.voice]
            alike = len(same) >= FEW and rng.random() < 0.6
            other = rows[same[rng.integers(len(same))] if alike else rng.integers(len(rows))]
            if total + other.frames > min(goal, longest) or len(picked) > 7:
                break
            picked.append(other)
        ids = []
        for p in picked:
            ids += [0] * bool(ids and p.units) + list(p.units)
        mel = np.concatenate(self.spaced([p.mel() for p in picked])).astype(np.float32)
        return mel, ids, [phone for p in picked for phone in p.phones]

    def spaced(self, mels):
        """The same with silence here and there, at the ends too."""
        out = []
        for place in range(len(mels) + 1):
            if self.rng.random() < PAUSED:
                out.append(augment.quiet(mels[min(place, len(mels) - 1)], self.rng))
            out += mels[place : place + 1]
        return out

    def changed(self, mel, ids):
        fastest = 0.85 * model.out_length(len(mel)) / max(1, tight(ids))
        mel = features.normalised(self.augment(mel, self.rng, fastest, self.strength), features.cmvn())
        return augment.masked(mel, self.rng, self.strength)

    def endless(self, longest):
        """Batches (audio_signal (B, 80, T), lengths, units, phones), the last two as `flat` gives them; `longest` is
        asked each time.
        """
        while True:
            limit = longest()
            drawn = []
            while sum(len(d[0]) for d in drawn) < POOL * self.frames * 0.9:
                drawn.append(self.draw(limit))
            drawn.sort(key=lambda d: len(d[0]) * (1 + 0.05 * self.rng.random()))
            groups, group = [], []
            for one in drawn:
                if group and (len(group) + 1) * len(one[0]) > self.frames:
                    groups.append(group)
                    group = []
                group.append(one)
            groups.append(group)
            for k in self.rng.permutation(len(groups)):
                rows = groups[k]
                yield (
                    *stacked([self.changed(mel, ids) for mel, ids, _ in rows]),
                    flat([r[1] for r in rows]),
                    flat([r[2] for r in rows]),
                )


def stacked(mels):
    """(B, 80, T) of normalised (frames, 80), padded with zeros, and the frames of each."""
    lengths = torch.tensor([len(mel) for mel in mels])
    signal = torch.zeros(len(mels), features.MELS, int(lengths.max()))
    for k, mel in enumerate(mels):
        signal[k, :, : len(mel)] = torch.from_numpy(np.ascontiguousarray(mel.T))
    return signal, lengths


def flat(rows):
    """All numbers one behind the other, and how many there are in each row."""
    return torch.tensor([u for row in rows for u in row]), torch.tensor([len(row) for row in rows])
