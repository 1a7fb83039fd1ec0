"""Puts exported networks where the service finds them: their files in `models/weights`, their hashes in the manifest.

    python -m speech.ship speech-pa --export WORK/export --lm WORK/pa.lm --confidence WORK/confidence.toml
    python -m speech.ship aligner-en --export DIR --dev DIR/dev/clean

speech-pa takes the file with int8 weights, aligner-en the one with float16 weights. `--confidence` names a file with
the table that `speech.whisper_ctc.calibrate` prints; without it the manifest keeps its own. `[confidence.word]` and
`[confidence.doubt]` stay; `speech.measure.words` and `speech.measure.doubts` print others. aligner-en aligns the words
of speech-en, whose manifest has its files and its latency: `--dev` measures by how much it writes the first unit of a
word late; without it the old one is kept. The other settings stay as they are.
"""

import tomllib
from pathlib import Path

import numpy as np
import tyro
from manifests import MODELS, Value, contents_of, installed

FILES = {"model": "model.half.onnx", "vocab": "vocab.txt", "config": "config.json"}
PANJABI = FILES | {"model": "model.int8.onnx"}
CONFIDENCE = {"intercept", "acoustic", "language", "low", "lm_weight"}  # inference/src/generation.rs
OPTIONAL = {"language", "lm_weight"}
LARGEST = 50_000_000  # bytes of one file


def confidence_of(text: str) -> dict[str, Value]:
    """Return the values of a `[confidence]` table. Raises ValueError where a key is missing or unknown."""
    table = tomllib.loads(text).get("confidence", {})
    if not CONFIDENCE - OPTIONAL <= table.keys() <= CONFIDENCE:
        expected = f"{sorted(CONFIDENCE)}, of which {sorted(OPTIONAL)} may be missing"
        raise ValueError(f"[confidence] has the keys {sorted(table)}: expected {expected}")
    return table


def panjabi(export: Path, lm: Path, models_dir: Path = MODELS, confidence: Path | None = None) -> None:
    """Copy what `speech.whisper_ctc.export` wrote and the language model, and name them in speech-pa's manifest.

    Raises ValueError for a file above LARGEST bytes; then nothing is written.
    """
    sources = {role: export / name for role, name in PANJABI.items()}
    tables = {"confidence": confidence_of(confidence.read_text())} if confidence else {}
    installed(models_dir, "speech-pa", contents_of(sources | {"language-model": lm}, LARGEST), tables)


def aligner(export: Path, models_dir: Path = MODELS, dev: Path | None = None) -> None:
    """Copy what `speech.network.export` wrote, and name it in speech-en's manifest.

    Raises ValueError for a file above LARGEST bytes; then nothing is written.
    """
    contents = contents_of({f"aligner-{role}": export / name for role, name in FILES.items()}, LARGEST)
    alignment = tomllib.loads((models_dir / "speech-en.toml").read_text())["alignment"]
    if dev:
        from .measure.evaluate import times  # these need ONNX Runtime; the rest of this module works without it
        from .network.recogniser import Recogniser

        alignment["latency_s"] = round(float(np.median(times(dev, Recogniser(export / FILES["model"])))), 3)
        print(f"word starts are found {alignment['latency_s']} s late")
    installed(models_dir, "speech-en", contents, {"alignment": alignment})


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"speech-pa": panjabi, "aligner-en": aligner}, description=__doc__)
