"""Scores of translations against references."""

from collections.abc import Sequence

import sacrebleu
from figures import Figures


def scores(outputs: Sequence[str], references: Sequence[str]) -> Figures:
    """chrF++ (Popović, 2017) and BLEU (Papineni and others, 2002) of a set of `n` pairs, 0 to 100, with one decimal.

    sacrebleu computes them with its defaults: characters to 6 and words to 2 for chrF++; tokens by 13a, one reference.
    `chrf++ ±` is half of the 95 % interval of chrF++, by bootstrap.
    """
    chrf = sacrebleu.CHRF(word_order=2).corpus_score(outputs, [references], n_bootstrap=1000)
    return {
        "n": len(outputs),
        "chrf++": round(chrf.score, 1),
        "chrf++ ±": round(float(chrf._ci), 1),
        "bleu": round(sacrebleu.BLEU().corpus_score(outputs, [references]).score, 1),
    }
