"""Which words translate which, by IBM model 1 (Brown and others, 1993), and how well a pair's words fit each other.

Words are shortened to stems, because Panjabi and English inflect and the data is small.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

STEM = {"en": 6, "pa": 5}
FLOOR = 1e-4  # the least probability of a word
_WORD = re.compile(r"[^\W_]+(?:[\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75][^\W_]*)*")


def stems(text: str, language: str) -> list[str]:
    """The stems of a text's words."""
    return [word[: STEM[language]] for word in _WORD.findall(text.lower())]


class Table(NamedTuple):
    """The probability of target words given source words: sorted keys `source * size + target`, and values."""

    keys: np.ndarray
    values: np.ndarray
    size: int

    def of(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """f64 [sources, targets]; 0 where the words never met."""
        wanted = source[:, None] * self.size + target[None, :]
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, self.values[at], 0.0)


def numbered(texts: Sequence[Sequence[str]]) -> tuple[list[np.ndarray], dict[str, int]]:
    """The texts as word numbers from 1; 0 is the empty word."""
    words: dict[str, int] = {}
    rows = [np.array([words.setdefault(word, len(words) + 1) for word in text], dtype=np.int64) for text in texts]
    return rows, words


def model(sources: Sequence[np.ndarray], targets: Sequence[np.ndarray], rounds: int = 5) -> Table:
    """The table of model 1, by so many rounds of expectation maximisation; every source has the empty word."""
    size = 1 + max((int(t.max()) for t in targets if len(t)), default=0)
    pairs, groups, n = [], [], 0
    for s, t in zip(sources, targets, strict=True):
        if len(t):
            s = np.append(s, 0)
            pairs.append((s[None, :] * size + t[:, None]).ravel())
            groups.append(np.repeat(np.arange(n, n + len(t)), len(s)))
            n += len(t)
    keys, inverse = np.unique(np.concatenate(pairs), return_inverse=True)
    group = np.concatenate(groups)
    values = np.full(len(keys), 1.0)
    for _ in range(rounds):
        weight = values[inverse]
        weight /= np.bincount(group, weight, n)[group]
        counts = np.bincount(inverse, weight, len(keys))
        values = counts / np.bincount(keys // size, counts)[keys // size]
    return Table(keys, values, size)


def scores(rows: Sequence[tuple[str, str]]) -> np.ndarray:
    """How well each pair's words explain each other: the mean log-probability of a word, given the best word of the
    other side, averaged over both directions. `rows` are (English, Panjabi); f64 [rows].
    """
    en, _ = numbered([stems(row[0], "en") for row in rows])
    pa, _ = numbered([stems(row[1], "pa") for row in rows])
    forth, back = model(en, pa), model(pa, en)
    return np.array([(fit(forth, s, t) + fit(back, t, s)) / 2 for s, t in zip(en, pa, strict=True)])


def fit(table: Table, source: np.ndarray, target: np.ndarray) -> float:
    """The mean log-probability of the target's words, each given the source word that explains it best."""
    if not len(source) or not len(target):
        return 0.0
    return float(np.log(np.maximum(table.of(source, target).max(axis=0), FLOOR)).mean())
