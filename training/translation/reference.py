"""Translation by transformers' own search on the weights of the shipped files; single precision, one thread."""

import torch

from . import manifest
from .tokeniser import EOS, LANGUAGES, PAD
from .weights import restored, tokeniser


class Reference:
    """`translate` texts as the shipped files should."""

    def __init__(self, folder):
        self.net, self.tokeniser = restored(folder), tokeniser(folder)
        self.languages = {key: self.tokeniser.token_to_id(name) for key, name in LANGUAGES.items()}

    def source(self, text, language):
        """`<language> pieces </s>`."""
        return [self.languages[language], *self.tokeniser.encode(text, add_special_tokens=False).ids, EOS]

    def text(self, ids):
        return self.tokeniser.decode(ids, skip_special_tokens=True)

    @torch.no_grad()
    def tokens(self, sources, target, beam=manifest.BEAM, limit=manifest.MAX_TOKENS):
        """Lists of ids -> lists of ids from `</s> <target>` on to the last `</s>`, at most `limit` behind the first."""
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

    def translate(self, texts, source, target, beam=manifest.BEAM, batch=16):
        """Texts in their order; batches are of like length."""
        sources = [self.source(text, source) for text in texts]
        order = sorted(range(len(texts)), key=lambda k: len(sources[k]))
        out = [""] * len(texts)
        for start in range(0, len(order), batch):
            members = order[start : start + batch]
            for k, ids in zip(members, self.tokens([sources[k] for k in members], target, beam)):
                out[k] = self.text(ids)
        return out
