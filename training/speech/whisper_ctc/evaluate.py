"""Measures the error rates of a checkpoint on what `held` wrote, greedily and with the letter language model.

    python -m speech.whisper_ctc.evaluate --checkpoint WORK/head.pt --eval WORK/eval --lm WORK/pa.lm \
        --sets F04 M01 words clean degraded kokoro spontaneous

Digit strings are measured also with each word set to the nearest of the ten digit words ("snapped"). The last column
is the CER without spaces. The texts of the spontaneous clips are printed; a clip without a reference is not counted.
"""

import argparse
from pathlib import Path

import torch

from ..arrays import Floats
from ..search import ctc
from ..texts import metrics, numbers, units
from . import batches
from .evidence import TUNED
from .model import Recogniser, loaded
from .train import log_probs

DIGITS = ("F04", "M01")


def texts(scores: Floats, folder: Path, arguments: argparse.Namespace) -> dict[str, str]:
    """Return the text of each decoder for (T, units + 1) log-probabilities of an utterance in `folder`."""
    out = {"greedy": units.greedy(scores.argmax(1), "pa")}
    if arguments.lm:
        found = ctc.searched(scores, arguments.lm, tuple(arguments.tuned), arguments.width)
        out["beam"] = units.decode(found.units, "pa") if found else ""
    if set(folder.parts) & set(DIGITS):
        out |= {f"{k}, snapped": metrics.snapped(v, numbers.PA[:10]) for k, v in out.items()}
    return out


def measure(net: Recogniser, folder: Path, arguments: argparse.Namespace) -> None:
    """Print the error rates of every decoder on at most `--most` utterances of a folder, with and without spaces."""
    rows = batches.rows(str(folder), net.start)
    rows = rows[:: max(1, len(rows) // arguments.most)]
    errors: dict[str, tuple[metrics.Errors, metrics.Errors]] = {}
    for row, scores in zip(rows, log_probs(net, rows), strict=True):
        truth = row.item["text"]
        for decoder, text in texts(scores, folder, arguments).items():
            if folder.name == "spontaneous":
                print(f"  {row.item['name']} {decoder}: {text}")
            if truth:
                whole, close = errors.setdefault(decoder, (metrics.Errors(), metrics.Errors()))
                whole.add(truth, text)
                close.add(truth.replace(" ", ""), text.replace(" ", ""))
    for decoder, (whole, close) in errors.items():
        line = f"{whole.line()}, exact {whole.exact}, CER without spaces {100 * close.cer:.1f} %"
        print(f"{folder.name} | {decoder} | {line}", flush=True)


def main() -> None:
    """Measure the sets that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--layer", type=int, default=0, help="what the inputs are: 0 features, else that layer's")
    parser.add_argument("--eval", required=True)
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--lm")
    parser.add_argument("--tuned", nargs=2, type=float, default=TUNED)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--most", type=int, default=1000, help="utterances of a set")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    net = loaded(arguments.checkpoint, arguments.layer).eval()
    for name in arguments.sets:
        measure(net, Path(arguments.eval) / name, arguments)


if __name__ == "__main__":
    main()
