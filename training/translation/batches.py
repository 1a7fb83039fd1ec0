"""Examples drawn from weighted streams, segmented at random, as batches of like length."""

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import sentencepiece
import torch
from learning import grouped

from .streams import Example, Source
from .tokeniser import EOS, LANGUAGES, PAD, UNK

BUCKETS = 7  # classes of source lengths, where lengths grow by e; the encoder has most of the work
LONGEST = 120  # pieces of one side; longer examples are left out
Ids = tuple[list[int], list[int]]
"""Source and target: `<language> pieces </s>` and `</s> <language> pieces </s>`."""


class Segmenter:
    """Text to ids. Sources are at times segmented at random, as a Unigram vocabulary allows (Kudo, 2018).

    `folder` holds `spm.model`; `chance` is the share of sources segmented at random; `alpha` is Kudo's smoothing, lower
    for more variety.
    """

    def __init__(self, folder: str | Path, rng: random.Random, alpha: float = 0.2, chance: float = 0.1) -> None:
        self.spm = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/spm.model")
        count = self.spm.get_piece_size()
        self.languages = {language: count + k for k, language in enumerate(LANGUAGES)}
        self.size = count + len(LANGUAGES)
        self.rng, self.alpha, self.chance = rng, alpha, chance

    def ids(self, text: Source) -> list[int]:
        """The pieces of a source; a mask becomes `<unk>`."""
        if not isinstance(text, str):
            return [piece for word in text for piece in ([UNK] if word is None else self.spm.encode(word))]
        if self.rng.random() < self.chance:
            return self.spm.encode(text, enable_sampling=True, alpha=self.alpha, nbest_size=-1)
        return self.spm.encode(text)

    def example(self, source_language: str, source: Source, target_language: str, target: str) -> Ids:
        """An example as ids."""
        return (
            [self.languages[source_language], *self.ids(source), EOS],
            [EOS, self.languages[target_language], *self.spm.encode(target), EOS],
        )


def padded(rows: Sequence[list[int]]) -> torch.Tensor:
    """The rows as i64 [rows, longest], filled with the padding token."""
    width = max(map(len, rows))
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def batches(
    streams: Sequence[Iterator[Example]],
    weights: Sequence[float],
    segmenter: Segmenter,
    rng: random.Random,
    tokens: int,
    pool: int = 24000,
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches without end: source i64 [B, S] and target i64 [B, T], padded; B times the longer of S and T <= `tokens`.

    `pool` examples at a time are drawn, sorted by length, grouped, and given in random order.
    """
    while True:
        examples = []
        for stream in rng.choices(streams, weights, k=pool):
            source, target = segmenter.example(*next(stream))
            if 3 <= len(source) <= LONGEST and len(target) <= LONGEST:
                examples.append((source, target))
        examples.sort(key=lambda e: (int(math.log(len(e[0])) * BUCKETS), len(e[1])))
        groups = grouped(examples, lambda example: max(map(len, example)), tokens)
        rng.shuffle(groups)
        for group in groups:
            yield padded([s for s, _ in group]), padded([t for _, t in group])
