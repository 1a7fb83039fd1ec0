"""Writes the weighted mean of checkpoints that were trained on from one: often better than each of them.

    python -m speech.network.average --out DIR/mean.pt DIR/first.pt=1 DIR/second.pt=2

Steps and hours are those of the first. Source: model soups (Wortsman et al., 2022).
"""

import argparse

import learning

from . import checkpoint


def main() -> None:
    """Average the checkpoints that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("checkpoints", nargs="+", metavar="FILE=WEIGHT")
    arguments = parser.parse_args()
    states, weights = [], []
    for spec in arguments.checkpoints:
        path, weight = spec.rsplit("=", 1)
        states.append(checkpoint.load(path))
        weights.append(float(weight))
    mean = {
        name: sum(weight * state["average"][name] for weight, state in zip(weights, states, strict=True)) / sum(weights)
        for name in states[0]["average"]
    }
    kept = {name: states[0][name] for name in ("size", "step", "seconds")}
    learning.write(arguments.out, {**kept, "net": mean, "average": mean})


if __name__ == "__main__":
    main()
