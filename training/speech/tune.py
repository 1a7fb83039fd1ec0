"""Measures weights of the language model and bonuses for each unit on held-out sentences of the part `dev`.

    python -m speech.tune --language pa --model DIR --lm speech-pa.lm --dev DIR/clean DIR/worn

The best pair goes into `decoding.TUNED` by hand.
"""

import argparse

from . import metrics
from .recogniser import Recogniser, shard_items


def main() -> None:
    """Print the error rates of every pair that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--dev", nargs="+", required=True)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--weights", type=float, nargs="+", default=[0.3, 0.5, 0.7, 0.9])
    parser.add_argument("--bonuses", type=float, nargs="+", default=[0.4, 0.8, 1.2])
    arguments = parser.parse_args()
    recogniser = Recogniser(arguments.model, arguments.language, arguments.lm)
    rows = [
        (item["text"], recogniser.log_probs(mel))
        for folder in arguments.dev
        for item, mel in list(shard_items(folder))[:: arguments.every]
    ]
    plain = metrics.Errors()
    for text, log_probs in rows:
        plain.add(text, recogniser.greedy(log_probs))
    print("greedy", plain.line(), flush=True)
    for weight in arguments.weights:
        for bonus in arguments.bonuses:
            recogniser.tuned = (weight, bonus)
            errors = metrics.Errors()
            for text, log_probs in rows:
                errors.add(text, recogniser.beam(log_probs))
            print(f"weight {weight} bonus {bonus}", errors.line(), flush=True)


if __name__ == "__main__":
    main()
