"""Features on disk: NAME.mel, float16 rows of 80 log-mels (10 ms each), and NAME.json, what lies where."""

import json
import os
from pathlib import Path

import numpy as np

from .features import MELS


class Writer:
    """Utterances one after another; the pair of files appears whole or not at all."""

    def __init__(self, path):
        self.path, self.items, self.at = Path(path), [], 0
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(self.path.with_suffix(".part"), "wb")

    def add(self, mel, **what):
        """mel: (frames, 80), not normalised; what: text, voice and the like."""
        self.file.write(mel.astype(np.float16).tobytes())
        self.items.append({"start": self.at, "frames": len(mel), **what})
        self.at += len(mel)

    def close(self):
        self.file.close()
        os.replace(self.path.with_suffix(".part"), self.path.with_suffix(".mel"))
        index = self.path.with_suffix(".index")
        index.write_text(json.dumps(self.items, ensure_ascii=False))
        os.replace(index, self.path.with_suffix(".json"))


class Shard:
    """One pair of files, mapped."""

    def __init__(self, path):
        path = Path(path)
        self.items = json.loads(path.with_suffix(".json").read_text())
        self.rows = np.memmap(path.with_suffix(".mel"), np.float16, "r").reshape(-1, MELS)

    def mel(self, k):
        item = self.items[k]
        return self.rows[item["start"] : item["start"] + item["frames"]]


def found(folder, pattern="*.json"):
    """Finished shards by name."""
    return [p.with_suffix("") for p in sorted(Path(folder).glob(pattern))]
