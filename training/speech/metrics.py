"""Error rates with their counts and intervals."""

import math

import numpy as np


def distance(a, b):
    """Edits from sequence a to sequence b."""
    row = np.arange(len(b) + 1)
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return int(row[-1])


def wilson(wrong, total, z=1.96):
    """95 % interval of a share."""
    if not total:
        return 0.0, 1.0
    p = min(1.0, wrong / total)
    middle = (p + z * z / 2 / total) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(p * (1 - p) / total + z * z / 4 / total**2)
    return middle - half, middle + half


class Errors:
    """Characters and words, counted over utterances."""

    def __init__(self):
        self.characters = self.characters_wrong = self.words = self.words_wrong = self.utterances = self.exact = 0

    def add(self, truth, said):
        self.characters += len(truth)
        self.characters_wrong += distance(truth, said)
        self.words += len(truth.split())
        self.words_wrong += distance(truth.split(), said.split())
        self.utterances += 1
        self.exact += truth == said

    def take(self, other):
        """Adds another's counts."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def cer(self):
        return self.characters_wrong / max(1, self.characters)

    @property
    def wer(self):
        return self.words_wrong / max(1, self.words)

    def line(self):
        c, w = wilson(self.characters_wrong, self.characters), wilson(self.words_wrong, self.words)
        return (
            f"CER {100 * self.cer:.1f} % [{100 * c[0]:.1f}, {100 * c[1]:.1f}] of {self.characters}, "
            f"WER {100 * self.wer:.1f} % [{100 * w[0]:.1f}, {100 * w[1]:.1f}] of {self.words}, "
            f"{self.utterances} utterances"
        )
