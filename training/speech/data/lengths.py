"""How long utterances are: the model's frames, the frames that CTC needs for a text, and the schedule of training."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # this module works without torch
    from torch import Tensor

Frames = TypeVar("Frames", int, "Tensor")

SUBSAMPLING = 4  # frames of features (10 ms) in one frame of the model (40 ms)
SCHEDULE = [(0, 220), (250, 300), (600, 500), (1200, 800), (2400, 1200), (3500, 1600)]  # from step, frames at most


def out_length(frames: Frames) -> Frames:
    """Return how many frames of the model so many frames of features become; a number or a tensor of them."""
    return (frames - 1) // SUBSAMPLING + 1


def tight(ids: Sequence[int]) -> int:
    """Return the frames that CTC needs for these units: one each, and one between equal neighbours."""
    return len(ids) + sum(a == b for a, b in itertools.pairwise(ids))


def longest(step: int) -> int:
    """Return the frames of features (10 ms) that an utterance may have at a step of the training."""
    return [frames for start, frames in SCHEDULE if step >= start][-1]
