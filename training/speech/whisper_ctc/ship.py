"""Puts an exported model where the service finds it: the files of `models/weights` and the manifest of speech-pa.

    python -m speech.whisper_ctc.ship --export WORK/export --lm WORK/pa.lm --confidence WORK/confidence.toml \
        --models-dir ../models

It takes the file with float16 weights. `--confidence` names a file with the table that `calibrate` prints; without it
the service says of no text that it is probably wrong. The old manifest's metrics are kept while model, language model
and settings stay the same; `speech.served_card` sets them.
"""

import argparse
import json
import tomllib
from pathlib import Path

from manifests import Value, installed, replace, toml

from .decoding import TUNED

MODEL = "speech-pa"
FILE = "model.half.onnx"
LARGEST = 50_000_000  # bytes of one file
LICENCE = "MIT AND CC-BY-4.0"  # of Whisper base; of the prompts that are read and counted
CONFIDENCE = {"intercept", "acoustic", "language", "low", "lm_weight"}  # inference/src/generation.rs
OPTIONAL = {"language", "lm_weight"}


def confidence_of(text: str) -> dict[str, float]:
    """Return the values of a `[confidence]` table. Raises ValueError where a key is missing or unknown."""
    table = tomllib.loads(text).get("confidence", {})
    if not CONFIDENCE - OPTIONAL <= table.keys() <= CONFIDENCE:
        expected = f"{sorted(CONFIDENCE)}, of which {sorted(OPTIONAL)} may be missing"
        raise ValueError(f"[confidence] has the keys {sorted(table)}: expected {expected}")
    return table


def ship(
    export: Path,
    lm: Path,
    models_dir: Path,
    decoding: dict[str, float],
    confidence: dict[str, float] | None = None,
) -> dict[str, int]:
    """Copy the export's files and the language model, and write the manifest; returns the sizes by role in bytes.

    Raises ValueError for a file above LARGEST bytes.
    """
    sources = {"model": export / FILE, "vocab": export / "vocab.txt", "config": export / "config.json"}
    sources["language-model"] = lm
    files = installed(MODEL, sources, models_dir, LARGEST)
    head: dict[str, Value] = {
        "id": MODEL,
        "operation": "speech-recognition",
        "layout": "whisper-ctc",
        "language": "pa",
        "licence": LICENCE,
        "source": "training/speech/whisper_ctc",
    }
    tables = {"decoding": decoding} | ({"confidence": confidence} if confidence else {})
    path = models_dir / f"{MODEL}.toml"
    old = tomllib.loads(path.read_text()) if path.exists() else {}
    new = toml(head, files, {}, **tables)
    same = {**old, "metrics": {}} == tomllib.loads(new)
    replace(path, toml(head, files, old["metrics"] if same else {}, **tables).encode())
    return {role: (models_dir / where).stat().st_size for role, (where, _) in files.items()}


def main() -> None:
    """Put the files in place, and print their sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--export", type=Path, required=True, help="what `speech.whisper_ctc.export` wrote")
    parser.add_argument("--lm", type=Path, required=True)
    parser.add_argument("--models-dir", type=Path, required=True)
    parser.add_argument("--lm-weight", type=float, default=TUNED[0])
    parser.add_argument("--bonus", type=float, default=TUNED[1], help="for each unit")
    parser.add_argument("--beam", type=int, default=32, help="prefixes that the search keeps")
    parser.add_argument("--min-confidence", type=float, default=0.25, help="windows below it are taken for noise")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds by which units are emitted late")
    parser.add_argument("--confidence", type=Path, help="a file with the table that `calibrate` prints")
    arguments = parser.parse_args()
    decoding = {
        "beam_width": arguments.beam,
        "lm_weight": arguments.lm_weight,
        "insertion_bonus": arguments.bonus,
        "latency_s": arguments.latency,
        "min_confidence": arguments.min_confidence,
    }
    confidence = confidence_of(arguments.confidence.read_text()) if arguments.confidence else None
    print(json.dumps(ship(arguments.export, arguments.lm, arguments.models_dir, decoding, confidence)))


if __name__ == "__main__":
    main()
