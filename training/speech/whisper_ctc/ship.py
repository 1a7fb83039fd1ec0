"""Puts an exported model where the service finds it: the files of `models/weights` and their hashes in the manifest.

    python -m speech.whisper_ctc.ship --export WORK/export --lm WORK/pa.lm --confidence WORK/confidence.toml \
        --models-dir ../models

It takes the file with float16 weights. `--confidence` names a file with the table that `calibrate` prints; without it
the manifest keeps its own. The settings of the search stay as the manifest has them. Metrics of another model or
another table are removed; `cards` writes them.
"""

import argparse
import tomllib
from pathlib import Path

from manifests import contents_of, installed

MODEL = "speech-pa"
FILE = "model.half.onnx"
LARGEST = 50_000_000  # bytes of one file
CONFIDENCE = {"intercept", "acoustic", "language", "low", "lm_weight"}  # inference/src/generation.rs
OPTIONAL = {"language", "lm_weight"}


def confidence_of(text: str) -> dict[str, float]:
    """Return the values of a `[confidence]` table. Raises ValueError where a key is missing or unknown."""
    table = tomllib.loads(text).get("confidence", {})
    if not CONFIDENCE - OPTIONAL <= table.keys() <= CONFIDENCE:
        expected = f"{sorted(CONFIDENCE)}, of which {sorted(OPTIONAL)} may be missing"
        raise ValueError(f"[confidence] has the keys {sorted(table)}: expected {expected}")
    return table


def ship(export: Path, lm: Path, models_dir: Path, confidence: dict[str, float] | None = None) -> None:
    """Copy the export's files and the language model, and name them in the manifest.

    Raises ValueError for a file above LARGEST bytes; then nothing is written.
    """
    sources = {"model": export / FILE, "vocab": export / "vocab.txt", "config": export / "config.json"}
    contents = contents_of(sources | {"language-model": lm}, LARGEST)
    installed(models_dir, MODEL, contents, {"confidence": confidence} if confidence else {})


def main() -> None:
    """Put the files in place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--export", type=Path, required=True, help="what `speech.whisper_ctc.export` wrote")
    parser.add_argument("--lm", type=Path, required=True)
    parser.add_argument("--models-dir", type=Path, required=True)
    parser.add_argument("--confidence", type=Path, help="a file with the table that `calibrate` prints")
    arguments = parser.parse_args()
    confidence = confidence_of(arguments.confidence.read_text()) if arguments.confidence else None
    ship(arguments.export, arguments.lm, arguments.models_dir, confidence)


if __name__ == "__main__":
    main()
