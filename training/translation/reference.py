"""Translation by the search of transformers on the weights of the shipped files, in single precision."""

from collections.abc import Sequence
from pathlib import Path

import torch

from . import manifest
from .tokeniser import EOS, LANGUAGES, PAD
from .weights import restored, tokeniser


class Reference:
    """Translates as the shipped files in `folder` should."""

    def __init__(self, folder: str | Path) -> None:
        self.net, self.tokeniser = restored(folder), tokeniser(folder)
        self.languages = {key: self.tokeniser.token_to_id(name) for key, name in LANGUAGES.items()}

    def source(self, text: str, language: str) -> list[int]:
        """The ids `<language> pieces </s>` of a text; `language` is "pa" or "en"."""
        return [self.languages[language], *self.tokeniser.encode(text, add_special_tokens=False).ids, EOS]

    def text(self, ids: list[int]) -> str:
        """The text of ids, without special tokens."""
        return self.tokeniser.decode(ids, skip_special_tokens=True)

    @torch.no_grad()
    def tokens(
        self, sources: Sequence[list[int]], target: str, beam: int = manifest.BEAM, limit: int = manifest.MAX_TOKENS
    ) -> list[list[int]]:
        """The translation of each source: ids from `</s> <target>` to the last `</s>`, at most `limit` after the first.

        `beam` is the width of the search; 1 is greedy.
        """
        width = max(map(len, sources))
        ids = torch.tensor([s + [PAD] * (width - len(s)) for s in sources])
        given = self.net.generate(
            input_ids=ids,
            attention_mask=(ids != PAD).long(),
            forced_bos_token_id=self.languages[target],
            num_beams=beam,
            length_penalty=manifest.LENGTH_PENALTY,
            no_repeat_ngram_size=manifest.NO_REPEAT,
            max_new_tokens=limit,
            do_sample=False,
            early_stopping=False,
        )
        return [[i for i in row if i != PAD] for row in given.tolist()]

    def translate(
        self, texts: Sequence[str], source: str, target: str, beam: int = manifest.BEAM, batch: int = 16
    ) -> list[str]:
        """The translations of texts, in their order. `batch` texts of like length are translated together."""
        sources = [self.source(text, source) for text in texts]
        order = sorted(range(len(texts)), key=lambda k: len(sources[k]))
        out = [""] * len(texts)
        for start in range(0, len(order), batch):
            members = order[start : start + batch]
            found = self.tokens([sources[k] for k in members], target, beam)
            for k, ids in zip(members, found, strict=True):
                out[k] = self.text(ids)
        return out
