"""Agreement of consonants between a checkpoint's text and Whisper base's own reading of the spontaneous clips.

    python -m speech.whisper_ctc.skeleton --checkpoint WORK/full.pt --eval WORK/eval --tokens multilingual.tiktoken

Nobody has transcribed these clips. Whisper base reads them in Urdu's or Latin letters; both texts are reduced to
classes of consonants, without vowels, h, v, y and aspiration, and compared by edit distance. Where Whisper repeats itself its
reading ends. `--tokens` is in the source package of `openai-whisper` (MIT).
"""

import argparse
import base64
from pathlib import Path

import numpy as np
import torch

from .. import metrics, ngram, units
from . import batches, pretrained
from .decoder import Decoder
from .encoded import stacked
from .encoder import Encoder
from .evaluate import TUNED, searched
from .log_mel import LN10, normalised
from .model import loaded
from .train import log_probs

END, START, TRANSCRIBE, PLAIN = 50257, 50258, 50359, 50363
LANGUAGES = {"ur": 50290, "pa": 50321, "en": 50259, "hi": 50276}
MOST, LOOP = 160, 12  # tokens of a clip; tokens that, said before, end it
CLASSES = (
    ("k", "ਕਖکقخkqx"),
    ("g", "ਗਘگغg"),
    ("c", "ਚਛچc"),
    ("j", "ਜਝجذزضظژjz"),
    ("t", "ਟਠਤਥتٹطةt"),
    ("d", "ਡਢਦਧدڈd"),
    ("n", "ਨਣਙਞਂੰنںنn"),
    ("p", "ਪਫپفpf"),
    ("b", "ਬਭبb"),
    ("m", "ਮمm"),
    ("r", "ਰੜرڑr"),
    ("l", "ਲلl"),
    ("s", "ਸسصثشs"),
)
CLASS = {letter: name for name, letters in CLASSES for letter in letters}


def skeleton(text: str) -> str:
    """Classes of the consonants in order, doubled ones once."""
    out = ""
    for letter in text.lower():
        name = CLASS.get(letter, "")
        out += name if name != out[-1:] else ""
    return out


def vocabulary(path: str) -> dict[int, bytes]:
    """Bytes of each text token."""
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {int(number): base64.b64decode(piece) for piece, number in lines}


@torch.no_grad()
def reading(encoder: Encoder, decoder: Decoder, values: np.ndarray, language: str, names: dict[int, bytes]) -> str:
    """Whisper's greedy text of features (frames, 80)."""
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


def main() -> None:
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
            wrong = [
                metrics.distance(skeleton(read[row.item["name"], language]), skeleton(text))
                for row, text in zip(rows, texts)
            ]
            total = [max(1, len(skeleton(read[row.item["name"], language]))) for row in rows]
            shares = " ".join(f"{100 * (1 - w / n):.0f}" for w, n in zip(wrong, total))
            agreed = 100 * (1 - sum(wrong) / sum(total))
            print(
                f"{Path(path).name} {language}: {agreed:.1f} % of {sum(total)} consonants agree (clips: {shares})",
                flush=True,
            )


if __name__ == "__main__":
    main()
