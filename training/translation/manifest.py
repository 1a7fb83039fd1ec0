"""What the translator's manifest says, and its file. This module imports the standard library alone."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from manifests import Value, replace, toml

MODEL = "translation-pa-en"
FILES = {"encoder": "encoder.onnx", "decoder": "decoder.onnx", "tokenizer": "tokenizer.json", "names": "names.tsv"}
LICENCE = "CC-BY-4.0"
# The search; the card and the golden file quote these.
BEAM, LENGTH_PENALTY, REVERSE_WEIGHT, NO_REPEAT, MAX_TOKENS = 8, 1.3, 0.3, 4, 160

CONFIDENCE = {"intercept": 3.08, "language": 5.45, "low": 0.2}
"""How likely a translation is about right. `translation.confidence` fits the first two."""


def write(models: str | Path, metrics: Mapping[str, float]) -> None:
    """Writes `<MODEL>.toml` in `models`, with the hashes of the files in `models/weights` and the given metrics."""
    head = {
        "id": MODEL,
        "operation": "translation",
        "layout": "m2m100",
        "licence": LICENCE,
        "source": "training/translation",
    }
    generation: dict[str, Value] = {
        "num_beams": BEAM,
        "length_penalty": LENGTH_PENALTY,
        "reverse_weight": REVERSE_WEIGHT,
        "no_repeat_ngram_size": NO_REPEAT,
        "max_new_tokens": MAX_TOKENS,
        "decoder_start_token_id": "</s>",
    }
    paths = {role: f"weights/{MODEL}.{ending}" for role, ending in FILES.items()}
    if not (Path(models) / paths["names"]).exists():  # a model without placeholders has no names to copy
        del paths["names"]
    files = {
        role: (path, hashlib.sha256((Path(models) / path).read_bytes()).hexdigest()) for role, path in paths.items()
    }
    text = toml(
        head,
        files,
        metrics,
        confidence=CONFIDENCE,
        generation=generation,
        languages={"pa": "pan_Guru", "en": "eng_Latn"},
    )
    replace(Path(models) / f"{MODEL}.toml", text.encode())
