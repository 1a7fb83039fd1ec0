"""Compares the consonants of a checkpoint's text with those of Whisper base's own text of the spontaneous clips.

    python -m speech.whisper_ctc.skeleton --checkpoint WORK/full.pt --eval WORK/eval --tokens multilingual.tiktoken

Nobody has transcribed these clips. Whisper base writes them in Urdu's or Latin letters. Both texts are reduced to
classes of consonants (`consonants.skeleton`) and compared by edit distance. Whisper's text is cut where it repeats
itself. The file for `--tokens` is in the source package of `openai-whisper` (MIT).
"""

import argparse
import base64
from pathlib import Path

import torch

from .. import metrics, ngram, units
from ..arrays import Floats
from . import batches, pretrained
from .consonants import skeleton
from .decoder import Decoder
from .decoding import TUNED, searched
from .encoded import stacked
from .encoder import Encoder
from .log_mel import LN10, normalised
from .model import loaded
from .train import log_probs

END, START, TRANSCRIBE, PLAIN = 50257, 50258, 50359, 50363
LANGUAGES = {"ur": 50290, "pa": 50321, "en": 50259, "hi": 50276}
MOST, LOOP = 160, 12  # tokens of a clip at most; the text ends where its last LOOP tokens stood before


def vocabulary(path: str) -> dict[int, bytes]:
    """Return the bytes of each text token of a tiktoken file."""
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {int(number): base64.b64decode(piece) for piece, number in lines}


@torch.no_grad()
def reading(encoder: Encoder, decoder: Decoder, values: Floats, language: str, names: dict[int, bytes]) -> str:
    """Return Whisper's greedy text of features (frames, 80); `names`: what `vocabulary` returned."""
    encoded = encoder(*stacked([values]))
    tokens = [START, LANGUAGES[language], TRANSCRIBE, PLAIN]
    said: list[int] = []
    while len(said) < MOST:
        scores = decoder(torch.tensor([tokens + said]), encoded)[0, -1]
        scores[END + 1 :] = -torch.inf
        best = int(scores.argmax())
        if best == END:
            break
        said.append(best)
        tail = said[-LOOP:]
        if any(said[k : k + LOOP] == tail for k in range(len(said) - 2 * LOOP + 1)):
            said = said[:-LOOP]
            break
    return b"".join(names[token] for token in said).decode("utf-8", "replace").strip()


def agreement(readings: list[str], texts: list[str]) -> str:
    """Return the share of Whisper's consonants that agree, in all and in each clip."""
    wrong = [metrics.distance(skeleton(a), skeleton(b)) for a, b in zip(readings, texts, strict=True)]
    total = [max(1, len(skeleton(one))) for one in readings]
    shares = " ".join(f"{100 * (1 - w / n):.0f}" for w, n in zip(wrong, total, strict=True))
    agreed = 100 * (1 - sum(wrong) / sum(total))
    return f"{agreed:.1f} % of {sum(total)} consonants agree (clips: {shares})"


def main() -> None:
    """Print Whisper's texts, and how far each checkpoint agrees with them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", nargs="+", required=True)
    parser.add_argument("--eval", required=True)
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--lm")
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=["ur"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = batches.rows(f"{arguments.eval}/spontaneous", 0)
    encoder, decoder, names = pretrained.encoder(), pretrained.decoder(), vocabulary(arguments.tokens)
    read = {}
    for row in rows:
        for language in arguments.languages:
            text = reading(encoder, decoder, normalised(row.values() / LN10), language, names)
            read[row.item["name"], language] = text
            print(row.item["name"], language, text, flush=True)
    model = ngram.Model(arguments.lm) if arguments.lm else None
    for path in arguments.checkpoint:
        texts = [
            searched(scores, model, TUNED, 16) if model else units.greedy(scores.argmax(1), "pa")
            for scores in log_probs(loaded(path, 0).eval(), rows)
        ]
        for language in arguments.languages:
            readings = [read[row.item["name"], language] for row in rows]
            print(f"{Path(path).name} {language}: {agreement(readings, texts)}", flush=True)


if __name__ == "__main__":
    main()
