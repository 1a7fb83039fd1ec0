"""Measures an acoustic model, greedy and with the language model, on speech that was not in its training.

    python -m speech.evaluate --language en --models-dir ../models --held DIR/test --data DIR --folds DIR --json FILE

It measures the shipped files of `--models-dir`, or those of `--model` and `--lm`. `--held` is what `speech.held` wrote
for the part `test`. `--folds` holds folders named `F04` or `george+jackson`, each with an export that was trained
without these speakers; each export reads the real digits of its own speakers. `--readings` are the two English reading
sets, beside pocketsphinx with its own language model. `--shards` are any others, such as what `speech.own` kept apart.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import align, decoding, features, metrics, numbers, real, sets, units
from .arrays import Doubles, Floats
from .recogniser import Recogniser, shard_items

LATE = 0.06  # seconds by which the start of a word is found late, about
SHORTEST = 1600  # samples of a word cut out of a string
Table = dict[tuple[str, str], metrics.Errors]  # by decoder and group; the group "all" holds every utterance


def counted(table: Table, texts: dict[str, str], truth: str, groups: Iterable[str]) -> None:
    """Count one utterance in a table; `texts`: the recognised text of each decoder."""
    for decoder, said in texts.items():
        for group in groups:
            table.setdefault((decoder, group), metrics.Errors()).add(truth, said)


def measured(rows: Iterable[tuple[str, str, Floats]], recogniser: Recogniser) -> Table:
    """Recognise (text, group, features) and count the errors."""
    out: Table = {}
    for text, group, mel in rows:
        counted(out, recogniser.texts(recogniser.log_probs(mel)), text, {group, "all"})
    return out


def held(folder: str | Path, recogniser: Recogniser) -> Table:
    """Measure a folder of `speech.held`; a group is a voice, or espeak for all of espeak-ng's."""
    rows = (
        (item["text"], "espeak" if "+" in item["voice"] else item["voice"], mel) for item, mel in shard_items(folder)
    )
    return measured(rows, recogniser)


def times(folder: str | Path, recogniser: Recogniser) -> Doubles:
    """Return by how many seconds each word's start is found late, (n,), against the synthesiser's own times.

    Only words that are recognised rightly count, in utterances with the right number of words. Raises ValueError
    where there is none.
    """
    blank = units.blank(recogniser.language)
    off: list[float] = []
    for item, mel in shard_items(folder):
        log_probs = recogniser.log_probs(mel)
        text = recogniser.greedy(log_probs)
        truth, said = item["text"].split(), text.split()
        if len(truth) != len(said) or not item["times"]:
            continue
        starts = align.word_starts(log_probs, units.encode(text, recogniser.language), blank)
        off += [starts[k] - t for k, t in item["times"] if k < len(starts) and said[k] == truth[k]]
    if not off:
        raise ValueError(f"no word of {folder} was read rightly: there is no start to measure")
    return np.array(off)


def cut_words(samples: Floats, text: str, recogniser: Recogniser) -> list[tuple[Floats, str]]:
    """Cut a string into its words where it is quietest around each one's start: (samples, word) of each.

    Words of fewer than SHORTEST samples are left out; a string with too few frames gives none.
    """
    log_probs = recogniser.log_probs(features.log_mel(samples))
    language, words = recogniser.language, text.split()
    starts = align.word_starts(log_probs, units.encode(text, language), units.blank(language))
    if not starts:
        return []
    cuts = [0]
    for start in starts[1:]:
        near = int((start - LATE) * features.RATE)
        at = np.arange(max(0, near - 2400), near + 800, 80)
        quietest = at[np.argmin([(samples[k : k + 320] ** 2).mean() for k in at])]
        cuts.append(max(cuts[-1], int(quietest) + 160))
    pieces = [samples[a:b] for a, b in zip(cuts, [*cuts[1:], len(samples)], strict=True)]
    return [(piece, word) for piece, word in zip(pieces, words, strict=True) if len(piece) > SHORTEST]


def digits(
    data: str | Path, language: str, recogniser: Recogniser, speakers: Sequence[str], one_by_one: bool = False
) -> Table:
    """Measure the digits of some speakers: as decoded, and with each word set to the nearest of the ten ("snapped").

    With `one_by_one` the strings are cut into words first.
    """
    words = (numbers.PA if language == "pa" else numbers.EN)[:10]
    strings = (
        (speaker, real.voiced(samples), text)
        for speaker, _, samples, text in (real.panjabi if language == "pa" else real.english)(data)
        if speaker in speakers
    )
    if one_by_one:
        strings = (
            (speaker, real.voiced(piece), word)
            for speaker, samples, text in strings
            for piece, word in cut_words(samples, text, recogniser)
        )
    out: Table = {}
    for speaker, samples, text in strings:
        said = recogniser.texts(recogniser.log_probs(features.log_mel(samples)))
        said |= {f"{decoder}, snapped": metrics.snapped(hypothesis, words) for decoder, hypothesis in said.items()}
        counted(out, said, text, (speaker, "all"))
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


