"""Measures an exported acoustic model, greedy and with the language model, on what it never heard.

    python -m speech.evaluate --language pa --model DIR --lm speech-pa.lm --data DIR --held DIR

`--held` is what `speech.held` wrote for the part `test`. Real speech: the digit sets, by speaker (`--real all`, or
the speakers that the model was not trained on), and for English the two reading sets beside pocketsphinx with its
own language model.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnxruntime

from . import align, beam, features, metrics, ngram, numbers, real, units
from .shards import Shard, found

BEST = {"pa": (0.5, 0.6), "en": (0.5, 0.8)}  # weight and bonus, chosen on the part `dev`


class Recogniser:
    def __init__(self, folder, language, lm=None, int8=False, threads=1, tuned=None, width=8):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        name = "model.int8.onnx" if int8 else "model.onnx"
        self.session = onnxruntime.InferenceSession(str(Path(folder) / name), options,
                                                    providers=["CPUExecutionProvider"])
        self.language, self.lm = language, ngram.Model(lm) if lm else None
        self.tuned, self.width = tuned or BEST[language], width

    def log_probs(self, mel):
        """(frames, 80), not normalised, to (T', units + 1)."""
        signal = np.ascontiguousarray(features.normalised(mel).T)[None]
        return self.session.run(None, {"audio_signal": signal, "length": np.array([signal.shape[2]])})[0][0]

    def greedy(self, log_probs):
        return units.greedy(log_probs.argmax(1), self.language)

    def beam(self, log_probs):
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
    rows = ((item["text"], "espeak" if "+" in item["voice"] else item["voice"], mel)
            for item, mel in shard_items(folder))
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
    return np.array(off)


def snapped(text, words):
    """Each word to the nearest of a closed list."""
    return " ".join(min(words, key=lambda w: metrics.distance(w, t)) for t in text.split())


def digits(data, language, recogniser, speakers):
    words = (numbers.PA if language == "pa" else numbers.EN)[:10]
    out = {}
    for speaker, _, samples, text in (real.panjabi if language == "pa" else real.english)(data):
        if speakers != ["all"] and speaker not in speakers:
            continue
        log_probs = recogniser.log_probs(features.log_mel(real.voiced(samples)))
        said = {"greedy": recogniser.greedy(log_probs)}
        said["greedy, snapped to ten words"] = snapped(said["greedy"], words)
        if recogniser.lm:
            said["beam + lm"] = recogniser.beam(log_probs)
        for decoder, hypothesis in said.items():
            out.setdefault((decoder, speaker), metrics.Errors()).add(text, hypothesis)
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


def show(title, table, kept):
    for (decoder, group), errors in sorted(table.items()):
        print(f"{title} | {group} | {decoder} | {errors.line()}", flush=True)
        kept.append({"set": title, "group": group, "decoder": decoder, "cer": round(errors.cer, 4),
                     "characters": errors.characters, "wer": round(errors.wer, 4), "words": errors.words,
                     "exact": errors.exact, "utterances": errors.utterances})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--lm")
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--data")
    parser.add_argument("--held")
    parser.add_argument("--real", nargs="*", default=[])
    parser.add_argument("--readings", action="store_true")
    parser.add_argument("--json", help="write the figures here")
    arguments = parser.parse_args()
    recogniser = Recogniser(arguments.model, arguments.language, arguments.lm, arguments.int8)
    kept = []
    if arguments.held:
        for name in ("clean", "worn"):
            show(f"held-out sentences, {name}", held(Path(arguments.held) / name, recogniser), kept)
        off = times(Path(arguments.held) / "clean", recogniser)
        if len(off):
            apart = np.abs(off)
            print(f"word starts | median {1000 * np.median(apart):.0f} ms, 95th {1000 * np.quantile(apart, 0.95):.0f} ms, "
                  f"median shift {1000 * np.median(off):+.0f} ms | {len(off)} words")
    if arguments.real:
        show("real digits", digits(arguments.data, arguments.language, recogniser, arguments.real), kept)
    if arguments.readings:
        for name in ("en-misc-tests", "en-read-matthes"):
            show("real reading", readings(arguments.data, recogniser, name), kept)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
