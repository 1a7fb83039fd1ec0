"""The shipped file and a transcript in; the scores and the labels of its words out, as the service computes them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import grams

MODEL = "punctuation-pa-en"
PIECE = 512
"""Words that are looked at together. More would need more memory."""
CONTEXT = 32
"""Words on either side of a piece that go with it; `model.REACH`, so that pieces change nothing."""


class Tagger:
    """The shipped network."""

    def __init__(self, content: bytes) -> None:
        import onnxruntime  # the tests have none

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def scores(self, words: Sequence[str], pauses: NDArray[np.float32]) -> NDArray[np.float32]:
        """[words, labels]; `pauses` in seconds behind each word, `pauses.UNKNOWN` where unknown."""
        found = []
        for start in range(0, len(words), PIECE):
            first, last = max(0, start - CONTEXT), min(len(words), start + PIECE + CONTEXT)
            inputs = {"grams": grams.table(words[first:last]), "pauses": pauses[first:last]}
            found.append(self.session.run(None, inputs)[0][start - first : start - first + PIECE])
        return np.concatenate(found)

    def labels(self, words: Sequence[str], pauses: NDArray[np.float32]) -> NDArray[np.int64]:
        """The label of each word."""
        return self.scores(words, pauses).argmax(1)
