"""Measures the letters that aligner-en recognises, greedily, on speech that was not in its training.

    python -m speech.measure.evaluate --models-dir ../models --held FOLDER/en

`--held` is what `speech.data.held` wrote for the part `test`.
"""

from pathlib import Path

import numpy as np
import tyro
from manifests import MODELS

from ..arrays import Doubles
from ..network.recogniser import MODEL, Recogniser, shard_items
from ..search import ctc
from ..texts import metrics, units


def of_voices(folder: Path, recogniser: Recogniser) -> dict[str, metrics.Errors]:
    """Return the errors in a folder of `speech.data.held`, by voice (espeak for all of espeak-ng's) and of all."""
    out: dict[str, metrics.Errors] = {}
    for item, mel in shard_items(folder):
        voice = "espeak" if "+" in item["voice"] else item["voice"].split(":")[-1]
        said = recogniser.greedy(recogniser.log_probs(mel))
        for name in (voice, "all"):
            out.setdefault(name, metrics.Errors()).add(item["text"], said)
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


def main(held: Path, models_dir: Path = MODELS) -> None:
    """Measure the letters of both folders, and the starts of words: as found, and without the median lateness."""
    recogniser = Recogniser(models_dir / f"weights/{MODEL}.onnx")
    for name in ("clean", "degraded"):
        for voice, errors in sorted(of_voices(held / name, recogniser).items()):
            print(f"{name} | {voice} | {errors.line()}", flush=True)
    off = 1000 * times(held / "clean", recogniser)
    late = float(np.median(off))
    print(f"word starts | {len(off)} words, {late:.1f} ms late")
    for name, values in (("as found", np.abs(off)), ("without that", np.abs(off - late))):
        print(f"{name} | median {np.median(values):.1f} ms, 95th percentile {np.quantile(values, 0.95):.1f} ms")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
