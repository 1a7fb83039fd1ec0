"""Back-translation: machine-made sources for single sentences, to train on (Sennrich and others, 2016).

    python -m translation.backtranslate --data DATA --pairs WORK/pairs --out WORK/back.tsv

A line is the source, its language, the target and its language; the target is the true sentence. Sentences have 3 to 20
words. Translations that are right with a probability below `--least` are left out.
"""

import random
from pathlib import Path

import tyro
from program import translated

from . import corpus, prepared


def main(data: Path, pairs: Path, out: Path, count: int = 20000, least: float = 0.2) -> None:
    """Translates drawn sentences into the other language and writes both."""
    mono = corpus.single(data, prepared.read(pairs))
    rng = random.Random(4)
    with out.open("w") as file:
        for language, other in (("pa", "en"), ("en", "pa")):
            targets = [text for text in mono[language] if 3 <= len(text.split()) <= 20]
            targets = rng.sample(targets, min(count, len(targets)))
            sources = translated(targets, language, other)
            kept = 0
            for target, (probability, source) in zip(targets, sources, strict=True):
                if source and probability is not None and probability >= least:
                    print(source, other, target, language, sep="\t", file=file)
                    kept += 1
            print(f"{kept} of {len(targets)} sentences of {language}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
