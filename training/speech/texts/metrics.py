"""Character and word error rates with their counts and confidence intervals."""

from collections.abc import Sequence

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


def snapped(text: str, words: Sequence[str]) -> str:
    """Replace each word of `text` by the nearest word of a closed list, by edit distance."""
    return " ".join(min(words, key=lambda w: distance(w, t)) for t in text.split())


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

    def take(self, other: "Errors") -> None:
        """Add the counts of `other`."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

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
