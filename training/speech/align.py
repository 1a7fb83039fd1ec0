"""Forced alignment: the time of each unit on the likeliest CTC path that spells given units.

Source: Viterbi decoding of the CTC graph with blanks between the units (Graves et al., 2006).
"""

from collections.abc import Sequence

import numpy as np

from .arrays import AnyFloats, Ints


def frames_of(log_probs: AnyFloats, ids: Sequence[int], blank: int) -> Ints | None:
    """Return the first frame of each unit, (len(ids),), or None where there are too few frames for the units.

    `log_probs`: (frames, units + 1), natural logarithms; `ids`: the units, not empty; `blank`: the blank's id.
    """
    states = np.full(2 * len(ids) + 1, blank)
    states[1::2] = ids
    skip = np.zeros(len(states), bool)
    skip[3::2] = states[3::2] != states[1:-2:2]
    score = np.full(len(states), -np.inf)
    score[:2] = log_probs[0, states[:2]]
    back = np.zeros((len(log_probs), len(states)), np.int8)
    for t in range(1, len(log_probs)):
        one = np.concatenate([[-np.inf], score[:-1]])
        two = np.where(skip, np.concatenate([[-np.inf, -np.inf], score[:-2]]), -np.inf)
        choices = np.stack([score, one, two])
        back[t] = choices.argmax(0)
        score = choices.max(0) + log_probs[t, states]
    at = len(states) - 1 if score[-1] > score[-2] else len(states) - 2
    if not np.isfinite(score[at]):
        return None
    path = np.zeros(len(log_probs), int)
    for t in range(len(log_probs) - 1, -1, -1):
        path[t] = at
        at -= int(back[t, at])
    first = np.full(len(ids), -1)
    for t in range(len(path) - 1, -1, -1):
        if path[t] % 2:
            first[path[t] // 2] = t
    return first


def word_starts(
    log_probs: AnyFloats, ids: Sequence[int], blank: int, space: int = 0, frame: float = 0.04
) -> list[float]:
    """Return the seconds at which the words of these units start; none where there are too few frames.

    `space`: the id of the unit between words; `frame`: seconds of a frame. The rest is as for `frames_of`.
    """
    first = frames_of(log_probs, ids, blank)
    if first is None:
        return []
    begins = [k for k, u in enumerate(ids) if u != space and (k == 0 or ids[k - 1] == space)]
    return [float(first[k]) * frame for k in begins]
