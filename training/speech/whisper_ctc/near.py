"""Holds a network near the one it starts from: its weights, or what its encoder makes of real recordings.

Sources: L2-SP (Li et al., 2018) and learning without forgetting (Li and Hoiem, 2016), here on the encoder's outputs.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..data.batches import Row, stacked
from ..sounds import features
from .encoder import out_length
from .model import Recogniser

AT_ONCE = 4  # recordings of a step
LONGEST = 800  # frames of 10 ms of each


class Weights:
    """Moves what is trained back towards its first values, by a share after each step."""

    def __init__(self, net: Recogniser, first: Recogniser, share: float) -> None:
        self.trained = [p for _, parameters in net.trained() for p in parameters]
        self.first = [p.detach().clone() for _, parameters in first.trained() for p in parameters]
        self.share = share

    @torch.no_grad()
    def pull(self, rate: float) -> None:
        """Move by `share` times the share of the highest learning rate."""
        if self.share:
            torch._foreach_lerp_(self.trained, self.first, self.share * rate)


class Outputs:
    """The encoder's outputs for real recordings, before the training."""

    def __init__(self, net: Recogniser, rows: Sequence[Row], seed: int) -> None:
        self.rng, self.mean, self.deviation = np.random.default_rng(seed), net.head.mean, net.head.deviation
        self.rows = [features.normalised(row.values()[:LONGEST], features.WHISPER) for row in rows]
        with torch.no_grad():
            self.outputs = [self._normalised(net.encoded(*stacked([values]))[0])[0] for values in self.rows]

    def _normalised(self, outputs: Tensor) -> Tensor:
        return (outputs - self.mean) / self.deviation

    def loss(self, net: Recogniser) -> Tensor:
        """Return the mean square by which outputs have moved, of recordings drawn at random."""
        picked = self.rng.choice(len(self.rows), AT_ONCE)
        signal, lengths = stacked([self.rows[k] for k in picked])
        found = self._normalised(net.encoded(signal, lengths)[0])
        apart = [
            (found[row, :n] - self.outputs[k]).square().mean()
            for row, (k, n) in enumerate(zip(picked, out_length(lengths).tolist(), strict=True))
        ]
        return torch.stack(apart).mean()
