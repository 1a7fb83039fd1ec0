"""Runs other programs on a folder of wav clips, beside a running service.

    python -m speech.measure.peer --language pa --clips DIR --url URL --key KEY
    python -m speech.measure.peer --language en --weights ../models/fetched/moonshine-tiny-en --clips DIR --url URL \
        --key KEY

Each round runs every program on a clip before the next clip is taken. It prints one JSON line for each program and
clip: `peer`, `threads`, `file`, `text`, `seconds` (from samples in memory to text, the median of `--runs`),
`audio_seconds`, and, where the folder's `clips.tsv` says what is said, `words` and how many of them are `wrong`. The
process runs on as many processors as it has threads. `--summary` prints a line for each program instead. `--url` adds a
running service. No other program reads the files of speech-pa, so in Panjabi the peer is Whisper base itself. The
packages of requirements-peers.txt are needed.
"""

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from ..data.clips import Clip, read
from ..sounds.features import RATE
from ..texts import english, metrics, units
from . import peer_english
from .peer_english import Recognise

MAKERS: dict[str, dict[str, Callable[[Path, int, str], Recognise]]] = {
    "pa": {"faster-whisper": peer_english.faster_whisper},
    "en": peer_english.MAKERS,
}


def timed(
    peers: Mapping[str, Recognise], sounds: Sequence[Clip], runs: int
) -> Iterator[tuple[str, str, str, float, float]]:
    """Yield (peer, file, text, seconds spent, seconds of sound) of each clip, the median time of `runs`."""
    for recognise in peers.values():
        recognise(sounds[0].samples)  # the first run allocates
    for name, samples, *_ in sounds:
        spent: dict[str, list[float]] = {peer: [] for peer in peers}
        texts = {}
        for _ in range(runs):
            for peer, recognise in peers.items():
                start = time.perf_counter()
                texts[peer] = recognise(samples)
                spent[peer].append(time.perf_counter() - start)
        for peer, times in spent.items():
            yield peer, name, " ".join(texts[peer].split()), statistics.median(times), len(samples) / RATE


def compared(language: str, spoken: str, text: str) -> dict[str, int]:
    """Return the number of words that are said and how many of them are wrong in a text."""
    read = english.words if language == "en" else lambda text: (units.plain(text, "pa") or text).split()
    return {"words": len(read(spoken)), "wrong": metrics.distance(read(spoken), read(text))}


def summary(rows: Sequence[dict[str, Any]], every: Sequence[dict[str, Any]]) -> str:
    """Return one line about a peer's `rows`: medians of the clips' real-time factors and of their ratios, wrong words.

    `every`: the rows of all peers. A ratio is the time beside the service's for the same clip.
    """
    factors = [row["seconds"] / row["audio_seconds"] for row in rows]
    line = f"{rows[0]['peer']}, {rows[0]['threads']} threads: real-time factor {statistics.median(factors):.5f}"
    if served := {row["file"]: row["seconds"] for row in every if row["peer"] == "akhar"}:
        line += f", {statistics.median(row['seconds'] / served[row['file']] for row in rows):.2f} x akhar's time"
    if known := [row for row in rows if "words" in row]:
        wrong, words = sum(row["wrong"] for row in known), sum(row["words"] for row in known)
        line += f", {100 * wrong / max(1, words):.1f} % of {words} words wrong"
    return line


@dataclass
class Options:
    """What the command line says."""

    language: Literal["pa", "en"]
    clips: Path
    weights: Path = Path()
    """The folder of Moonshine's files."""
    threads: tuple[int, ...] = (1, 2)
    runs: int = 1
    url: str = ""
    """Of a running service, which is then a peer too."""
    key: str = ""
    summary: bool = False


def main(options: Options) -> None:
    """Run every peer with every number of threads that the command line names."""
    sounds = list(read(options.clips))
    spoken = {clip.name: clip.text for clip in sounds if clip.text}
    processors = sorted(os.sched_getaffinity(0))
    for threads in options.threads:
        os.sched_setaffinity(0, processors[:threads])
        makers = MAKERS[options.language]
        peers = {peer: make(options.weights, threads, options.language) for peer, make in makers.items()}
        if options.url:
            peers["akhar"] = peer_english.served(options.url, options.key, options.language)
        rows = []
        for peer, file, text, spent, seconds in timed(peers, sounds, options.runs):
            row = {"peer": peer, "threads": threads, "file": file, "text": text, "seconds": round(spent, 5)}
            row["audio_seconds"] = round(seconds, 3)
            rows.append(row | (compared(options.language, spoken[file], text) if file in spoken else {}))
        if not options.summary:
            print("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), flush=True)
            continue
        for peer in peers:
            print(summary([row for row in rows if row["peer"] == peer], rows), flush=True)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
