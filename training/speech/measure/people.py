"""Writes recordings of people as a folder of wav clips with a table of what is said, as `speech.data.held` writes it.

    python -m speech.measure.people --data DIR --sets en-read-matthes en-misc-tests --out FOLDER

`akhar-bench speech --clips` and `speech.measure.peer` read the folder.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

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


def main() -> None:
    """Write the sets that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    print(f"{write(arguments.data, arguments.sets, arguments.out)} clips")


if __name__ == "__main__":
    main()
