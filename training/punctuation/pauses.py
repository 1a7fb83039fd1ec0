"""The marks of a transcript in; simulated pauses between its words out, in seconds.

No recording with sentence ends is used. The distributions are assumptions: a speaker mostly pauses at the end of a
sentence, often at a comma, and sometimes in the middle of a clause; long and short pauses occur at all of them.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .marks import COMMA, END

UNKNOWN = -1.0
FLUENT, UNEVEN = 0.07, 0.05  # mean and standard deviation, where a speaker does not pause; speech-pa finds such gaps
HESITATION, AT_COMMA, AT_END = 0.30, 0.30, 0.60  # medians of the pauses, log-normal
SPREAD = 0.6  # standard deviation of their logarithms
TEMPO = 0.25  # the same of the factor that a speaker has for all pauses
HESITATING, AT_COMMAS, AT_ENDS = (0.02, 0.18), (0.4, 0.7), (0.6, 0.97)  # how often a speaker pauses, by place
UNTIMED = 0.02  # words without times in a transcript that has them
STEP = 0.02  # a frame of the recogniser
LONGEST = 5.0


def drawn(sets: Sequence[int], rng: np.random.Generator) -> NDArray[np.float32]:
    """One speaker's pause behind each word, of which `sets` says what may follow it.

    It is UNKNOWN behind the last word and a few others.
    """
    marks = np.array(sets)
    end = (marks & END > 0) & (marks & ~END == 0)
    places = [(end, AT_ENDS, AT_END), (marks == COMMA, AT_COMMAS, AT_COMMA)]
    places.append((~end & (marks != COMMA), HESITATING, HESITATION))
    pauses = np.maximum(rng.normal(FLUENT, UNEVEN, len(marks)), 0)
    tempo = math.exp(rng.normal(0, TEMPO))
    for place, often, median in places:
        pausing = place & (rng.random(len(marks)) < rng.uniform(*often))
        pauses[pausing] = median * tempo * np.exp(rng.normal(0, SPREAD, pausing.sum()))
    pauses = np.minimum(np.round(pauses / STEP) * STEP, LONGEST)
    pauses[rng.random(len(marks)) < UNTIMED] = UNKNOWN
    pauses[-1:] = UNKNOWN
    return pauses.astype(np.float32)


def none(n_words: int) -> NDArray[np.float32]:
    """The pauses of a transcript without times."""
    return np.full(n_words, UNKNOWN, np.float32)
