"""Which tokens a translation may continue with: each placeholder of the source once, and the target's script.

The service has the same rules, in `inference/src/seq2seq/constraints.rs`. Tokens of bytes, special tokens and
languages, of placeholders that the source lacks, and with digits are never produced; nor are tokens with Latin letters
in Panjabi, which has them only through placeholders, and tokens with Gurmukhi letters in English. No token stands more
than twice in a row. While a placeholder is missing, a text cannot end; where its end is likeliest, a missing
placeholder follows.
"""

import re
from collections.abc import Sequence

import torch
from tokenizers import Tokenizer
from transformers import LogitsProcessor

from . import corpus, placeholders
from .tokeniser import EOS, LANGUAGES, SPECIAL

LONGEST_RUN = 2
"""How often a token may stand in a row."""
_NEVER = re.compile("<0x[0-9A-F]{2}>|.*[0-9੦-੯].*")


class Rules:
    """The tokens of a tokeniser that have rules; `active` is whether it has placeholders."""

    def __init__(self, tokeniser: Tokenizer) -> None:
        codes = [first + k for first in placeholders.FIRST.values() for k in range(placeholders.LIMIT)]
        self.ids = {
            chr(code): [tokeniser.token_to_id("▁" + chr(code)), tokeniser.token_to_id(chr(code))]
            for code in (*codes, *placeholders.RESERVED)
        }
        self.active = all(None not in ids for ids in self.ids.values())
        vocabulary = tokeniser.get_vocab()
        special = {*SPECIAL, *LANGUAGES.values()}
        never = [k for piece, k in vocabulary.items() if (piece in special or _NEVER.fullmatch(piece)) and k != EOS]
        plain = {piece: k for piece, k in vocabulary.items() if k not in never and piece not in special}
        latin = {k for piece, k in plain.items() if re.search("[A-Za-z]", piece)}
        gurmukhi = {k for piece, k in plain.items() if corpus.GURMUKHI.search(piece)} - latin
        self.never = {"en": sorted({*never, *gurmukhi}), "pa": sorted({*never, *latin})}


class Copies(LogitsProcessor):
    """The rules for a batch of texts; `required` are the placeholders of each."""

    def __init__(self, rules: Rules, required: Sequence[Sequence[str]], target: str, beams: int) -> None:
        self.rules, self.beams = rules, beams
        self.required = [[rules.ids[c] for c in row] for row in required]
        other = [[k for c, ids in rules.ids.items() if c not in row for k in ids] for row in required]
        self.never = [torch.tensor(sorted({*rules.never[target], *row})) for row in other]

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """The scores with minus infinity where a token may not follow."""
        if input_ids.shape[1] == 1:  # the language's token is forced
            return scores
        scores = scores.clone()
        for row, (ids, score) in enumerate(zip(input_ids.tolist(), scores, strict=True)):
            required = self.required[row // self.beams]
            score[self.never[row // self.beams]] = -torch.inf
            if len(ids) >= LONGEST_RUN and len(set(ids[-LONGEST_RUN:])) == 1:
                score[ids[-1]] = -torch.inf
            present = [k for pair in required if set(pair) & set(ids) for k in pair]
            missing = [k for pair in required if not set(pair) & set(ids) for k in pair]
            score[present] = -torch.inf
            if missing and score[EOS] >= score.max():
                kept = score[missing].clone()
                score.fill_(-torch.inf)
                score[missing] = kept
            elif missing:
                score[EOS] = -torch.inf
        return scores
