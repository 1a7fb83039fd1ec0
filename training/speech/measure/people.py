"""Writes recordings of people as a folder of wav clips with a table of what is said, as `speech.data.held` writes it.

    python -m speech.measure.people --data DIR --sets en-read-matthes en-misc-tests --out FOLDER

`akhar-bench speech --clips` and `speech.measure.peer` read the folder.
"""

from collections.abc import Sequence
from pathlib import Path

import tyro

from ..data import real
from . import client

SETS = ("en-read-matthes", "en-misc-tests")


def write(data: str | Path, sets: Sequence[str], out: Path) -> int:
    """Write the clips of some reading sets and `clips.tsv`; returns their number. `out` is a folder to make."""
    out.mkdir(parents=True)
    rows = ["file\ttext\tword_starts"]
    for name in sets:
        for clip, samples, text in real.reading(data, name):
            file = f"{name}-{clip}.wav"
            (out / file).write_bytes(client.wav(samples))
            rows.append(f"{file}\t{text}\t")
    (out / "clips.tsv").write_text("\n".join(rows) + "\n")
    return len(rows) - 1


def main(data: Path, out: Path, sets: tuple[str, ...] = SETS) -> None:
    """Write the sets that the command line names."""
    print(f"{write(data, sets, out)} clips")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
