"""The manifest as text. Needs nothing but Python."""

import hashlib
from pathlib import Path

from manifests import replace, toml

MODEL = "translation-pa-en"
FILES = {"encoder": "encoder.onnx", "decoder": "decoder.onnx", "tokenizer": "tokenizer.json"}
LICENCE = "CC-BY-4.0"
# What the search does, as the card and the golden file say.
BEAM, LENGTH_PENALTY, NO_REPEAT, MAX_TOKENS = 4, 1.0, 4, 160


def write(models, metrics):
    """`<MODEL>.toml` in `models`, of the files in `models/weights`; `metrics`: name to number."""
    head = {
        "id": MODEL,
        "operation": "translation",
        "layout": "m2m100",
        "licence": LICENCE,
        "source": "training/translation",
    }
    generation = {
        "num_beams": BEAM,
        "length_penalty": LENGTH_PENALTY,
        "no_repeat_ngram_size": NO_REPEAT,
        "max_new_tokens": MAX_TOKENS,
        "decoder_start_token_id": "</s>",
    }
    paths = {role: f"weights/{MODEL}.{ending}" for role, ending in FILES.items()}
    files = {
        role: (path, hashlib.sha256((Path(models) / path).read_bytes()).hexdigest()) for role, path in paths.items()
    }
    text = toml(head, files, metrics, generation=generation, languages={"pa": "pan_Guru", "en": "eng_Latn"})
    replace(Path(models) / f"{MODEL}.toml", text.encode())
