"""Puts an exported model where the service finds it: the files of `models/weights` and the manifest.

    python -m speech.ship --language pa --model DIR --lm speech-pa.lm --dev DIR/dev/clean --models-dir ../models

It takes the file with float16 weights. int8 is a third faster and half as large at the same CER, but its activations
are scaled by the loudest value of a batch: one caller's answer would depend on who shares the batch. `--dev` measures
by how much the model writes the first unit of a word late; without it the latency of the old manifest is kept. The old
manifest's metrics are kept while the model stays the same file; `speech.card` sets them.
"""

import argparse
import hashlib
import json
import tomllib
from pathlib import Path

import numpy as np
from manifests import replace, toml

from . import decoding

LARGEST = 20_000_000  # bytes of one file
LICENCES = {"pa": "MIT OR Apache-2.0", "en": "CC-BY-SA-4.0"}  # en is trained on FSDD, which requires its own licence
ROLES = {"model": "{id}.onnx", "vocab": "{id}.vocab.txt", "config": "{id}.config.json", "language-model": "{id}.lm"}


def manifest(language: str, digests: dict[str, str], decoding: dict[str, float], figures: dict[str, float]) -> str:
    """Return the manifest as TOML.

    `digests`: the SHA-256 of each role's file in hexadecimal; `decoding` and `figures`: the tables of these names.
    """
    model_id = f"speech-{language}"
    head = {
        "id": model_id,
        "operation": "speech-recognition",
        "layout": "nemo-ctc",
        "language": language,
        "licence": LICENCES[language],
        "source": "training/speech",
    }
    files = {role: (f"weights/{ROLES[role].format(id=model_id)}", digest) for role, digest in digests.items()}
    return toml(head, files, figures, decoding=decoding)


def ship(
    language: str,
    folder: str | Path,
    name: str,
    lm: str | Path,
    models_dir: str | Path,
    latency: float | None = None,
) -> None:
    """Copy the model `name` of the export in `folder`, its configuration and the language model, write the manifest.

    `latency`: seconds; None keeps the old manifest's. Raises ValueError for a file above LARGEST bytes, and where
    there is no latency.
    """
    models_dir, model_id = Path(models_dir), f"speech-{language}"
    sources = {
        "model": Path(folder) / name,
        "vocab": Path(folder) / "vocab.txt",
        "config": Path(folder) / "config.json",
        "language-model": Path(lm),
    }
    contents = {role: path.read_bytes() for role, path in sources.items()}
    for role, content in contents.items():
        if len(content) > LARGEST:
            raise ValueError(f"{sources[role]} has {len(content)} bytes")
    digests = {role: hashlib.sha256(content).hexdigest() for role, content in contents.items()}
    path = models_dir / f"{model_id}.toml"
    if latency is None and not path.exists():
        raise ValueError(f"there is no {path} yet to take the latency from: --dev says it")
    old = tomllib.loads(path.read_text()) if path.exists() else {"files": [], "metrics": {}}
    latency = old["decoding"]["latency_s"] if latency is None else round(latency, 3)
    for role, content in contents.items():
        replace(models_dir / "weights" / ROLES[role].format(id=model_id), content)
    weight, bonus = decoding.TUNED[language]
    settings = {
        "beam_width": decoding.WIDTH,
        "lm_weight": weight,
        "insertion_bonus": bonus,
        "latency_s": latency,
        "min_confidence": decoding.MIN_CONFIDENCE[language],
    }
    same = any(f["role"] == "model" and f["sha256"] == digests["model"] for f in old["files"])
    replace(path, manifest(language, digests, settings, old["metrics"] if same else {}).encode())
    print(json.dumps({role: len(content) for role, content in contents.items()}))


def main() -> None:
    """Measure the latency where `--dev` is given, and put the files in place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--model", required=True, help="what `speech.export` wrote")
    parser.add_argument("--file", default="model.half.onnx")
    parser.add_argument("--lm", required=True)
    parser.add_argument("--dev", help="a folder of clean shards with word times")
    parser.add_argument("--models-dir", required=True)
    arguments = parser.parse_args()
    latency = None
    if arguments.dev:
        from .evaluate import times  # these need ONNX Runtime; the rest of this module works without it
        from .recogniser import Recogniser

        recogniser = Recogniser(Path(arguments.model) / arguments.file, arguments.language)
        latency = float(np.median(times(arguments.dev, recogniser)))
        print(f"word starts are found {1000 * latency:.0f} ms late")
    ship(arguments.language, arguments.model, arguments.file, arguments.lm, arguments.models_dir, latency)


if __name__ == "__main__":
    main()
