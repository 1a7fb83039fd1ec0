"""What the translator's manifest says. This module imports the standard library alone."""

import tomllib
from pathlib import Path

MODEL = "translation-pa-en"
FILES = {
    "encoder": "encoder.onnx",
    "decoder": "decoder.onnx",
    "tokenizer": "tokenizer.json",
    "names": "names.tsv",
    "words": "words.fst",
}
SHIPPED = tomllib.loads((Path(__file__).parents[2] / f"models/{MODEL}.toml").read_text())
GENERATION = SHIPPED["generation"]
CONFIDENCE = SHIPPED["confidence"]
BEAM: int = GENERATION["num_beams"]
LENGTH_PENALTY: float = GENERATION["length_penalty"]
REVERSE_WEIGHT: float = GENERATION["reverse_weight"]
NO_REPEAT: int = GENERATION["no_repeat_ngram_size"]
MAX_TOKENS: int = GENERATION["max_new_tokens"]
