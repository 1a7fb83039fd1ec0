"""Writes recordings of people in English as clips, which `akhar-bench speech` and `speech.measure.peer` read.

python -m speech.measure.people --data DIR --out FOLDER
"""

from pathlib import Path

import tyro

from ..data import clips, real

SETS = ("en-read-matthes", "en-misc-tests")


def main(data: Path, out: Path) -> None:
    """Write the recordings of both sets of sentences."""
    rows = ((name, *row) for name in SETS for row in real.reading(data, name))
    n = clips.write(out, (clips.Clip(f"{name}-{clip}.wav", samples, text) for name, clip, samples, text in rows))
    print(n, "clips")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
