"""Examples as batches of ids: drawn from weighted streams, segmented at random, gathered by length."""

import sentencepiece
import torch

from .tokeniser import EOS, LANGUAGES, PAD, UNK

LONGEST = 120  # pieces of one side; longer examples are left out


class Segmenter:
    """Text to ids, with the random segmentations of a Unigram vocabulary (Kudo, 2018)."""

    def __init__(self, folder, rng, alpha=0.2, chance=0.1):
        self.spm = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/spm.model")
        count = self.spm.get_piece_size()
        self.languages = {language: count + k for k, language in enumerate(LANGUAGES)}
        self.size = count + len(LANGUAGES)
        self.rng, self.alpha, self.chance = rng, alpha, chance

    def ids(self, text):
        """A source: a text, or a list of words and masks (None)."""
        if not isinstance(text, str):
            return [piece for word in text for piece in ([UNK] if word is None else self.spm.encode(word))]
        if self.rng.random() < self.chance:
            return self.spm.encode(text, enable_sampling=True, alpha=self.alpha, nbest_size=-1)
        return self.spm.encode(text)

    def example(self, source_language, source, target_language, target):
        """-> (`<language> pieces </s>`, `</s> <language> pieces </s>`)."""
        return (
            [self.languages[source_language], *self.ids(source), EOS],
            [EOS, self.languages[target_language], *self.spm.encode(target), EOS],
        )


def padded(rows):
    width = max(map(len, rows))
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def batches(streams, weights, segmenter, rng, tokens, pool=3000):
    """Endless `(source [B, S], target [B, T])` of at most about `tokens` places on the longer side."""
    while True:
        examples = []
        for stream in rng.choices(streams, weights, k=pool):
            source, target = segmenter.example(*next(stream))
            if 3 <= len(source) <= LONGEST and len(target) <= LONGEST:
                examples.append((source, target))
        examples.sort(key=lambda e: (len(e[1]) + len(e[0]) // 4, len(e[0])))
        groups, group, width = [], [], 0
        for example in examples:
            width = max(width, *map(len, example))
            if group and width * (len(group) + 1) > tokens:
                groups.append(group)
                group, width = [], max(map(len, example))
            group.append(example)
        groups.append(group)
        rng.shuffle(groups)
        for group in groups:
            yield padded([s for s, _ in group]), padded([t for _, t in group])
