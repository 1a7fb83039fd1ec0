"""The network: rows of words and pauses in; a score for each label behind each word out."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .grams import ROWS
from .marks import LABELS
from .pauses import LONGEST

COLUMNS = 96  # of the table
WIDTH = 128
DISTANCES = (1, 2, 4, 8, 16, 1)
"""How far away the words lie that a block joins with each word."""
REACH = sum(DISTANCES)
"""How many words on either side a score depends on."""


class Block(nn.Module):
    """Adds to each word what it makes of the word and of those at a distance before and behind it."""

    def __init__(self, distance: int, dropout: float) -> None:
        super().__init__()
        self.distance = distance
        self.norm = nn.LayerNorm(WIDTH)
        self.inner, self.outer = nn.Linear(3 * WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, present: Tensor | None) -> Tensor:
        """[B, L, WIDTH] to the same; `present` [B, L, 1] is 0 where there is no word, None where all are words."""
        y = self.norm(x)
        if present is not None:
            y = y * present
        before = F.pad(y, (0, 0, self.distance, 0))[:, : -self.distance]
        behind = F.pad(y, (0, 0, 0, self.distance))[:, self.distance :]
        return x + self.outer(self.dropout(torch.relu(self.inner(torch.cat((before, y, behind), 2)))))


class Tagger(nn.Module):
    """Sums the rows of each word, adds the pause behind it, and goes through the blocks."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(ROWS, COLUMNS) * 0.1)
        self.enter, self.pause = nn.Linear(COLUMNS, WIDTH), nn.Linear(2, WIDTH)
        self.blocks = nn.ModuleList(Block(distance, dropout) for distance in DISTANCES)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(LABELS))
        self.dropout = nn.Dropout(dropout)

    def scores(self, words: Tensor, pauses: Tensor, present: Tensor | None = None) -> Tensor:
        """Sums of rows [B, L, COLUMNS] and pauses [B, L] in seconds, below 0 where unknown: [B, L, labels]."""
        known = (pauses >= 0).float()
        timing = torch.stack((known, known * torch.log1p(10 * pauses.clamp(0, LONGEST))), 2)
        x = self.enter(self.dropout(words)) + self.pause(timing)
        for block in self.blocks:
            x = block(x, present)
        return self.head(self.norm(x))

    def forward(self, grams: Tensor, pauses: Tensor, present: Tensor) -> Tensor:
        """Rows [B, L, MOST], pauses [B, L] and whether there is a word [B, L]: scores [B, L, labels]."""
        count, length, most = grams.shape
        words = F.embedding_bag(grams.reshape(-1, most), self.table, mode="sum", padding_idx=0)
        return self.scores(words.reshape(count, length, COLUMNS), pauses, present[:, :, None].float())


def loss(scores: Tensor, sets: Tensor) -> Tensor:
    """The mean of -log of the probability that a word has one of the labels of its set; scores [B, L, labels]."""
    places = 1 << torch.arange(len(LABELS))
    allowed = (sets[:, :, None] & places) > 0
    logs = torch.log_softmax(scores, 2)
    words = sets > 0
    told = torch.logsumexp(logs.masked_fill(~allowed, -1e9), 2)
    return -(told * words).sum() / words.sum()
