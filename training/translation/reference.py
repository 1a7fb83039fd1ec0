"""Translation by the search of transformers on the shipped files, which Optimum runs on ONNX Runtime."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from program import Stream
from transformers import LogitsProcessor, LogitsProcessorList

from . import manifest, placeholders
from .batches import padded
from .tokeniser import EOS, LANGUAGES, PAD
from .weights import restored, tokeniser

Masked = tuple[str, dict[str, str]]
"""A text with placeholders, and what they stand for."""


def of_optimum(folder: Path) -> Any:
    """Optimum's ORTModelForSeq2SeqLM on the files of a folder; Optimum is imported here because few have it."""
    from optimum.onnxruntime import ORTModelForSeq2SeqLM

    torch.set_num_threads(1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
    with tempfile.TemporaryDirectory() as laid_out:
        for part, name in {"encoder": "encoder_model", "decoder": "decoder_model_merged"}.items():
            shutil.copy(folder / f"{manifest.MODEL}.{part}.onnx", Path(laid_out) / f"{name}.onnx")
        net = restored(folder)
        net.config.save_pretrained(laid_out)
        net.generation_config.save_pretrained(laid_out)
        return ORTModelForSeq2SeqLM.from_pretrained(laid_out, use_cache=True, use_merged=True, session_options=options)


class Rules:
    """The program's rules of what a translation may continue with, for a `tokenizer.json`."""

    def __init__(self, path: Path) -> None:
        self.stream = Stream("text")
        words = path.with_name(f"{manifest.MODEL}.{manifest.FILES['words']}")
        files = {"path": str(path.resolve()), "words": str(words.resolve())}
        reply, _ = self.stream.ask({"step": "tokenizer", **files, "eos_token_id": EOS})
        self.active: bool = reply["has_placeholders"]


class Copies(LogitsProcessor):
    """The rules for a batch of texts; `masked` are the texts with placeholders, and what these stand for."""

    def __init__(self, rules: Rules, masked: Sequence[Masked], target: str, beams: int) -> None:
        self.rules, self.masked, self.target, self.beams = rules, masked, target, beams

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """The scores with minus infinity where a token may not follow."""
        if input_ids.shape[1] == 1:  # the language's token is forced
            return scores
        rows = []
        for row, (tokens, score) in enumerate(zip(input_ids.tolist(), scores.numpy(), strict=True)):
            text, values = self.masked[row // self.beams]
            request = {"step": "constrain", "tokens": tokens, "text": text, "required": list(values), "to": self.target}
            rows.append(self.rules.stream.ask(request, score)[1])
        return torch.from_numpy(np.stack(rows))


class Reference:
    """Translates as the shipped files in `folder` should."""

    def __init__(self, folder: Path) -> None:
        self.net, self.tokeniser = of_optimum(folder), tokeniser(folder)
        self.rules = Rules(folder / f"{manifest.MODEL}.{manifest.FILES['tokenizer']}")
        path = folder / f"{manifest.MODEL}.{manifest.FILES['names']}"
        rows = [line.split("\t") for line in path.read_text().splitlines()]
        self.lexicon = placeholders.Lexicon([(en, pa, way) for en, pa, way in rows])
        self.languages = {key: self.tokeniser.token_to_id(name) for key, name in LANGUAGES.items()}

    def masked(self, text: str, language: str) -> Masked:
        """The text with placeholders, if the model has them, and what they stand for; `language` is "pa" or "en"."""
        return placeholders.mask(text, language, self.lexicon, in_words=True) if self.rules.active else (text, {})

    def source(self, text: str, language: str) -> list[int]:
        """The ids `<language> pieces </s>` of a text with its placeholders."""
        return [self.languages[language], *self.tokeniser.encode(text, add_special_tokens=False).ids, EOS]

    def text(self, ids: list[int]) -> str:
        """The text of ids, without special tokens."""
        return self.tokeniser.decode(ids, skip_special_tokens=True)

    @torch.no_grad()
    def tokens(
        self,
        sources: Sequence[list[int]],
        target: str,
        beam: int = manifest.BEAM,
        limit: int = manifest.MAX_TOKENS,
        masked: Sequence[Masked] = (),
    ) -> list[list[int]]:
        """The translation of each source: ids from `</s> <target>` to the last `</s>`, at most `limit` after the first.

        `beam` is the width of the search; 1 is greedy. `masked` are the texts, if they have placeholders. Of the
        sequences that a beam search finds, it is the one from which the source follows best (`reverse`).
        """
        ids = padded(sources)
        rules = [Copies(self.rules, masked, target, beam)] if self.rules.active else []
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
            num_return_sequences=beam,
            return_dict_in_generate=True,
            output_scores=beam > 1,
            logits_processor=LogitsProcessorList(rules),
        )
        found = [[i for i in row if i != PAD] for row in given.sequences.tolist()]
        if beam == 1:
            return found
        out = []
        for k, source in enumerate(sources):
            mine = slice(k * beam, (k + 1) * beam)
            both = given.sequences_scores[mine] + manifest.REVERSE_WEIGHT * self.reverse(found[mine], source)
            out.append(found[mine][int(both.argmax())])
        return out

    def reverse(self, translations: Sequence[list[int]], source: list[int]) -> torch.Tensor:
        """The mean log-probability of a source, behind its language, given each of its translations."""
        ids = padded([row[1:] for row in translations])
        given = torch.tensor([[EOS, *source[:-1]]] * len(translations))
        logits = self.net(input_ids=ids, attention_mask=(ids != PAD).long(), decoder_input_ids=given).logits
        chosen = logits[:, 1:].log_softmax(-1).gather(-1, torch.tensor(source[1:]).expand(len(ids), -1)[..., None])
        return chosen[..., 0].mean(1)
