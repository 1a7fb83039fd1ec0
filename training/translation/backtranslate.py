"""Back-translation: machine-made sources for single sentences, to train on (Sennrich and others, 2016).

    python -m translation.backtranslate --data DATA --pairs WORK/pairs --out WORK/back.tsv

A line is the source, its language, the target and its language; the target is the true sentence. Sentences have 3 to 20
words. Translations that are right with a probability below `--least` are left out.
"""

import argparse
import random
from pathlib import Path

from program import translated

from . import corpus, prepared


def main() -> None:
    """Translates drawn sentences into the other language and writes both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--pairs", required=True, help="what translation.prepared wrote")
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=20000, help="sentences of either language")
    parser.add_argument("--least", type=float, default=0.2)
    arguments = parser.parse_args()
    mono = corpus.single(arguments.data, prepared.read(arguments.pairs))
    rng = random.Random(4)
    with Path(arguments.out).open("w") as file:
        for language, other in (("pa", "en"), ("en", "pa")):
            targets = [text for text in mono[language] if 3 <= len(text.split()) <= 20]
            targets = rng.sample(targets, min(arguments.count, len(targets)))
            sources = translated(targets, language, other)
            kept = 0
            for target, (probability, source) in zip(targets, sources, strict=True):
                if source and probability is not None and probability >= arguments.least:
                    print(source, other, target, language, sep="\t", file=file)
                    kept += 1
            print(f"{kept} of {len(targets)} sentences of {language}")


if __name__ == "__main__":
    main()
