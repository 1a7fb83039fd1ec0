"""Measures the error rates of a checkpoint on what `held` wrote, greedily and with the letter language model.

    python -m speech.whisper_ctc.evaluate --checkpoint WORK/head.pt --eval WORK/eval --lm WORK/pa.lm \
        --sets F04 M01 words clean degraded kokoro spontaneous

Digit strings are measured also with each word set to the nearest of the ten digit words ("snapped"). The last column
is the CER without spaces. The texts of the spontaneous clips are printed; a clip without a reference is not counted.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from .. import metrics, numbers, units
from . import batches
from .decoding import TUNED, searched
from .model import Recogniser, loaded
from .train import log_probs

DIGITS = ("F04", "M01")


class Table:
    """Counts errors by decoder, with and without spaces."""

    def __init__(self) -> None:
        self.errors: dict[str, tuple[metrics.Errors, metrics.Errors]] = {}

    def add(self, decoder: str, truth: str, said: str) -> None:
        """Count one utterance."""
        whole, close = self.errors.setdefault(decoder, (metrics.Errors(), metrics.Errors()))
        whole.add(truth, said)
        close.add(truth.replace(" ", ""), said.replace(" ", ""))

    def show(self, name: str) -> list[dict[str, Any]]:
        """Print a line for each decoder of the set `name`, and return their figures."""
        out = []
        for decoder, (whole, close) in self.errors.items():
            print(
                f"{name} | {decoder} | {whole.line()}, exact {whole.exact}, CER without spaces {100 * close.cer:.1f} %",
                flush=True,
            )
            out.append({"set": name, "decoder": decoder, "cer_close": close.cer, **vars(whole)})
        return out


def measured(net: Recogniser, folder: Path, lm: str | None, tuned: tuple[float, float], width: int, most: int) -> Table:
    """Measure every decoder on at most `most` utterances of one folder; `tuned` and `width` are for beam search."""
    rows = batches.rows(str(folder), net.start)
    rows = rows[:: max(1, len(rows) // most)]
    table = Table()
    for row, scores in zip(rows, log_probs(net, rows), strict=True):
        said = {"greedy": units.greedy(scores.argmax(1), "pa")}
        if lm:
            said["beam"] = searched(scores, lm, tuned, width)
        if set(folder.parts) & set(DIGITS):
            said |= {f"{k}, snapped": metrics.snapped(v, numbers.PA[:10]) for k, v in said.items()}
        if folder.name == "spontaneous":
            for decoder, text in said.items():
                print(f"  {row.item['name']} {decoder}: {text}")
        for decoder, text in said.items():
            if row.item["text"]:
                table.add(decoder, row.item["text"], text)
    return table


def main() -> None:
    """Measure the sets that the command line names, and write the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--layer", type=int, default=0, help="what the inputs are: 0 features, else that layer's")
    parser.add_argument("--eval", required=True)
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--lm")
    parser.add_argument("--tuned", nargs=2, type=float, default=TUNED)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--most", type=int, default=1000, help="utterances of a set")
    parser.add_argument("--json", help="write the figures here")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    net = loaded(arguments.checkpoint, arguments.layer).eval()
    kept = []
    for name in arguments.sets:
        table = measured(
            net, Path(arguments.eval) / name, arguments.lm, tuple(arguments.tuned), arguments.width, arguments.most
        )
        kept += table.show(name)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
