"""Shards: features on disk as pairs of files.

NAME.mel holds float16 rows of 80 log-mels (natural logarithm, 10 ms each). NAME.json lists the utterances in order:
`start` and `frames` say which rows are theirs, beside `text`, `voice` and whatever else the writer was given.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import AnyFloats, Halves
from ..sounds.features import MELS


class Writer:
    """Writes one shard; the pair of files appears under its name only when `close` is called."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.at = Path(path), 0
        self.items: list[dict[str, Any]] = []
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.with_suffix(".part").open("wb")

    def add(self, mel: AnyFloats, **what: Any) -> None:
        """Append an utterance. `mel`: (frames, 80), not normalised; `what`: text, voice and the like, for the index."""
        self.file.write(mel.astype(np.float16).tobytes())
        self.items.append({"start": self.at, "frames": len(mel), **what})
        self.at += len(mel)

    def close(self) -> None:
        """Write the index and move both files to their names."""
        self.file.close()
        self.path.with_suffix(".part").replace(self.path.with_suffix(".mel"))
        index = self.path.with_suffix(".index")
        index.write_text(json.dumps(self.items, ensure_ascii=False))
        index.replace(self.path.with_suffix(".json"))


class Shard:
    """One shard, its features mapped into memory."""

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        self.items: list[dict[str, Any]] = json.loads(path.with_suffix(".json").read_text())
        self.rows: Halves = np.memmap(path.with_suffix(".mel"), np.float16, "r").reshape(-1, MELS)

    def mel(self, k: int) -> Halves:
        """Return the features of utterance `k`, (frames, 80), not normalised."""
        item = self.items[k]
        return self.rows[item["start"] : item["start"] + item["frames"]]


def found(folder: str | Path) -> list[Path]:
    """Return the finished shards of a folder, sorted by name, without suffix; of one shard so named, itself."""
    path = Path(folder)
    return [p.with_suffix("") for p in sorted(path.glob("*.json"))] if path.is_dir() else [path]
