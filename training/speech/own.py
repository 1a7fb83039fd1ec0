"""Your own recordings as shards of features, to teach a model your voices and your words.

    python -m speech.own --language pa --table DIR/transcripts.tsv --every 5 --out DIR/own

A line of the table is a file beside it (wav, flac, ogg, mp3), a tab and what is said in it, as it is to be written; then,
if there are several, a tab and the speaker. Every so many-th recording goes to `OUT/kept`, which nothing is learnt from, the
others to `OUT/heard`.
"""

import argparse
import sys
from pathlib import Path

import soundfile

from . import train, units, world
from .batches import fits
from .features import RATE, log_mel
from .real import voiced
from .shards import Writer

LONGEST = train.LENGTHS[-1][1] / 100  # seconds


class Unfit(ValueError):
    """A recording that cannot be learnt from; says why."""


def rows(table):
    """(number of the line, file, text, speaker)"""
    for number, line in enumerate(Path(table).read_text("utf-8-sig").splitlines(), 1):
        parts = line.split("\t")
        if len(parts) not in (2, 3):
            raise Unfit(f"line {number} has {len(parts)} columns; file, text and perhaps the speaker were expected")
        yield number, Path(table).parent / parts[0], parts[1], parts[2] if len(parts) == 3 else "own"


def taken(path, text, language):
    """(log-mels, plain text) of a recording, without the silence at its ends."""
    plain = units.plain(text, language)
    if plain is None:
        raise Unfit(f"its text has something else than words in letters of {language}, such as a figure")
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise Unfit(str(error)) from error
    samples = world.resampled(samples.mean(1), rate)
    if len(samples) < RATE // 10 or not samples.any():
        raise Unfit("there is nothing in it")
    mel = log_mel(voiced(samples))
    if len(mel) > LONGEST * 100:
        raise Unfit(f"{len(mel) / 100:.1f} s are too long to learn from; cut it to {LONGEST:.0f} s or less")
    if not fits(units.encode(plain, language), len(mel)):
        raise Unfit(f"its text is too long for {len(mel) / 100:.1f} s")
    return mel, plain


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument(
        "--every",
        type=int,
        choices=range(2, 101),
        default=5,
        metavar="2 to 100",
        help="which recordings are kept apart",
    )
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    try:
        table = list(rows(arguments.table))
    except (Unfit, OSError, UnicodeDecodeError) as reason:
        sys.exit(f"{arguments.table}: {reason}")
    writers = {part: Writer(Path(arguments.out) / part / "00-000") for part in ("heard", "kept")}
    fit = 0
    for number, path, text, speaker in table:
        try:
            mel, plain = taken(path, text, arguments.language)
        except Unfit as reason:
            print(f"left out, line {number}: {path.name}: {reason}", file=sys.stderr)
            continue
        fit += 1
        writers["heard" if fit % arguments.every else "kept"].add(mel, text=plain, voice=speaker)
    if fit < arguments.every:
        sys.exit(f"{fit} recordings of {len(table)} can be learnt from; at least {arguments.every} are needed")
    for part, writer in writers.items():
        print(part, len(writer.items), "recordings", f"{writer.at / 6000:.1f} minutes")
        writer.close()


if __name__ == "__main__":
    main()
