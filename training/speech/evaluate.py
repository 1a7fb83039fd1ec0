"""Measures an acoustic model, greedy and with the language model, on what it never heard.

    python -m speech.evaluate --language pa --models-dir ../models --held DIR/test --data DIR --folds DIR --json FILE

The shipped files, or `--model` and `--lm`. `--held` is what `speech.held` wrote for the part `test`. `--folds` holds an
export for each group of speakers it never heard, in folders named `F04` or `george+jackson`: these read the real digits
of their own speakers. `--readings` are the two English reading sets beside pocketsphinx with its own language model;
`--shards` any others, such as what `speech.own` kept apart.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnxruntime

from . import align, beam, features, metrics, ngram, numbers, real, units
from .shards import Shard, found

BEST = {"pa": (0.9, 1.2), "en": (0.5, 0.8)}  # weight and bonus, chosen on the part `dev`
BEAM = 24  # texts kept
LATE = 0.06  # seconds by which a word's start is heard late, about
ONE_BY_ONE = "single words of real digits, speakers never heard"
SHORTEST = 1600  # samples of a word cut out of a string
MIN_CONFIDENCE = {"pa": 0.3, "en": 0.31}  # below is noise; measured by `speech.confidence`


class Recogniser:
    """`model`: an ONNX file, or a folder with a model.onnx."""

    def __init__(self, model, language, lm=None, threads=1, tuned=None, width=BEAM):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        path = Path(model) / "model.onnx" if Path(model).is_dir() else Path(model)
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.language, self.lm = language, ngram.Model(lm) if lm else None
        self.tuned, self.width = tuned or BEST[language], width

    def log_probs(self, mel):
        """(frames, 80), not normalised, to (T', units + 1)."""
        signal = np.ascontiguousarray(features.normalised(mel, features.cmvn()).T)[None]
        return self.session.run(None, {"audio_signal": signal, "length": np.array([signal.shape[2]])})[0][0]

    def greedy(self, log_probs):
        return units.greedy(log_probs.argmax(1), self.language)

    def beam(self, log_probs):
        """As the service decodes."""
        if units.confidence(log_probs, self.language) < MIN_CONFIDENCE[self.language]:
            return ""
        ids = beam.search(log_probs, self.lm, *self.tuned, width=self.width)
        return units.decode(ids, self.language)


def shard_items(folder):
    for path in found(folder):
        shard = Shard(path)
        for k, item in enumerate(shard.items):
            yield item, np.asarray(shard.mel(k), np.float32)


def measured(rows, recogniser):
    """rows: (text, group, mel) to {(decoder, group): Errors}."""
    out = {}
    for text, group, mel in rows:
        log_probs = recogniser.log_probs(mel)
        said = {"greedy": recogniser.greedy(log_probs)}
        if recogniser.lm:
            said["beam + lm"] = recogniser.beam(log_probs)
        for decoder, hypothesis in said.items():
            for name in {group, "all"}:
                out.setdefault((decoder, name), metrics.Errors()).add(text, hypothesis)
    return out


def held(folder, recogniser):
    rows = (
        (item["text"], "espeak" if "+" in item["voice"] else item["voice"], mel) for item, mel in shard_items(folder)
    )
    return measured(rows, recogniser)


def times(folder, recogniser):
    """Absolute error of word starts in seconds where the words are right, against the engine's own account."""
    blank, off = units.blank(recogniser.language), []
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


def snapped(text, words):
    """Each word to the nearest of a closed list."""
    return " ".join(min(words, key=lambda w: metrics.distance(w, t)) for t in text.split())


def apart(samples, text, recogniser):
    """(samples, word) of each word of a string, cut where it is quietest around each one's start; none where the
    string has too few frames.
    """
    log_probs = recogniser.log_probs(features.log_mel(samples))
    language, words = recogniser.language, text.split()
    starts = align.word_starts(log_probs, units.encode(text, language), units.blank(language))
    if not starts:
        return []
    cuts = [0]
    for start in starts[1:]:
        heard = int((start - LATE) * features.RATE)
        at = np.arange(max(0, heard - 2400), heard + 800, 80)
        quietest = at[np.argmin([(samples[k : k + 320] ** 2).mean() for k in at])]
        cuts.append(max(cuts[-1], int(quietest) + 160))
    pieces = [samples[a:b] for a, b in zip(cuts, [*cuts[1:], len(samples)])]
    return [(piece, word) for piece, word in zip(pieces, words) if len(piece) > SHORTEST]


def digits(data, language, recogniser, speakers, one_by_one=False):
    """Digits of people: as decoded, and with each word set to the nearest of the ten."""
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
            for piece, word in apart(samples, text, recogniser)
        )
    out = {}
    for speaker, samples, text in strings:
        log_probs = recogniser.log_probs(features.log_mel(samples))
        said = {"greedy": recogniser.greedy(log_probs)}
        if recogniser.lm:
            said["beam + lm"] = recogniser.beam(log_probs)
        said |= {f"{decoder}, snapped": snapped(hypothesis, words) for decoder, hypothesis in said.items()}
        for decoder, hypothesis in said.items():
            for name in (speaker, "all"):
                out.setdefault((decoder, name), metrics.Errors()).add(text, hypothesis)
    return out


