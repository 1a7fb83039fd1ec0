"""Back-translation: machine-made sources for single sentences, to train on (Sennrich and others, 2016).

    python -m translation.backtranslate --data DATA --pairs WORK/pairs --models-dir MODELS --out WORK/back.tsv

A line is the source, its language, the target and its language; the target is the true sentence. The search is greedy;
sentences have 3 to 14 words.
"""

import argparse
import random
from pathlib import Path

from . import corpus, prepared
from .reference import Reference


def main() -> None:
    """Translates drawn sentences into the other language and writes both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--pairs", required=True, help="what translation.prepared wrote")
    parser.add_argument("--models-dir", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=4000, help="sentences of either language")
    parser.add_argument("--languages", nargs="+", default=["pa", "en"])
    arguments = parser.parse_args()
    reference, mono = (
        Reference(Path(arguments.models_dir) / "weights"),
        corpus.single(arguments.data, prepared.read(arguments.pairs)),
    )
    rng = random.Random(4)
    with Path(arguments.out).open("w") as file:
        for language in arguments.languages:
            other = "en" if language == "pa" else "pa"
            texts = [text for text in mono[language] if 3 <= len(text.split()) <= 14]
            texts = rng.sample(texts, min(arguments.count, len(texts)))
            sources = reference.translate(texts, language, other, beam=1, batch=64)
            for target, source in zip(texts, sources, strict=True):
                if source:
                    print(source, other, target, language, sep="\t", file=file)


if __name__ == "__main__":
    main()
