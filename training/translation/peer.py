"""Tokens a second of greedy decoding by Python runtimes on the shipped files.

    python -m translation.peer --models-dir ../models --texts ../tests/fixtures/seq2seq/bundled.json

Prints one line of JSON for each runtime, thread count and batch size. The texts of the golden file with one target
language are translated in batches, in the order of the file, at most `--limit` tokens, `--runs` times; the best run
counts. The tokens are those that the decoder wrote, without the forced
language. `onnxruntime` is `translation.runtime`: the encoder, the merged decoder with its cache, and an arg max in
NumPy. `optimum` is ORTModelForSeq2SeqLM.generate on the same files. `ctranslate2` has the same weights in single
precision.
"""

import itertools
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnxruntime
import tyro

from . import manifest
from .batches import padded
from .runtime import Runtime
from .tokeniser import EOS, LANGUAGES, PAD
from .weights import restored, tokeniser

Greedy = Callable[[Sequence[list[int]], int], list[list[int]]]
"""The ids of some sources and the id of their target language, to the ids of each translation from `</s>` on."""
Case = Mapping[str, Any]


def plain(folder: Path, threads: int, limit: int) -> Greedy:
    """Greedy search by `translation.runtime`."""
    runtime = Runtime(folder, threads)
    return lambda sources, language: runtime.greedy(sources, [language] * len(sources), limit)


def of_optimum(folder: Path, threads: int) -> Any:
    """Optimum's ORTModelForSeq2SeqLM on the files of a folder; Optimum is imported here because few have it."""
    import torch
    from optimum.onnxruntime import ORTModelForSeq2SeqLM

    torch.set_num_threads(threads)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    with tempfile.TemporaryDirectory() as laid_out:
        for part, name in {"encoder": "encoder_model", "decoder": "decoder_model_merged"}.items():
            shutil.copy(folder / f"{manifest.MODEL}.{part}.onnx", Path(laid_out) / f"{name}.onnx")
        net = restored(folder)
        net.config.save_pretrained(laid_out)
        net.generation_config.save_pretrained(laid_out)
        return ORTModelForSeq2SeqLM.from_pretrained(laid_out, use_cache=True, use_merged=True, session_options=options)


def optimum(folder: Path, threads: int, limit: int) -> Greedy:
    """Greedy search by Optimum."""
    model = of_optimum(folder, threads)

    def greedy(sources: Sequence[list[int]], language: int) -> list[list[int]]:
        source = padded(sources)
        said = model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            forced_bos_token_id=language,
            num_beams=1,
            do_sample=False,
            no_repeat_ngram_size=manifest.NO_REPEAT,
            max_new_tokens=limit,
        )
        return [[i for i in row if i != PAD] for row in said.tolist()]

    return greedy


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


PEERS = {"onnxruntime": plain, "optimum": optimum, "ctranslate2": ctranslate2}


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
    peers: tuple[str, ...] = tuple(PEERS),
    threads: tuple[int, ...] = (1, 2),
    batches: tuple[int, ...] = (1,),
    runs: int = 3,
    limit: int = 40,
) -> None:
    """Times each runtime with each number of threads and each size of batch."""
    folder = models_dir / "weights"
    cases, names = json.loads(texts.read_text())["cases"], tokeniser(folder)
    languages = {language: names.token_to_id(name) for language, name in LANGUAGES.items()}
    for peer, n_threads in itertools.product(peers, threads):
        greedy = PEERS[peer](folder, n_threads, limit)
        for size in batches:
            some = grouped(cases, size)
            each = [timed(greedy, some, languages) for _ in range(runs)]
            best, (_, n_tokens, n_same) = min(seconds for seconds, _, _ in each), each[-1]
            found = {
                "peer": peer,
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
