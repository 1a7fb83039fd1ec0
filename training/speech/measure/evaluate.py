"""Measures the letters that aligner-en recognises, greedily, on speech that was not in its training.

    python -m speech.measure.evaluate --models-dir ../models --held FOLDER/en --data DIR --folds FOLDS --readings

`--held` is what `speech.data.held` wrote for the part `test`. FOLDS holds folders named `george+jackson`, each with an
export that was trained without these speakers; each export reads the digits of its own speakers, as they are and with
each word set to the nearest of the ten ("snapped"). `--readings` are the two English reading sets, beside pocketsphinx
with its own language model.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from manifests import MODELS

from ..arrays import Doubles, Floats
from ..data import real
from ..network.recogniser import MODEL, Recogniser, shard_items
from ..search import ctc
from ..sounds import features
from ..texts import metrics, numbers, units

Table = dict[tuple[str, str], metrics.Errors]  # by decoder and group; the group "all" holds every utterance


def counted(table: Table, texts: dict[str, str], truth: str, groups: Iterable[str]) -> None:
    """Count one utterance in a table; `texts`: the recognised text of each decoder."""
    for decoder, recognised in texts.items():
        for group in groups:
            table.setdefault((decoder, group), metrics.Errors()).add(truth, recognised)


def of_voices(folder: Path, recogniser: Recogniser) -> Table:
    """Measure a folder of `speech.data.held`; a group is a voice, or espeak for all of espeak-ng's."""
    out: Table = {}
    for item, mel in shard_items(folder):
        group = "espeak" if "+" in item["voice"] else item["voice"].split(":")[-1]
        counted(out, {"greedy": recogniser.greedy(recogniser.log_probs(mel))}, item["text"], {group, "all"})
    return out


def times(folder: str | Path, recogniser: Recogniser) -> Doubles:
    """Return by how many seconds each word's start is found late, (n,), against the synthesiser's own times.

    Only words that are recognised rightly count, in utterances with the right number of words. Raises ValueError
    where there is none.
    """
    off: list[float] = []
    for item, mel in shard_items(folder):
        log_probs = recogniser.log_probs(mel)
        text = recogniser.greedy(log_probs)
        truth, recognised = item["text"].split(), text.split()
        if len(truth) != len(recognised) or not item["times"]:
            continue
        starts = ctc.word_starts(log_probs, units.encode(text, "en"))
        off += [starts[k] - t for k, t in item["times"] if k < len(starts) and recognised[k] == truth[k]]
    if not off:
        raise ValueError(f"no word of {folder} was read rightly: there is no start to measure")
    return np.array(off)


def starts(folder: Path, recogniser: Recogniser) -> str:
    """Return the errors of word starts in milliseconds: as found, and with the median lateness taken off."""
    off = 1000 * times(folder, recogniser)
    late = float(np.median(off))
    errors = [
        f"{name}: median {np.median(values):.1f}, 95th percentile {np.quantile(values, 0.95):.1f}"
        for name, values in (("as found", np.abs(off)), ("without that", np.abs(off - late)))
    ]
    return f"word starts | {len(off)} words, {late:.1f} ms late; {'; '.join(errors)}"


def digits(data: Path, recogniser: Recogniser, speakers: Iterable[str]) -> Table:
    """Measure the digits of some speakers."""
    out: Table = {}
    for speaker, _, samples, text in real.english(data):
        if speaker in speakers:
            read = recogniser.greedy(recogniser.log_probs(features.log_mel(real.voiced(samples))))
            texts = {"greedy": read, "greedy, snapped": metrics.snapped(read, numbers.EN[:10])}
            counted(out, texts, text, (speaker, "all"))
    return out


@cache
def _sphinx() -> Any:
    """Return pocketsphinx with its own models."""
    import pocketsphinx  # only the English readings need it

    return pocketsphinx.Decoder(samprate=features.RATE, loglevel="FATAL")


def sphinx(samples: Floats) -> str:
    """Return the text that pocketsphinx recognises, plain."""
    decoder = _sphinx()
    decoder.start_utt()
    decoder.process_raw((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes(), full_utt=True)
    decoder.end_utt()
    found = decoder.hyp()
    return units.plain(found.hypstr, "en") or "" if found else ""


def of_readers(data: Path, recogniser: Recogniser, name: str) -> Table:
    """Measure an English reading set, beside pocketsphinx; texts with anything but words are left out."""
    out: Table = {}
    for _, samples, written in real.reading(data, name):
        text = units.plain(written, "en")
        if text is not None:
            read = recogniser.greedy(recogniser.log_probs(features.log_mel(samples)))
            counted(out, {"greedy": read, "pocketsphinx": sphinx(samples)}, text, (name,))
    return out


def shown(title: str, table: Table) -> None:
    """Print a table."""
    for (decoder, group), errors in sorted(table.items()):
        print(f"{title} | {group} | {decoder} | {errors.line()}", flush=True)


def folds_table(data: Path, folder: Path) -> None:
    """Measure the digits of each fold's speakers with the fold's own export, and all folds together."""
    together: Table = {}
    for path in sorted(folder.iterdir()):
        table = digits(data, Recogniser(path), path.name.split("+"))
        shown("digits of people", {k: v for k, v in table.items() if k[1] != "all"})
        for key, errors in table.items():
            if key[1] == "all":
                together.setdefault(key, metrics.Errors()).take(errors)
    shown("digits of people", together)


def main(
    data: Path,
    models_dir: Path = MODELS,
    held: Path | None = None,
    folds: Path | None = None,
    readings: bool = False,
) -> None:
    """Measure what the command line asks for."""
    recogniser = Recogniser(models_dir / f"weights/{MODEL}.onnx")
    if held:
        for name in ("clean", "degraded"):
            shown(f"held-out sentences, {name}", of_voices(held / name, recogniser))
        print(starts(held / "clean", recogniser), flush=True)
    if folds:
        folds_table(data, folds)
    if readings:
        for name in ("en-misc-tests", "en-read-matthes"):
            shown("sentences read by people", of_readers(data, recogniser, name))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
