"""Scores of translations against references."""

from collections.abc import Sequence
from typing import TypedDict

import sacrebleu

Scores = TypedDict("Scores", {"n": int, "chrf++": float, "bleu": float})
"""`n`: the number of pairs; the scores lie between 0 and 100."""


def scores(outputs: Sequence[str], references: Sequence[str]) -> Scores:
    """chrF++ (Popović, 2017) and BLEU (Papineni and others, 2002) of a whole set, rounded to one decimal.

    sacrebleu computes them with its defaults: characters to 6 and words to 2 for chrF++; tokens by 13a, one reference.
    """
    return {
        "n": len(outputs),
        "chrf++": round(sacrebleu.CHRF(word_order=2).corpus_score(outputs, [references]).score, 1),
        "bleu": round(sacrebleu.BLEU().corpus_score(outputs, [references]).score, 1),
    }
