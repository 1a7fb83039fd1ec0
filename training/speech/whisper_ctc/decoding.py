"""Beam search on the recogniser's log-probabilities: frames of 20 ms, most of them a sure blank."""

import numpy as np

from .. import beam, ngram, units
from ..arrays import Floats

TUNED = (0.5, 1.0)  # the language model's weight and the bonus for each unit
SURE = np.log(0.995)  # consecutive frames with a blank at least this likely (natural log) are decoded as one


def thinned(scores: Floats) -> Floats:
    """Remove repeated frames of a sure blank from (T, units + 1) log-probabilities.

    The result of the beam search hardly changes, and the search takes a fraction of the time.
    """
    sure = scores[:, units.blank("pa")] > SURE
    return scores[~(sure & np.concatenate([[False], sure[:-1]]))]


def searched(scores: Floats, model: ngram.Model, tuned: tuple[float, float], width: int) -> str:
    """Return the text by beam search with the language model; `tuned`: its weight and the bonus for each unit."""
    weight, bonus = tuned
    return units.decode(beam.search(thinned(scores), model, weight, bonus, width=width, least=-6.0), "pa")