def sphinx(samples):
    """What pocketsphinx makes of it with its own models."""
    import pocketsphinx

    if not hasattr(sphinx, "decoder"):
        sphinx.decoder = pocketsphinx.Decoder(samprate=features.RATE, loglevel="FATAL")
    sphinx.decoder.start_utt()
    sphinx.decoder.process_raw((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes(), full_utt=True)
    sphinx.decoder.end_utt()
    found_text = sphinx.decoder.hyp()
    return units.plain(found_text.hypstr, "en") or "" if found_text else ""


def readings(data, recogniser, name):
    out = {}
    for _, samples, text in real.reading(data, name):
        text = units.plain(text, "en")
        if text is None:
            continue
        log_probs = recogniser.log_probs(features.log_mel(samples))
        said = {"greedy": recogniser.greedy(log_probs), "pocketsphinx": sphinx(samples)}
        if recogniser.lm:
            said["beam + lm"] = recogniser.beam(log_probs)
        for decoder, hypothesis in said.items():
            out.setdefault((decoder, name), metrics.Errors()).add(text, hypothesis)
    return out


def noted(title, table, kept):
    """Prints a table and adds its rows to `kept`."""
    for (decoder, group), errors in sorted(table.items()):
        print(f"{title} | {group} | {decoder} | {errors.line()}", flush=True)
        kept.append({"set": title, "group": group, "decoder": decoder, **vars(errors)})


def starts(folder, recogniser):
    """Milliseconds by which word starts are wrong, as heard and with the median lateness taken off."""
    off = 1000 * times(folder, recogniser)
    late = float(np.median(off))
    out = {"words": len(off), "late": round(late, 1)}
    for name, values in (("raw", np.abs(off)), ("corrected", np.abs(off - late))):
        out[name] = {"median": round(float(np.median(values)), 1), "95th": round(float(np.quantile(values, 0.95)), 1)}
    print("word starts", json.dumps(out), flush=True)
    return out


def folds_table(data, language, folder, lm, kept):
    """The real digits of each fold's speakers, read by the network that never heard them; and all folds together. Panjabi
    ones, which are strings, also word by word.
    """
    recognisers = {
        path.name: Recogniser(path, language, lm) for path in sorted(Path(folder).iterdir()) if path.is_dir()
    }
    for title, one_by_one in (("real digits, speakers never heard", False), (ONE_BY_ONE, True)):
        if one_by_one and language == "en":
            continue
        together = {}
        for name, recogniser in recognisers.items():
            table = digits(data, language, recogniser, name.split("+"), one_by_one)
            noted(title, {k: v for k, v in table.items() if k[1] != "all"}, kept)
            for (decoder, group), errors in table.items():
                if group == "all":
                    together.setdefault((decoder, group), metrics.Errors()).take(errors)
        noted(title, together, kept)


def main():
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
    language, model, lm = arguments.language, arguments.model, arguments.lm
    if arguments.models_dir:
        model, lm = (Path(arguments.models_dir) / f"weights/speech-{language}.{end}" for end in ("onnx", "lm"))
    recogniser = Recogniser(model, language, lm)
    kept, figures = [], {}
    if arguments.held:
        for name in ("clean", "worn"):
            noted(f"held-out sentences, {name}", held(Path(arguments.held) / name, recogniser), kept)
        figures["starts"] = starts(Path(arguments.held) / "clean", recogniser)
    if arguments.real:
        noted("real digits", digits(arguments.data, language, recogniser, arguments.real), kept)
    if arguments.folds:
        folds_table(arguments.data, language, arguments.folds, lm, kept)
    if arguments.readings:
        for name in ("en-misc-tests", "en-read-matthes"):
            noted("real reading", readings(arguments.data, recogniser, name), kept)
    if arguments.shards:
        rows = ((item["text"], item["voice"], mel) for item, mel in shard_items(arguments.shards))
        noted("shards", measured(rows, recogniser), kept)
    if arguments.json:
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in kept)
        rest = "".join(f' "{name}": {json.dumps(value)},\n' for name, value in figures.items())
        Path(arguments.json).write_text(f'{{{rest.lstrip()} "rows": [\n  {lines}\n ]}}\n')


if __name__ == "__main__":
    main()
