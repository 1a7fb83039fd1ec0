"""Tokens a second of greedy decoding by CTranslate2 with the shipped weights, in single precision.

    python -m translation.peer --models-dir ../models --texts ../tests/fixtures/seq2seq/bundled.json

Prints one line of JSON for each thread count and batch size. The texts of the golden file with one target language are
translated in batches, in the order of the file, at most `--limit` tokens, `--runs` times; the best run counts. The
tokens are those that the decoder wrote, without the forced language.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tyro

from . import manifest
from .tokeniser import EOS, LANGUAGES
from .weights import restored, tokeniser

Greedy = Callable[[Sequence[list[int]], int], list[list[int]]]
"""The ids of some sources and the id of their target language, to the ids of each translation from `</s>` on."""
Case = Mapping[str, Any]


def ctranslate2(folder: Path, threads: int, limit: int) -> Greedy:
    """Greedy search by CTranslate2, which is imported here because few have it."""
    from ctranslate2 import Translator
    from ctranslate2.converters.transformers import M2M100Loader

    names = tokeniser(folder)
    pieces = [piece for piece, _ in sorted(names.get_vocab().items(), key=lambda item: item[1])]
    spec = M2M100Loader().get_model_spec(restored(folder))
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.decoder_start_token, spec.config.add_source_eos = "</s>", False
    with tempfile.TemporaryDirectory() as laid_out:
        spec.validate()
        spec.optimize(quantization="float32")
        spec.save(laid_out)
        model = Translator(laid_out, device="cpu", inter_threads=1, intra_threads=threads, compute_type="float32")

    def greedy(sources: Sequence[list[int]], language: int) -> list[list[int]]:
        found = model.translate_batch(
            [[pieces[i] for i in ids] for ids in sources],
            target_prefix=[[pieces[language]]] * len(sources),
            beam_size=1,
            no_repeat_ngram_size=manifest.NO_REPEAT,
            max_decoding_length=limit,
            return_end_token=True,
        )
        return [[EOS, *(names.token_to_id(piece) for piece in one.hypotheses[0])] for one in found]

    return greedy


def grouped(cases: Sequence[Case], size: int) -> list[list[Case]]:
    """The cases in batches of one target language each, in their order."""
    targets = dict.fromkeys(case["target"] for case in cases)
    alike = ([case for case in cases if case["target"] == target] for target in targets)
    return [group[k : k + size] for group in alike for k in range(0, len(group), size)]


def timed(greedy: Greedy, batches: Sequence[Sequence[Case]], languages: Mapping[str, int]) -> tuple[float, int, int]:
    """One run over batches of golden cases: seconds, tokens, and how many texts have the golden tokens.

    `languages` are the ids of the language tokens.
    """
    start, n_tokens, n_same = time.perf_counter(), 0, 0
    for batch in batches:
        outputs = greedy([case["encoder_ids"] for case in batch], languages[batch[0]["target"]])
        for output, case in zip(outputs, batch, strict=True):
            n_tokens, n_same = n_tokens + len(output) - 2, n_same + (output == case["greedy_ids"])
    return time.perf_counter() - start, n_tokens, n_same


def main(
    models_dir: Path,
    texts: Path,
    threads: tuple[int, ...] = (1, 2),
    batches: tuple[int, ...] = (1,),
    runs: int = 3,
    limit: int = 40,
) -> None:
    """Times each number of threads with each size of batch."""
    folder = models_dir / "weights"
    cases, names = json.loads(texts.read_text())["cases"], tokeniser(folder)
    languages = {language: names.token_to_id(name) for language, name in LANGUAGES.items()}
    for n_threads in threads:
        greedy = ctranslate2(folder, n_threads, limit)
        for size in batches:
            some = grouped(cases, size)
            each = [timed(greedy, some, languages) for _ in range(runs)]
            best, (_, n_tokens, n_same) = min(seconds for seconds, _, _ in each), each[-1]
            found = {
                "peer": "ctranslate2",
                "threads": n_threads,
                "batch": size,
                "texts": len(cases),
                "tokens": n_tokens,
                "seconds": round(best, 4),
                "tokens_per_second": round(n_tokens / best, 1),
                "same_as_golden": n_same,
            }
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
