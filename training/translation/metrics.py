"""Scores of translations against references."""

from collections.abc import Sequence

import sacrebleu
from figures import Figures


def scores(outputs: Sequence[str], references: Sequence[str]) -> Figures:
    """chrF++ (Popović, 2017) and BLEU (Papineni and others, 2002) of a set of `n` pairs, 0 to 100, with one decimal.

    sacrebleu computes them with its defaults: characters to 6 and words to 2 for chrF++; tokens by 13a, one reference.
    """
    return {
        "n": len(outputs),
        "chrf++": round(sacrebleu.CHRF(word_order=2).corpus_score(outputs, [references]).score, 1),
        "bleu": round(sacrebleu.BLEU().corpus_score(outputs, [references]).score, 1),
    }
