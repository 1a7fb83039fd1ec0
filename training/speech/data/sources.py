"""The training data: utterances of folders of shards, each folder with a weight."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..arrays import Halves
from ..texts import phones, units
from .lengths import fits
from .shards import Shard, found


class Row(NamedTuple):
    """One utterance of a shard."""

    shard: Shard
    number: int  # of the utterance in the shard
    units: list[int]
    frames: int  # of 10 ms
    voice: str
    phones: list[int]  # empty where phones are not taught

    def mel(self) -> Halves:
        """Return the features, (frames, 80), not normalised."""
        return self.shard.mel(self.number)


class Sources:
    """The utterances of all folders whose text CTC has room for; `refresh` adds the shards that appeared since.

    `folders`: the weight of each folder; `with_phones`: whether each text's phones are looked up, by espeak-ng.
    """

    def __init__(self, folders: Mapping[str, float], language: str, with_phones: bool) -> None:
        self.folders, self.language = folders, language
        self.spelling = phones.Spelling() if with_phones else None
        self.known: set[Path] = set()
        self.items: dict[str, list[Row]] = {f: [] for f in folders}
        self.voices: dict[str, dict[str, list[int]]] = {f: {} for f in folders}  # places in `items` by voice
        self.refresh()

    def refresh(self) -> float:
        """Take in new shards; returns the hours of all utterances."""
        for folder in self.folders:
            for path in found(folder):
                if path not in self.known:
                    self.known.add(path)
                    self._take(folder, Shard(path))
        return sum(row.frames for rows in self.items.values() for row in rows) / 360000

    def _take(self, folder: str, shard: Shard) -> None:
        """Add the utterances of one shard whose text is plain and not too long for its frames."""
        for k, item in enumerate(shard.items):
            if (units.plain(item["text"], self.language) or "") != item["text"]:
                continue
            ids = units.encode(item["text"], self.language)
            if fits(ids, item["frames"]):
                place = self.voices[folder].setdefault(item["voice"], [])
                place.append(len(self.items[folder]))
                spoken = self.spelling.phones(item["text"]) if self.spelling else []
                self.items[folder].append(Row(shard, k, ids, item["frames"], item["voice"], spoken))
