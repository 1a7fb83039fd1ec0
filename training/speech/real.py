"""Speech of people, as shards of features: digits in Panjabi and English, one folder a speaker.

python -m speech.real --data DIR --language pa --out DIR/real
"""

import argparse
import io
import tarfile
from pathlib import Path

import numpy as np
import soundfile

from . import units, world
from .features import RATE, log_mel
from .numbers import EN
from .shards import Writer

NAMES = {"PN00F04": "F04", "PN00M01": "M01"}


def panjabi(data):
    """(speaker, samples, text) of the digit strings."""
    folder = Path(data) / "speech/pa-digits"
    for line in (folder / "transcripts.tsv").read_text().splitlines()[1:]:
        name, speaker, _, _, text = line.split("\t")
        path = next(folder.rglob(f"{name}.flac"))
        samples, rate = soundfile.read(path, dtype="float32")
        yield NAMES.get(speaker, speaker), name, world.resampled(samples, rate), units.plain(text, "pa")


def english(data):
    """(speaker, samples, text) of the single digits; the recordings are of 8 kHz."""
    with tarfile.open(Path(data) / "speech/en-fsdd/fsdd-flac-8k.tar") as pack:
        for member in sorted(pack.getmembers(), key=lambda m: m.name):
            name = Path(member.name).stem
            parts = name.split("_")
            if len(parts) == 3:
                samples, rate = soundfile.read(io.BytesIO(pack.extractfile(member).read()), dtype="float32")
                yield parts[1], name, world.resampled(samples, rate), EN[int(parts[0])]


def voiced(samples, margin=0.2):
    """Without the silence at the ends: what is within 30 dB of the loudest 20 ms, and a margin in seconds."""
    n = len(samples) // 320
    power = (samples[: n * 320].reshape(n, 320) ** 2).mean(1)
    loud = np.flatnonzero(power > power.max() * 1e-3)
    start, stop = loud[0] * 320 - int(margin * RATE), (loud[-1] + 1) * 320 + int(margin * RATE)
    return samples[max(0, start) : stop]


def reading(data, name):
    """(clip, samples, plain text) of an English reading set; for tests alone."""
    folder = Path(data) / "speech" / name
    for line in (folder / "transcripts.tsv").read_text().splitlines()[1:]:
        clip, text = line.split("\t")[:2]
        samples, rate = soundfile.read(folder / "flac" / f"{clip}.flac", dtype="float32")
        if samples.ndim > 1:
            samples = samples.mean(1)
        yield clip, world.resampled(samples, rate), text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    writers = {}
    for speaker, _, samples, text in (panjabi if arguments.language == "pa" else english)(arguments.data):
        if speaker not in writers:
            writers[speaker] = Writer(Path(arguments.out) / speaker / "00-000")
        writers[speaker].add(log_mel(voiced(samples)), text=text, voice=speaker)
    for speaker, writer in writers.items():
        print(speaker, len(writer.items), "utterances", f"{writer.at / 6000:.1f} minutes")
        writer.close()


if __name__ == "__main__":
    main()
