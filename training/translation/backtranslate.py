"""Machine-made sources for single sentences, to train on.

    python -m translation.backtranslate --data DATA --models-dir MODELS --count 4000 --out WORK/back.tsv

Writes lines of source, its language, target, its language: the target is the true sentence. Greedy, in batches of
like length; sentences of 3 to 14 words.
"""

import argparse
import random
from pathlib import Path

from . import corpus
from .reference import Reference


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--models-dir", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=4000, help="sentences of either language")
    parser.add_argument("--languages", nargs="+", default=["pa", "en"])
    arguments = parser.parse_args()
    reference, mono = Reference(Path(arguments.models_dir) / "weights"), corpus.single(arguments.data)
    rng = random.Random(4)
    with open(arguments.out, "w") as file:
        for language in arguments.languages:
            other = "en" if language == "pa" else "pa"
            texts = [text for text in mono[language] if 3 <= len(text.split()) <= 14]
            texts = rng.sample(texts, min(arguments.count, len(texts)))
            for target, source in zip(texts, reference.translate(texts, language, other, beam=1, batch=64)):
                if source:
                    print(source, other, target, language, sep="\t", file=file)


if __name__ == "__main__":
    main()
