"""Fits the `[confidence]` table of a manifest: how likely a text is right, by the evidence for it.

    python -m speech.whisper_ctc.calibrate --checkpoint WORK/full.pt --eval WORK/eval --sets clean degraded kokoro \
        words --lm WORK/pa.lm --data DIR

The evidence for a text has two parts: the mean probability that the network gives its letters (each in its frames, the
highest), and the mean log-probability that the language model gives its letters and spaces. The share of right letters
is fitted to both by logistic regression; neither weight may be negative. The sets must hold voices that are never
trained on. English sentences of DIR, of which nothing can be right, count as much as `--english` says.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from ..arrays import Doubles, Floats
from ..data import real
from ..sounds import features
from . import batches
from .evidence import TUNED, Evidence, evidence, fitted, probabilities, table
from .model import Recogniser, loaded
from .train import log_probs

MOST, LONGEST_S = 30, 12  # recordings in English, and the seconds of each that are used


def english(net: Recogniser, data: str) -> Iterator[Floats]:
    """Yield the log-probabilities of sentences in English."""
    for k, (_, samples, _) in enumerate(real.reading(Path(data), "en-read-matthes")):
        if k == MOST:
            return
        mel = features.log_mel(samples[: LONGEST_S * 16_000], features.WHISPER)
        values = torch.from_numpy(features.normalised(mel, features.WHISPER).T.copy())[None]
        with torch.no_grad():
            yield net(values, torch.tensor([values.shape[2]]))[0].numpy()


def report(name: str, weights: Doubles, found: list[Evidence], low: float) -> None:
    """Print how the probability and what is right agree in a set."""
    p = probabilities(weights, found)
    right = np.average([one.right for one in found], weights=[one.n for one in found])
    print(f"{name} | {len(found)} | right {right:.2f} | expected {p.mean():.2f} | low {100 * (p < low).mean():.0f} %")


def main() -> None:
    """Fit, and print the table and how well it agrees with each set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--eval", required=True)
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--tuned", nargs=2, type=float, default=TUNED)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--most", type=int, default=80, help="utterances of a set")
    parser.add_argument("--english", type=float, default=0.25, help="share of the letters that English counts for")
    parser.add_argument("--low", type=float, default=0.5)
    parser.add_argument("--lm-weight", type=float, default=0.2, help="when a window is decoded again")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    net = loaded(arguments.checkpoint, 0).eval()

    def of(pairs: Iterator[tuple[Floats, str]]) -> list[Evidence]:
        tuned, width = tuple(arguments.tuned), arguments.width
        each = (evidence(scores, arguments.lm, tuned, width, text) for scores, text in pairs)
        return [one for one in each if one]

    sets = {}
    for name in arguments.sets:
        rows = batches.rows(str(Path(arguments.eval) / name), 0)
        rows = rows[:: max(1, len(rows) // arguments.most)]
        texts = [row.item["text"] for row in rows]
        sets[name] = of(zip(log_probs(net, rows), texts, strict=True))
    of_english = of((scores, "") for scores in english(net, arguments.data))
    panjabi = [one for found in sets.values() for one in found]
    share = arguments.english * sum(one.n for one in panjabi) / sum(one.n for one in of_english)
    counted = [one._replace(n=max(1, round(one.n * share))) for one in of_english]
    weights = fitted(panjabi + counted)
    for name, found in [*sets.items(), ("english", of_english)]:
        report(name, weights, found, arguments.low)
    print(table(weights, arguments.low, arguments.lm_weight))


if __name__ == "__main__":
    main()
