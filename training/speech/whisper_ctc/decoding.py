"""Beam search on the recogniser's log-probabilities, as the service decodes them."""

from pathlib import Path

from ..arrays import Floats
from ..search import ctc
from ..texts import units

TUNED = (0.5, 1.0)  # the language model's weight and the bonus for each unit


def searched(scores: Floats, lm: str | Path, tuned: tuple[float, float], width: int) -> str:
    """Return the text by beam search with the language model; `tuned`: its weight and the bonus for each unit."""
    found = ctc.searched(scores, lm, tuned, width)
    return units.decode(found.units, "pa") if found else ""