def readings(data: str | Path, recogniser: Recogniser, name: str) -> Table:
    """Measure an English reading set, beside pocketsphinx; texts with anything but words are left out."""
    out: Table = {}
    for _, samples, written in real.reading(data, name):
        text = units.plain(written, "en")
        if text is None:
            continue
        said = recogniser.texts(recogniser.log_probs(features.log_mel(samples)))
        counted(out, {**said, "pocketsphinx": sphinx(samples)}, text, (name,))
    return out


def noted(title: str, table: Table, kept: list[dict[str, Any]]) -> None:
    """Print a table and add its rows to `kept`."""
    for (decoder, group), errors in sorted(table.items()):
        print(f"{title} | {group} | {decoder} | {errors.line()}", flush=True)
        kept.append({"set": title, "group": group, "decoder": decoder, **vars(errors)})


def starts(folder: str | Path, recogniser: Recogniser) -> dict[str, Any]:
    """Return the errors of word starts in milliseconds: as found, and with the median lateness taken off."""
    off = 1000 * times(folder, recogniser)
    late = float(np.median(off))
    out: dict[str, Any] = {"words": len(off), "late": round(late, 1)}
    for name, values in (("raw", np.abs(off)), ("corrected", np.abs(off - late))):
        out[name] = {"median": round(float(np.median(values)), 1), "95th": round(float(np.quantile(values, 0.95)), 1)}
    print("word starts", json.dumps(out), flush=True)
    return out


def folds_table(
    data: str | Path, language: str, folder: str | Path, lm: str | Path | None, kept: list[dict[str, Any]]
) -> None:
    """Measure the real digits of each fold's speakers with the fold's own export, and all folds together.

    The Panjabi recordings are strings; they are measured word by word as well.
    """
    recognisers = {
        path.name: Recogniser(path, language, lm) for path in sorted(Path(folder).iterdir()) if path.is_dir()
    }
    for title, one_by_one in ((sets.FOLDS, False), (sets.ONE_BY_ONE, True)):
        if one_by_one and language == "en":
            continue
        together: Table = {}
        for name, recogniser in recognisers.items():
            table = digits(data, language, recogniser, name.split("+"), one_by_one)
            noted(title, {k: v for k, v in table.items() if k[1] != "all"}, kept)
            for (decoder, group), errors in table.items():
                if group == "all":
                    together.setdefault((decoder, group), metrics.Errors()).take(errors)
        noted(title, together, kept)


def parsed() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--models-dir", help="measure what is shipped here")
    parser.add_argument("--model")
    parser.add_argument("--lm")
    parser.add_argument("--data")
    parser.add_argument("--held")
    parser.add_argument("--real", nargs="*", default=[], help="speakers")
    parser.add_argument("--folds")
    parser.add_argument("--readings", action="store_true")
    parser.add_argument("--shards", help="a folder of them")
    parser.add_argument("--json", help="write the figures here")
    arguments = parser.parse_args()
    if arguments.models_dir and arguments.language == "pa":
        parser.error("--models-dir: speech.whisper_ctc.evaluate measures what is shipped for Panjabi")
    return arguments


def main() -> None:
    """Measure what the command line asks for, and write the figures as JSON."""
    arguments = parsed()
    language, model, lm = arguments.language, arguments.model, arguments.lm
    if arguments.models_dir:
        weights = Path(arguments.models_dir) / "weights"
        model, lm = (weights / f"{decoding.SHIPPED[language]}.{end}" for end in ("onnx", "lm"))
        lm = lm if lm.exists() else None  # the English network has none: it writes no text
    recogniser = Recogniser(model, language, lm)
    kept: list[dict[str, Any]] = []
    figures: dict[str, Any] = {}
    if arguments.held:
        for name, title in (("clean", sets.CLEAN), ("worn", sets.WORN)):
            noted(title, held(Path(arguments.held) / name, recogniser), kept)
        figures["starts"] = starts(Path(arguments.held) / "clean", recogniser)
    if arguments.real:
        noted("real digits", digits(arguments.data, language, recogniser, arguments.real), kept)
    if arguments.folds:
        folds_table(arguments.data, language, arguments.folds, lm, kept)
    if arguments.readings:
        for name in ("en-misc-tests", "en-read-matthes"):
            noted(sets.READING, readings(arguments.data, recogniser, name), kept)
    if arguments.shards:
        rows = ((item["text"], item["voice"], mel) for item, mel in shard_items(arguments.shards))
        noted("shards", measured(rows, recogniser), kept)
    if arguments.json:
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in kept)
        rest = "".join(f' "{name}": {json.dumps(value)},\n' for name, value in figures.items())
        Path(arguments.json).write_text(f'{{{rest.lstrip()} "rows": [\n  {lines}\n ]}}\n')


if __name__ == "__main__":
    main()
