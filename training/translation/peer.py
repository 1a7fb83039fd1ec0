"""Tokens a second of greedy decoding by Python runtimes on the shipped files.

    python -m translation.peer --models-dir ../models --texts ../tests/fixtures/seq2seq/bundled.json

Prints one line of JSON for each runtime and thread count. Each text of the golden file is translated alone, at most
`--limit` tokens, `--runs` times; the best run counts. The tokens are those that the decoder wrote, without the forced
language. `onnxruntime` is `translation.runtime`: the encoder, the merged decoder with its cache, and an arg max in
NumPy. `optimum` is ORTModelForSeq2SeqLM.generate on the same files. `ctranslate2` has the same weights in single
precision.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnxruntime

from . import manifest
from .runtime import Runtime
from .tokeniser import EOS, LANGUAGES
from .weights import restored, tokeniser

Greedy = Callable[[list[int], int], list[int]]
"""Source ids and the id of the target language, to the ids from `</s>` on."""


def plain(folder: Path, threads: int, limit: int) -> Greedy:
    """Greedy search by `translation.runtime`."""
    runtime = Runtime(folder, threads)
    return lambda ids, language: runtime.greedy([ids], [language], limit)[0]


def optimum(folder: Path, threads: int, limit: int) -> Greedy:
    """Greedy search by Optimum, which is imported here because few have it."""
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
        model = ORTModelForSeq2SeqLM.from_pretrained(laid_out, use_cache=True, use_merged=True, session_options=options)

    def greedy(ids: list[int], language: int) -> list[int]:
        source = torch.tensor([ids])
        return model.generate(
            input_ids=source,
            attention_mask=torch.ones_like(source),
            forced_bos_token_id=language,
            num_beams=1,
            do_sample=False,
            no_repeat_ngram_size=manifest.NO_REPEAT,
            max_new_tokens=limit,
        )[0].tolist()

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

    def greedy(ids: list[int], language: int) -> list[int]:
        found = model.translate_batch(
            [[pieces[i] for i in ids]],
            target_prefix=[[pieces[language]]],
            beam_size=1,
            no_repeat_ngram_size=manifest.NO_REPEAT,
            max_decoding_length=limit,
            return_end_token=True,
        )
        return [EOS, *(names.token_to_id(piece) for piece in found[0].hypotheses[0])]

    return greedy


PEERS = {"onnxruntime": plain, "optimum": optimum, "ctranslate2": ctranslate2}


def timed(greedy: Greedy, cases: Sequence[Mapping[str, Any]], languages: Mapping[str, int]) -> tuple[float, int, int]:
    """One run over the golden cases: seconds, tokens, and how many texts have the golden tokens.

    `languages` are the ids of the language tokens.
    """
    start, n_tokens, n_same = time.perf_counter(), 0, 0
    for case in cases:
        output = greedy(case["encoder_ids"], languages[case["target"]])
        n_tokens, n_same = n_tokens + len(output) - 2, n_same + (output == case["greedy_ids"])
    return time.perf_counter() - start, n_tokens, n_same


def main() -> None:
    """Times each runtime with each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models-dir", required=True)
    parser.add_argument("--texts", required=True)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=40)
    arguments = parser.parse_args()
    folder = Path(arguments.models_dir) / "weights"
    cases, names = json.loads(Path(arguments.texts).read_text())["cases"], tokeniser(folder)
    languages = {language: names.token_to_id(name) for language, name in LANGUAGES.items()}
    for peer in arguments.peers:
        for threads in arguments.threads:
            greedy = PEERS[peer](folder, threads, arguments.limit)
            runs = [timed(greedy, cases, languages) for _ in range(arguments.runs)]
            best, (_, n_tokens, n_same) = min(seconds for seconds, _, _ in runs), runs[-1]
            found = {
                "peer": peer,
                "threads": threads,
                "texts": len(cases),
                "tokens": n_tokens,
                "seconds": round(best, 4),
                "tokens_per_second": round(n_tokens / best, 1),
                "same_as_golden": n_same,
            }
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
