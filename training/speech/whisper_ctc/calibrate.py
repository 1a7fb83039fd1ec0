"""Fits the `[confidence]` table of a manifest: how likely a text is right, by the evidence for it.

    python -m speech.whisper_ctc.calibrate --checkpoint WORK/full.pt --eval WORK/eval --sets clean degraded kokoro \
        words --lm WORK/pa.lm --data DIR

The evidence for a text has two parts: the mean probability that the network gives its letters (each in its frames, the
highest), and the mean log-probability that the language model gives its letters and spaces. The share of right letters
is fitted to both by logistic regression; neither weight may be negative. The sets must hold voices that are never
trained on. English sentences of DIR, of which nothing can be right, count a quarter as much.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import torch
import tyro

from ..arrays import Floats
from ..data import real
from ..sounds import features
from . import batches
from .evidence import TUNED, WIDTH, Evidence, agreement, evidence, fitted, table
from .model import Recogniser, loaded
from .train import log_probs

LOW = 0.5  # the probability below which a text is doubted
LM_WEIGHT = 0.2  # when a window is decoded again
ENGLISH = 0.25  # share of the letters that English counts for
MOST, LONGEST_S = 30, 12  # recordings in English, and the seconds of each that are used


def english(net: Recogniser, data: Path) -> Iterator[Floats]:
    """Yield the log-probabilities of sentences in English."""
    for k, (_, samples, _) in enumerate(real.reading(data, "en-read-matthes")):
        if k == MOST:
            return
        mel = features.log_mel(samples[: LONGEST_S * 16_000], features.WHISPER)
        values = torch.from_numpy(features.normalised(mel, features.WHISPER).T.copy())[None]
        with torch.no_grad():
            yield net(values, torch.tensor([values.shape[2]]))[0].numpy()


def main(
    checkpoint: Path,
    evaluation: Annotated[Path, tyro.conf.arg(name="eval")],
    sets: list[str],
    lm: Path,
    data: Path,
    most: int = 80,
) -> None:
    """Fit, and print the table and how well it agrees with each set, of which `most` utterances are taken."""
    torch.set_num_threads(1)
    net = loaded(checkpoint, 0).eval()

    def of(pairs: Iterator[tuple[Floats, str]]) -> list[Evidence]:
        each = (evidence(scores, lm, TUNED, WIDTH, text) for scores, text in pairs)
        return [one for one in each if one]

    found = {}
    for name in sets:
        rows = batches.rows(str(evaluation / name), 0)
        rows = rows[:: max(1, len(rows) // most)]
        texts = [row.item["text"] for row in rows]
        found[name] = of(zip(log_probs(net, rows), texts, strict=True))
    of_english = of((scores, "") for scores in english(net, data))
    panjabi = [one for some in found.values() for one in some]
    share = ENGLISH * sum(one.n for one in panjabi) / sum(one.n for one in of_english)
    counted = [one._replace(n=max(1, round(one.n * share))) for one in of_english]
    weights = fitted(panjabi + counted)
    for name, some in [*found.items(), ("english", of_english)]:
        print(f"{name} | {agreement(weights, some, LOW)}")
    print(table(weights, low=LOW, lm_weight=LM_WEIGHT))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
