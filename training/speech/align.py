"""When each unit is heard: the likeliest CTC path that spells given units."""

import numpy as np


def frames_of(log_probs, ids, blank):
    """(frames, units + 1) and units to the first frame of each unit, or None where there are too few frames."""
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


def word_starts(log_probs, ids, blank, space=0, frame=0.04):
    """Seconds at which the words of these units start."""
    first = frames_of(log_probs, ids, blank)
    if first is None:
        return []
    begins = [k for k, u in enumerate(ids) if u != space and (k == 0 or ids[k - 1] == space)]
    return [float(first[k]) * frame for k in begins]
