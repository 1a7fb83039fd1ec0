"""A word in; the rows of the network's table that are summed for it.

The service computes the same (the format is in the card). A row belongs to many character n-grams, which a hash sends
there.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

ROWS = 20480
"""Rows of the table; row 0 is zero and stands for nothing."""
MOST = 24
"""Rows of a word; shorter words are filled up with 0."""
SIZES = (3, 4)


def fnv1a(data: bytes) -> int:
    """The 32-bit FNV-1a hash (Fowler, Noll and Vo)."""
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def pieces(word: str) -> list[str]:
    """The whole word between `^` and `$`, then its shorter n-grams from the end to the start; at most MOST."""
    whole = f"^{word}$"
    found = [whole]
    for end in range(len(whole), 0, -1):
        found += [whole[end - size : end] for size in SIZES if size <= end and size < len(whole)]
    return found[:MOST]


@lru_cache(maxsize=300_000)
def rows(word: str) -> tuple[int, ...]:
    """The rows of a word, which is in NFC and lower case: MOST numbers."""
    found = [1 + fnv1a(piece.encode()) % (ROWS - 1) for piece in pieces(word)]
    return (*found, *[0] * (MOST - len(found)))


def table(words: Sequence[str]) -> NDArray[np.int32]:
    """The rows of words: [words, MOST]."""
    return np.array([rows(word) for word in words], np.int32).reshape(-1, MOST)
