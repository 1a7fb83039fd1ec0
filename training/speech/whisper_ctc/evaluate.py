"""Measures the error rates of a checkpoint on what `held` wrote, greedily and with the letter language model.

    python -m speech.whisper_ctc.evaluate --checkpoint WORK/head.pt --eval WORK/eval --lm WORK/pa.lm \
        --sets F04 M01 words clean degraded kokoro spontaneous

The last column is the CER without spaces. The texts of the spontaneous clips are printed; a clip without a reference is
not counted.
"""

from pathlib import Path
from typing import Annotated

import torch
import tyro

from ..arrays import Floats
from ..search import ctc
from ..texts import metrics, units
from . import batches
from .evidence import TUNED, WIDTH
from .model import Recogniser, loaded
from .train import log_probs

MOST = 1000  # utterances of a set


def texts(scores: Floats, lm: Path | None) -> dict[str, str]:
    """Return the text of each decoder for (T, units + 1) log-probabilities of an utterance."""
    out = {"greedy": units.greedy(scores.argmax(1), "pa")}
    if lm:
        found = ctc.searched(scores, lm, TUNED, WIDTH)
        out["beam"] = units.decode(found.units, "pa") if found else ""
    return out


def measure(net: Recogniser, folder: Path, lm: Path | None) -> None:
    """Print the error rates of every decoder on at most MOST utterances of a folder, with and without spaces."""
    rows = batches.rows(str(folder), net.start)
    rows = rows[:: max(1, len(rows) // MOST)]
    errors: dict[str, tuple[metrics.Errors, metrics.Errors]] = {}
    for row, scores in zip(rows, log_probs(net, rows), strict=True):
        truth = row.item["text"]
        for decoder, text in texts(scores, lm).items():
            if folder.name == "spontaneous":
                print(f"  {row.item['name']} {decoder}: {text}")
            if truth:
                whole, close = errors.setdefault(decoder, (metrics.Errors(), metrics.Errors()))
                whole.add(truth, text)
                close.add(truth.replace(" ", ""), text.replace(" ", ""))
    for decoder, (whole, close) in errors.items():
        line = f"{whole.line()}, exact {whole.exact}, CER without spaces {100 * close.cer:.1f} %"
        print(f"{folder.name} | {decoder} | {line}", flush=True)


def main(
    checkpoint: Path,
    evaluation: Annotated[Path, tyro.conf.arg(name="eval")],
    sets: list[str],
    layer: int = 0,
    lm: Path | None = None,
) -> None:
    """Measure the sets; `layer` says what their inputs are: 0 features, else that layer's."""
    torch.set_num_threads(1)
    net = loaded(checkpoint, layer).eval()
    for name in sets:
        measure(net, evaluation / name, lm)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
