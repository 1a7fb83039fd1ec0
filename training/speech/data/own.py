"""Turns your own recordings of Panjabi into shards of features, to train a model further on your voices and words.

    python -m speech.data.own --table DIR/transcripts.tsv --every 5 --out DIR/own

A line of the table is a file beside it (wav, flac, ogg, mp3), a tab and the text as it is to be written; with several
speakers, a tab and the speaker follow. Every fifth recording (`--every`) goes to `OUT/kept`, to measure on; the others
go to `OUT/train`, to train on. The features are those that `speech.whisper_ctc.train` takes.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tyro

from ..arrays import Floats
from ..sounds import acoustics
from ..sounds.features import RATE, WHISPER, log_mel
from ..texts import units
from .lengths import LONGEST, fits
from .real import voiced
from .shards import Writer


class Unfit(ValueError):
    """A recording that training cannot use; the message says why."""


def rows(table: str | Path) -> Iterator[tuple[int, Path, str, str]]:
    """Yield (line number, file, text, speaker) of a table; raises Unfit for a line with other columns."""
    for number, line in enumerate(Path(table).read_text("utf-8-sig").splitlines(), 1):
        parts = line.split("\t")
        if len(parts) not in (2, 3):
            raise Unfit(f"line {number} has {len(parts)} columns; file, text and perhaps the speaker were expected")
        yield number, Path(table).parent / parts[0], parts[1], parts[2] if len(parts) == 3 else "own"


def read(path: Path) -> Floats:
    """Return a recording's samples, (n,) in [-1, 1], mono, at 16 kHz; raises Unfit where it cannot be decoded."""
    import soundfile  # the rest of this module works without it

    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise Unfit(str(error)) from error
    return acoustics.resampled(np.asarray(samples).mean(1), rate)


def usable(samples: Floats) -> Floats:
    """Return the log-mels, (frames, 80), without the silence at the ends; raises Unfit for silence and long sound.

    `samples`: (n,) in [-1, 1] at 16 kHz.
    """
    if len(samples) < RATE // 10 or not samples.any():
        raise Unfit("it holds no sound")
    mel = log_mel(voiced(samples), WHISPER)
    if len(mel) > LONGEST * 100:
        raise Unfit(f"{len(mel) / 100:.1f} s are too long; cut it to {LONGEST:.0f} s or less")
    return mel


def taken(path: Path, text: str) -> tuple[Floats, str]:
    """Return the log-mels, (frames, 80), and the plain text of a recording; raises Unfit."""
    plain = units.plain(text, "pa")
    if plain is None:
        raise Unfit("its text holds something other than words in Gurmukhi letters, such as a digit")
    mel = usable(read(path))
    if not fits(units.encode(plain, "pa"), len(mel)):
        raise Unfit(f"its text is too long for {len(mel) / 100:.1f} s")
    return mel, plain


def main(table: Path, out: Path, every: int = 5) -> None:
    """Write the shards, and name on standard error each recording that is left out."""
    try:
        listed = list(rows(table))
    except (Unfit, OSError, UnicodeDecodeError) as reason:
        sys.exit(f"{table}: {reason}")
    writers = {part: Writer(out / part / "00-000") for part in ("train", "kept")}
    fit = 0
    for number, path, text, speaker in listed:
        try:
            mel, plain = taken(path, text)
        except Unfit as reason:
            print(f"left out, line {number}: {path.name}: {reason}", file=sys.stderr)
            continue
        fit += 1
        writers["train" if fit % every else "kept"].add(mel, text=plain, voice=speaker)
    if fit < every:
        sys.exit(f"{fit} of {len(listed)} recordings can be used; at least {every} are needed")
    for part, writer in writers.items():
        print(part, len(writer.items), "recordings", f"{writer.at / 6000:.1f} minutes")
        writer.close()


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
