"""CTC prefix beam search with a language model over units: the reference for the service's own.

Source: prefix search with a language model (Graves, 2008; Hannun et al., 2014), with log-probabilities.
"""

from collections.abc import Iterable
from math import exp, inf, log1p
from typing import NamedTuple, Protocol

import numpy as np

from .arrays import AnyFloats

Prefix = tuple[int, ...]
State = tuple[tuple[int, int], ...]  # of the language model


class LanguageModel(Protocol):
    """What the search asks of a language model; `ngram.Model` is one."""

    start: State

    def step(self, state: State, unit: int) -> tuple[float, State]:
        """Return the unit's log-probability (natural) after `state`, and the state after it."""


class Scores(NamedTuple):
    """What is known of a prefix: natural logarithms."""

    blank: float  # of all paths that end in the blank
    unit: float  # of all paths that end in the prefix's last unit
    state: State  # of the language model
    text: float  # the language model's weighted score and the bonuses

    def total(self) -> float:
        """Return the score by which prefixes are ranked."""
        return plus(self.blank, self.unit) + self.text


def plus(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == -inf else a + log1p(exp(b - a))


def _reach(found: dict[Prefix, Scores], prefix: Prefix, new: Scores) -> None:
    """Add the paths of `new` to those that are known of a prefix."""
    old = found.get(prefix)
    found[prefix] = (
        new if old is None else new._replace(blank=plus(old.blank, new.blank), unit=plus(old.unit, new.unit))
    )


def _advanced(
    beams: dict[Prefix, Scores],
    row: AnyFloats,
    tried: Iterable[int],
    blank: int,
    model: LanguageModel | None,
    tuned: tuple[float, float],
) -> dict[Prefix, Scores]:
    """Return every prefix that one more frame leads to; `row`: (units + 1,) log-probabilities."""
    weight, bonus = tuned
    found: dict[Prefix, Scores] = {}
    for prefix, (by_blank, by_unit, state, text) in beams.items():
        both = plus(by_blank, by_unit)
        _reach(found, prefix, Scores(both + row[blank], -inf, state, text))
        for unit in tried:
            again = bool(prefix) and prefix[-1] == unit
            if again:
                _reach(found, prefix, Scores(-inf, by_unit + row[unit], state, text))
            from_score = by_blank if again else both
            if from_score == -inf:
                continue
            following, added = state, 0.0
            if model:
                score, following = model.step(state, unit)
                added = weight * score + bonus
            _reach(found, (*prefix, unit), Scores(-inf, from_score + row[unit], following, text + added))
    return found


def search(
    log_probs: AnyFloats,
    model: LanguageModel | None = None,
    weight: float = 0.5,
    bonus: float = 0.5,
    width: int = 16,
    least: float = -7.0,
    blank: int | None = None,
) -> list[int]:
    """Return the ids of the best text for (frames, units + 1) log-probabilities (natural).

    `weight`: the language model's; `bonus`: added for each unit; `width`: prefixes kept after a frame; units below
    `least` at a frame are not tried; `blank`: the blank's id, the last one by default. The language model also scores
    the end of the text, as a space.
    """
    blank = log_probs.shape[1] - 1 if blank is None else blank
    beams: dict[Prefix, Scores] = {(): Scores(0.0, -inf, model.start if model else (), 0.0)}
    for row in log_probs:
        tried = [int(k) for k in np.flatnonzero(row > least) if k != blank]
        ahead = _advanced(beams, row, tried, blank, model, (weight, bonus))
        beams = dict(sorted(ahead.items(), key=lambda b: -b[1].total())[:width])

    def ended(prefix: Prefix, scores: Scores) -> float:
        """Return the score of a whole text."""
        open_end = model is not None and prefix and prefix[-1] != 0
        return scores.total() + (weight * model.step(scores.state, 0)[0] if model and open_end else 0)

    return list(max(beams.items(), key=lambda b: ended(*b))[0])
