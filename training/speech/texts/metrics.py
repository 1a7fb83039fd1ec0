"""Character and word error rates with their counts and confidence intervals."""

from collections.abc import Callable, Sequence

import numpy as np
from figures import wilson


def distance(a: Sequence[object], b: Sequence[object]) -> int:
    """Return the Levenshtein distance: how many insertions, deletions and substitutions make `a` into `b`."""
    row = np.arange(len(b) + 1)
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return int(row[-1])


def aligned(
    a: Sequence[str], b: Sequence[str], unlike: Callable[[str, str], float], left_out: float
) -> list[tuple[int | None, int | None]]:
    """Return pairs of places in `a` and `b`, in order; None where a word has no partner.

    They are those of the least cost: `unlike` of the words of a pair, and `left_out` of each word without a partner.
    """
    costs = np.zeros((len(a) + 1, len(b) + 1))
    costs[:, 0], costs[0] = left_out * np.arange(len(a) + 1), left_out * np.arange(len(b) + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            without = left_out + min(costs[i, j + 1], costs[i + 1, j])
            costs[i + 1, j + 1] = min(costs[i, j] + unlike(x, y), without)
    pairs: list[tuple[int | None, int | None]] = []
    i, j = len(a), len(b)
    while i or j:
        if i and j and np.isclose(costs[i, j], costs[i - 1, j - 1] + unlike(a[i - 1], b[j - 1])):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif i and np.isclose(costs[i, j], costs[i - 1, j] + left_out):
            i -= 1
            pairs.append((i, None))
        else:
            j -= 1
            pairs.append((None, j))
    return pairs[::-1]


class Errors:
    """Counts of characters, words and utterances, and how many of them are wrong."""

    def __init__(self) -> None:
        self.characters = self.characters_wrong = self.words = self.words_wrong = self.utterances = self.exact = 0

    def add(self, truth: str, said: str) -> None:
        """Count one utterance: the reference `truth` and the recognised text `said`."""
        self.characters += len(truth)
        self.characters_wrong += distance(truth, said)
        self.words += len(truth.split())
        self.words_wrong += distance(truth.split(), said.split())
        self.utterances += 1
        self.exact += truth == said

    @property
    def cer(self) -> float:
        """The character error rate, a share; it is above 1 where insertions outnumber the reference."""
        return self.characters_wrong / max(1, self.characters)

    @property
    def wer(self) -> float:
        """The word error rate, a share."""
        return self.words_wrong / max(1, self.words)

    def line(self) -> str:
        """Return both rates in percent with their 95 % intervals, for people to read."""
        c, w = wilson(self.characters_wrong, self.characters), wilson(self.words_wrong, self.words)
        return (
            f"CER {100 * self.cer:.1f} % [{100 * c[0]:.1f}, {100 * c[1]:.1f}] of {self.characters}, "
            f"WER {100 * self.wer:.1f} % [{100 * w[0]:.1f}, {100 * w[1]:.1f}] of {self.words}, "
            f"{self.utterances} utterances"
        )
