"""Writes telephone prompts read by a person as one folder of shards: Asterisk's English core sounds (CC-BY-SA-3.0).

    python -m speech.data.prompts --sounds DIR --out DIR/allison

DIR is Debian's asterisk-core-sounds-en and asterisk-core-sounds-en-g722, unpacked into one place or installed (/).
"""

import gzip
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tyro

from ..arrays import Floats
from ..sounds.features import RATE, log_mel
from ..texts import units
from ..texts.numbers import en
from .real import voiced
from .shards import Writer

TEXTS = "usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz"
SOUNDS = "usr/share/asterisk/sounds/en_US_f_Allison"
LONGEST = 16.0  # seconds
MARGINS = 0.4  # seconds of silence that `voiced` leaves at both ends together
LETTERS = (2, 25)  # letters a second; outside these, text and sound do not agree
# Prompts that are not read as they are spelt, or whose reading is not known.
UNSURE = tuple(
    (
        "silence/ spy- demo-moreinfo vm-Cust vm-INBOX vm-Old unidentified-no-callback letters/exclaimation-point "
        "confbridge-binaural phonetic/x_p"
    ).split()
)
SAID = {
    "*": "star",
    "#": "pound",
    "PBX": "p b x",
    "IVR": "i v r",
    "IP": "i p",
    "IAX": "i a x",
    "A.M.": "a m",
    "P.M.": "p m",
    "umute": "unmute",
    "fourtieth": "fortieth",
    "represenatives": "representatives",
}


def words(text: str) -> str | None:
    """Return a prompt as it is read, plain, or None where that is not clear.

    Numbers become words; a remark in brackets at the end is left out.
    """
    text = re.sub(r" \[.\]$| \(.*\)$", "", text)
    if re.search(r"[\[(<]", text):
        return None
    text = " ".join(SAID.get(w, SAID.get(w.rstrip(".,?"), w)) for w in re.sub(r"([*#])", r" \1 ", text).split())
    text = re.sub(r"\d+", lambda m: en(int(m[0])) if int(m[0]) < 10 else " ".join(en(int(d)) for d in m[0]), text)
    return units.plain(text, "en")


def prompts(folder: str | Path) -> Iterator[tuple[str, str | None]]:
    """Yield the name and the text, as `words` returns it, of each listed prompt."""
    with gzip.open(Path(folder) / TEXTS, "rt", errors="replace") as file:
        for line in file:
            name, colon, text = line.rstrip("\n").partition(":")
            if colon and not name.startswith((";", *UNSURE)):
                yield name, words(text.strip())


def decoded(path: Path) -> Floats:
    """Return the samples of a G.722 file, (n,) in [-1, 1] at 16 kHz, by ffmpeg."""
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "g722", "-i", path, "-f", "s16le", "-ac", "1", "-ar", str(RATE), "-"],
        check=True,
        capture_output=True,
    ).stdout
    return np.frombuffer(raw, "<i2").astype(np.float32) / np.float32(32768)


def main(sounds: Path, out: Path) -> None:
    """Write the shard, and print which prompts are left out."""
    writer, dropped = Writer(out / "00-000"), []
    for name, text in prompts(sounds):
        path = sounds / SOUNDS / f"{name}.g722"
        if not text or not path.exists():
            dropped.append(name)
            continue
        samples = voiced(decoded(path))
        seconds = len(samples) / RATE
        if seconds > LONGEST or not LETTERS[0] <= len(text) / (seconds - MARGINS) <= LETTERS[1]:
            dropped.append(f"{name} ({seconds:.1f} s)")
            continue
        writer.add(log_mel(samples), text=text, voice="allison", clip=name)
    writer.close()
    print(len(writer.items), "utterances", f"{writer.at / 6000:.1f} minutes; left out:", " ".join(dropped))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
