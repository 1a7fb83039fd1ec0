"""Tokens a second of greedy decoding by Python runtimes on the shipped files: JSON, one line a runtime and thread count.

    python -m translation.peer --models-dir ../models --texts ../tests/fixtures/seq2seq/bundled.json

Each text of the golden file is translated alone, at most `--limit` tokens, `--runs` times; the best run counts. A token
is one the decoder has written, the forced language not counted. `onnxruntime` is `translation.runtime`, the encoder, the merged
decoder with its cache and an arg max in NumPy; `optimum` is ORTModelForSeq2SeqLM.generate on the same files.
"""

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

import onnxruntime

from . import manifest
from .runtime import Runtime
from .tokeniser import LANGUAGES
from .weights import restored, tokeniser


def plain(folder, threads, limit):
    runtime = Runtime(folder, threads)
    return lambda ids, language: runtime.greedy([ids], [language], limit)[0]


def optimum(folder, threads, limit):
    import torch
    from optimum.onnxruntime import ORTModelForSeq2SeqLM

    torch.set_num_threads(threads)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    with tempfile.TemporaryDirectory() as laid_out:
        for part, name in {"encoder": "encoder_model", "decoder": "decoder_model_merged"}.items():
            shutil.copy(Path(folder) / f"{manifest.MODEL}.{part}.onnx", Path(laid_out) / f"{name}.onnx")
        net = restored(folder)
        net.config.save_pretrained(laid_out)
        net.generation_config.save_pretrained(laid_out)
        model = ORTModelForSeq2SeqLM.from_pretrained(laid_out, use_cache=True, use_merged=True, session_options=options)

    def greedy(ids, language):
        ids = torch.tensor([ids])
        return model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            forced_bos_token_id=language,
            num_beams=1,
            do_sample=False,
            no_repeat_ngram_size=manifest.NO_REPEAT,
            max_new_tokens=limit,
        )[0].tolist()

    return greedy


PEERS = {"onnxruntime": plain, "optimum": optimum}


def main():
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
    for peer in arguments.peers:
        for threads in arguments.threads:
            greedy, best, same = PEERS[peer](folder, threads, arguments.limit), None, 0
            for _ in range(arguments.runs):
                start, n, same = time.perf_counter(), 0, 0
                for case in cases:
                    said = greedy(case["encoder_ids"], names.token_to_id(LANGUAGES[case["target"]]))
                    n, same = n + len(said) - 2, same + (said == case["greedy_ids"])
                spent = time.perf_counter() - start
                best = min(best or spent, spent)
            print(
                json.dumps(
                    {
                        "peer": peer,
                        "threads": threads,
                        "texts": len(cases),
                        "tokens": n,
                        "seconds": round(best, 4),
                        "tokens_per_second": round(n / best, 1),
                        "same_as_golden": same,
                    }
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
