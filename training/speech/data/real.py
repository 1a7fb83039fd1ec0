"""Writes recordings of people as shards of features: digits in Panjabi and English, one folder a speaker.

    python -m speech.data.real --data DIR --language pa --out DIR/real

With `--language en-spelt` they are English digits and letters by half of the people of en-accented, in Gurmukhi
spelling, as speech-pa takes them.

Samples are (n,) float32 in [-1, 1], mono, at 16 kHz.
"""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import tyro

from ..arrays import Floats
from ..sounds import acoustics
from ..sounds.features import NEMO, RATE, WHISPER, log_mel
from ..texts import units
from ..texts.numbers import EN
from ..texts.sentences import BORROWED, LETTERS
from .shards import Writer

WRONG_CLIP = "numbers-R_34Kh357EGklz2X7"  # another number is said than the table has
NAMES = {"PN00F04": "F04", "PN00M01": "M01"}
Recording = tuple[str, str, Floats, str]  # speaker, clip, samples, plain text
Clip = tuple[str, Floats, str]  # name, samples, text


def read(file: Path | BinaryIO) -> Floats:
    """Return the samples of an audio file, mono, at 16 kHz."""
    import soundfile  # the rest of this module works without it

    samples, rate = soundfile.read(file, dtype="float32")
    return acoustics.resampled(samples.mean(1) if samples.ndim > 1 else samples, rate)


def _table(path: Path) -> Iterator[list[str]]:
    """Yield the cells of each line of a table below its head."""
    return (line.split("\t") for line in path.read_text("utf-8").splitlines()[1:])


def _plain(text: str, name: str) -> str:
    plain = units.plain(text, "pa")
    if plain is None:
        raise ValueError(f"the transcript of {name} is not plain Panjabi: {text}")
    return plain


def panjabi(data: Path) -> Iterator[Recording]:
    """Yield the digit strings. Raises ValueError where a transcript is not plain Panjabi."""
    folder = data / "speech/pa-digits"
    for name, speaker, _, _, written in _table(folder / "transcripts.tsv"):
        samples = read(next(folder.rglob(f"{name}.flac")))
        yield NAMES.get(speaker, speaker), name, samples, _plain(written, name)


def spontaneous(data: Path) -> Iterator[Clip]:
    """Yield the spontaneous Panjabi clips, with an approximate text or with "".

    Raises ValueError where a text is not plain Panjabi.
    """
    folder = data / "speech/pa-spontaneous"
    known = dict(_table(folder / "approximate.tsv"))
    for path in sorted(folder.glob("*.flac")):
        yield path.stem, read(path), _plain(known[path.stem], path.stem) if path.stem in known else ""


def read_aloud(data: Path) -> Iterator[Clip]:
    """Yield what people read in Panjabi, a sentence and single words in `colours/`, to choose networks by.

    Nothing is ever trained on it. Raises ValueError where a text is not plain Panjabi.
    """
    folder = data / "speech/pa-people-dev"
    for name, text in _table(folder / "transcripts.tsv"):
        yield name, read(folder / name), _plain(text, name)


def accented(data: Path) -> Iterator[tuple[str, str, str, Floats, str]]:
    """Yield (speaker, kind, clip, samples, text) of numbers, names and addresses in accented English."""
    folder = data / "speech/en-accented"
    for name, speaker, kind, text, *_ in _table(folder / "transcripts.tsv"):
        yield speaker, kind, name, read(next(folder.rglob(f"{name}.flac"))), text


def learnt(speakers: set[str]) -> set[str]:
    """Return the half of the speakers of en-accented that may be trained on; the others judge."""
    return set(sorted(speakers)[::2])


def spelt(data: Path) -> Iterator[Recording]:
    """Yield numbers and names, digit by digit and letter by letter, in English, and their Gurmukhi spelling."""
    for speaker, kind, name, samples, text in accented(data):
        if kind == "numbers" and text.isdigit() and name != WRONG_CLIP:
            yield speaker, name, samples, " ".join(BORROWED[int(c)] for c in text)
        elif kind == "names" and all(c in LETTERS or c == " " for c in text.upper()):
            yield speaker, name, samples, " ".join(LETTERS[c] for c in text.upper() if c != " ")


def english(data: Path) -> Iterator[Recording]:
    """Yield the single digits; their recordings are at 8 kHz."""
    with tarfile.open(data / "speech/en-fsdd/fsdd-flac-8k.tar") as pack:
        for member in sorted(pack.getmembers(), key=lambda m: m.name):
            name = Path(member.name).stem
            parts = name.split("_")
            content = pack.extractfile(member)
            if len(parts) == 3 and content is not None:
                yield parts[1], name, read(io.BytesIO(content.read())), EN[int(parts[0])]


def voiced(samples: Floats, margin: float = 0.2) -> Floats:
    """Cut off the silence at the ends: keep what lies within 30 dB of the loudest 20 ms, and `margin` seconds more.

    `samples` hold at least 20 ms.
    """
    n = len(samples) // 320
    power = (samples[: n * 320].reshape(n, 320) ** 2).mean(1)
    loud = np.flatnonzero(power > power.max() * 1e-3)
    start, stop = loud[0] * 320 - int(margin * RATE), (loud[-1] + 1) * 320 + int(margin * RATE)
    return samples[max(0, start) : stop]


def reading(data: Path, name: str) -> Iterator[Clip]:
    """Yield an English reading set, with the text as it is written; it is never trained on."""
    folder = data / "speech" / name
    for clip, text, *_ in _table(folder / "transcripts.tsv"):
        yield clip, read(folder / "flac" / f"{clip}.flac"), text


def spelt_by_learnt(data: Path) -> Iterator[Recording]:
    """Yield what `spelt` does of the speakers who may be trained on, as one speaker "en-accented"."""
    half = learnt({speaker for speaker, *_ in accented(data)})
    return (("en-accented", *row[1:]) for row in spelt(data) if row[0] in half)


SOURCES = {"pa": panjabi, "en": english, "en-spelt": spelt_by_learnt}


def main(data: Path, language: Literal["pa", "en", "en-spelt"], out: Path) -> None:
    """Write the shards of each speaker."""
    writers: dict[str, Writer] = {}
    for speaker, _, samples, text in SOURCES[language](data):
        front_end = WHISPER if language == "en-spelt" else NEMO
        if speaker not in writers:
            writers[speaker] = Writer(out / speaker / "00-000")
        writers[speaker].add(log_mel(voiced(samples), front_end), text=text, voice=speaker)
    for speaker, writer in writers.items():
        print(speaker, len(writer.items), "utterances", f"{writer.at / 6000:.1f} minutes")
        writer.close()


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
