"""CTC prefix beam search with the language model over units: the reference for the service's own."""

from math import exp, inf, log1p

import numpy as np


def plus(a, b):
    if a < b:
        a, b = b, a
    return a if b == -inf else a + log1p(exp(b - a))


def search(log_probs, model=None, weight=0.5, bonus=0.5, width=16, least=-7.0, blank=None):
    """(frames, units + 1) to the best ids. `weight` is the language model's, `bonus` is for each unit written;
    units below `least` (natural log) at a frame are not tried.
    """
    blank = log_probs.shape[1] - 1 if blank is None else blank
    start = model.start if model else None
    beams = {(): (0.0, -inf, start, 0.0)}  # prefix: ends in blank, ends in its last unit, state, what the text scores
    for row in log_probs:
        tried = [int(k) for k in np.flatnonzero(row > least) if k != blank]
        ahead = {}

        def reach(prefix, blank_score, unit_score, state, text):
            old = ahead.get(prefix)
            ahead[prefix] = (
                (blank_score, unit_score, state, text)
                if old is None
                else (plus(old[0], blank_score), plus(old[1], unit_score), state, text)
            )

        for prefix, (by_blank, by_unit, state, text) in beams.items():
            both = plus(by_blank, by_unit)
            reach(prefix, both + row[blank], -inf, state, text)
            for unit in tried:
                again = bool(prefix) and prefix[-1] == unit
                if again:
                    reach(prefix, -inf, by_unit + row[unit], state, text)
                from_score = by_blank if again else both
                if from_score == -inf:
                    continue
                if model:
                    score, following = model.step(state, unit)
                    added = weight * score + bonus
                else:
                    following, added = None, 0.0
                reach(prefix + (unit,), -inf, from_score + row[unit], following, text + added)
        ranked = sorted(ahead.items(), key=lambda b: -(plus(b[1][0], b[1][1]) + b[1][3]))
        beams = dict(ranked[:width])
    best = max(
        beams.items(),
        key=lambda b: (
            plus(b[1][0], b[1][1])
            + b[1][3]
            + (weight * model.step(b[1][2], 0)[0] if model and b[0] and b[0][-1] != 0 else 0)
        ),
    )
    return list(best[0])
