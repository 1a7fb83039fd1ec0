"""Measures through a running service how often `lang=auto` detects the language of a recording of at least two seconds.

python -m speech.measure.languages --pa FOLDER ... --en FOLDER ... --url URL --key KEY
"""

from collections import Counter
from pathlib import Path

import tyro

from ..data.clips import read
from ..sounds.features import RATE
from .client import Client

SHORTEST_S = 2


def main(url: str, key: str, pa: tuple[Path, ...] = (), en: tuple[Path, ...] = ()) -> None:
    """Print for each folder of clips what their language was taken for."""
    client = Client(url, key)
    for language, folders in (("pa", pa), ("en", en)):
        for folder in folders:
            clips = [clip for clip in read(folder) if len(clip.samples) >= SHORTEST_S * RATE]
            found = Counter(client.transcribe(clip.samples, "auto").language for clip in clips)
            print(f"{folder}, {language}: {dict(found)} of {len(clips)}", flush=True)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
