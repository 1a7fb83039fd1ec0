"""CTC decoding by the program: log-probabilities in; units, their frames and the evidence for them out.

Log-probabilities are (frames, units + 1) natural logarithms, the blank last. A language model is a file in the format
that `ngram` describes.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import program

from ..arrays import AnyFloats


class Decoded(NamedTuple):
    """The units of a text."""

    units: list[int]
    spans: list[tuple[int, int]]
    """The frames of each unit: the first one, and the one behind the last."""
    acoustic: list[float]
    """The highest log-probability of each unit in its frames."""
    language: list[float]
    """The language model's log-probability of each unit; empty without one."""


@cache
def _stream() -> program.Stream:
    return program.Stream("ctc")


def searched(log_probs: AnyFloats, lm: str | Path, tuned: tuple[float, float], width: int) -> Decoded | None:
    """Return the best text by beam search, or None where it does not fit the frames.

    `tuned`: the language model's weight and the bonus for each unit; `width`: prefixes kept from frame to frame.
    """
    weights = {"lm_weight": tuned[0], "insertion_bonus": tuned[1], "beam_width": width}
    return _decoded({"step": "search", "language_model": str(Path(lm).resolve()), **weights}, log_probs)


def aligned(log_probs: AnyFloats, ids: Sequence[int]) -> Decoded | None:
    """Return the given units with their frames on the likeliest path, or None where they do not fit the frames."""
    return _decoded({"step": "align", "units": [int(unit) for unit in ids]}, log_probs)


def scored(ids: Sequence[int], n_units: int, lm: str | Path) -> list[float]:
    """Return the language model's log-probability of each unit of a text; `n_units`: how many units there are."""
    request = {"step": "score", "n_units": n_units, "units": list(ids), "language_model": str(Path(lm).resolve())}
    scores: list[float] = _stream().ask(request)[0]["language"]
    return scores


def word_starts(log_probs: AnyFloats, ids: Sequence[int], space: int = 0, frame: float = 0.04) -> list[float]:
    """Return the seconds at which the words of these units start; none where there are too few frames.

    `space`: the id of the unit between words; `frame`: seconds of a frame.
    """
    found = aligned(log_probs, ids)
    if found is None:
        return []
    begins = [k for k, u in enumerate(ids) if u != space and (k == 0 or ids[k - 1] == space)]
    return [found.spans[k][0] * frame for k in begins]


def _decoded(request: dict[str, object], log_probs: AnyFloats) -> Decoded | None:
    reply, _ = _stream().ask({**request, "n_units": log_probs.shape[1] - 1}, log_probs)
    found = reply["units"]
    return found and Decoded(found["units"], [(a, b) for a, b in found["spans"]], found["acoustic"], found["language"])
