"""The manifest as text. Needs nothing but Python."""

import hashlib
from pathlib import Path

from recognition.manifest import replace

MODEL = "translation-pa-en"
FILES = {"encoder": "encoder.onnx", "decoder": "decoder.onnx", "tokenizer": "tokenizer.json"}
LICENCE = "CC-BY-4.0"
# What the search does, as the card and the golden file say.
BEAM, LENGTH_PENALTY, NO_REPEAT, MAX_TOKENS = 4, 1.0, 4, 160


def write(models, metrics):
    """`<MODEL>.toml` in `models`, of the files in `models/weights`; `metrics`: name to number."""
    lines = [f'id = "{MODEL}"', 'operation = "translation"', 'layout = "m2m100"', f'licence = "{LICENCE}"',
             'source = "models/training/translation"', "", "[generation]", f"beam = {BEAM}",
             f"length_penalty = {LENGTH_PENALTY}", f"no_repeat_ngram = {NO_REPEAT}", f"max_tokens = {MAX_TOKENS}",
             'decoder_start = "</s>"', "", "[languages]", 'pa = "pan_Guru"', 'en = "eng_Latn"']
    for role, ending in FILES.items():
        content = (Path(models) / f"weights/{MODEL}.{ending}").read_bytes()
        lines += ["", "[[files]]", f'role = "{role}"', f'path = "weights/{MODEL}.{ending}"',
                  f'sha256 = "{hashlib.sha256(content).hexdigest()}"']
    lines += ["", "[metrics]", *(f"{name} = {float(value)}" for name, value in metrics.items())]
    replace(Path(models) / f"{MODEL}.toml", ("\n".join(lines) + "\n").encode())
