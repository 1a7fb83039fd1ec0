"""Writes the weighted mean of checkpoints of one lineage; `whisper` stands for Whisper base's own encoder.

    python -m speech.whisper_ctc.mean --out WORK/mean.pt WORK/full.pt=0.7 whisper=0.3

A mean of fine-tuned weights with the original ones often recognises unseen voices better (WiSE-FT: Wortsman et al.,
2022). The head is the mean of the checkpoints' heads alone.
"""

import argparse

from torch import Tensor

from .. import checkpoint
from . import pretrained

ORIGINAL = "whisper"


def mean(states: list[tuple[dict[str, Tensor], float]]) -> dict[str, Tensor]:
    """Return the weighted mean of each tensor over the states, given with their weights, that have it."""
    names = {name for state, _ in states for name in state}
    out = {}
    for name in sorted(names):
        having = [(state[name], weight) for state, weight in states if name in state]
        out[name] = sum(value * weight for value, weight in having) / sum(weight for _, weight in having)
    return out


def main() -> None:
    """Average the checkpoints that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("checkpoints", nargs="+", metavar="FILE=WEIGHT")
    arguments = parser.parse_args()
    states = []
    for spec in arguments.checkpoints:
        path, weight = spec.rsplit("=", 1)
        if path == ORIGINAL:
            state = {f"encoder.{name}": value for name, value in pretrained.encoder().state_dict().items()}
        else:
            state = checkpoint.load(path)["average"]
        states.append((state, float(weight)))
    averaged = mean(states)
    checkpoint.write(arguments.out, {"net": averaged, "average": averaged})


if __name__ == "__main__":
    main()
