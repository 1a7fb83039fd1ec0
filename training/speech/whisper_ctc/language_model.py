"""Writes the letter language model, with code-mixed prompts among its texts.

    python -m speech.whisper_ctc.language_model --data DIR --out WORK/pa.lm

File format and smoothing are those of `speech.search.ngram`. It prints bits per unit on CC0 sentences and prompts kept
apart.
"""

import argparse
from pathlib import Path

from ..search import ngram
from ..texts import reading, units
from .sentences import prompts

EVERY = 4  # of the prompts that repeat a template, one in four is taken


def main() -> None:
    """Write the model, and measure it and the models that `--compare` names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--order", type=int, default=8)
    parser.add_argument("--threshold", type=float, default=0.3)
    parser.add_argument("--compare", nargs="*", default=[], help="other models to measure on the same texts")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    pools = prompts(arguments.data)
    more = [*pools["train", "natural"], *pools["train", "templates"][::EVERY]]
    counts = ngram.counted(arguments.data, "pa", arguments.order, more)
    grams = ngram.pruned(ngram.smoothed(counts, units.blank("pa")), counts, arguments.threshold)
    ngram.write(arguments.out, grams, ngram.backed_off(grams))
    print([len(keys) for keys, _ in grams], Path(arguments.out).stat().st_size, "bytes")
    for path in [arguments.out, *arguments.compare]:
        print(
            Path(path).name,
            f"CC0 sentences {ngram.bits(path, reading.sentences(arguments.data, 'pa')['dev'], 'pa'):.3f}, "
            f"prompts {ngram.bits(path, pools['dev', 'natural'], 'pa'):.3f} bits a unit",
            flush=True,
        )


if __name__ == "__main__":
    main()
