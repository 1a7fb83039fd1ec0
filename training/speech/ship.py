"""Puts an exported model where the service finds it: the files of `models/weights` and the manifest.

    python -m speech.ship --language pa --model DIR --lm speech-pa.lm --dev DIR/dev/clean --models-dir ../models
    python -m speech.ship --language en --model DIR --dev DIR/dev/clean --models-dir ../models

The English network aligns the words of speech-en: its files and its latency go into that model's manifest.
It takes the file with float16 weights. int8 is a third faster and half as large at the same CER, but its activations
are scaled by the loudest value of a batch: one caller's answer would depend on who shares the batch. `--dev` measures
by how much the model writes the first unit of a word late; without it the latency of the old manifest is kept. The old
manifest's metrics are kept while the model stays the same file; `speech.card` sets them.
"""

import argparse
import hashlib
import json
import re
import tomllib
from pathlib import Path

import numpy as np
from manifests import replace, toml

from . import decoding as constants

LARGEST = 20_000_000  # bytes of one file
LICENCE = "MIT OR Apache-2.0"
MODEL = constants.SHIPPED["pa"]
ROLES = {"model": "{id}.onnx", "vocab": "{id}.vocab.txt", "config": "{id}.config.json", "language-model": "{id}.lm"}


def manifest(digests: dict[str, str], decoding: dict[str, float], figures: dict[str, float]) -> str:
    """Return the manifest of speech-pa as TOML.

    `digests`: the SHA-256 of each role's file in hexadecimal; `decoding` and `figures`: the tables of these names.
    """
    head = {
        "id": MODEL,
        "operation": "speech-recognition",
        "layout": "nemo-ctc",
        "language": "pa",
        "licence": LICENCE,
        "source": "training/speech",
    }
    files = {role: (f"weights/{ROLES[role].format(id=MODEL)}", digest) for role, digest in digests.items()}
    return toml(head, files, figures, decoding=decoding)


def contents_of(sources: dict[str, Path]) -> dict[str, bytes]:
    """Return the bytes of each role's file. Raises ValueError for a file above LARGEST bytes."""
    contents = {role: path.read_bytes() for role, path in sources.items()}
    for role, content in contents.items():
        if len(content) > LARGEST:
            raise ValueError(f"{sources[role]} has {len(content)} bytes")
    return contents


def realigned(text: str, digests: dict[str, str], latency: float | None) -> str:
    """Return the manifest of speech-en with other files of its aligner, and another latency unless it is None.

    `digests`: the SHA-256 of each role's file in hexadecimal. Raises KeyError where the manifest has no such role.
    """
    old = {file["role"]: file["sha256"] for file in tomllib.loads(text)["files"]}
    for role, digest in digests.items():
        text = text.replace(old[f"aligner-{role}"], digest)
    if latency is None:
        return text
    return re.sub(r"(?m)^latency_s = .*$", f"latency_s = {round(latency, 3)}", text)


def ship_aligner(folder: str | Path, name: str, models_dir: str | Path, latency: float | None = None) -> None:
    """Copy the model `name` of the export in `folder` and its configuration, and name them in speech-en's manifest.

    `latency`: seconds; None keeps the old one.
    """
    models_dir = Path(models_dir)
    contents = contents_of(
        {"model": Path(folder) / name, "vocab": Path(folder) / "vocab.txt", "config": Path(folder) / "config.json"}
    )
    for role, content in contents.items():
        replace(models_dir / "weights" / ROLES[role].format(id=constants.SHIPPED["en"]), content)
    digests = {role: hashlib.sha256(content).hexdigest() for role, content in contents.items()}
    path = models_dir / "speech-en.toml"
    replace(path, realigned(path.read_text(), digests, latency).encode())


def ship(
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
    models_dir = Path(models_dir)
    contents = contents_of(
        {
            "model": Path(folder) / name,
            "vocab": Path(folder) / "vocab.txt",
            "config": Path(folder) / "config.json",
            "language-model": Path(lm),
        }
    )
    digests = {role: hashlib.sha256(content).hexdigest() for role, content in contents.items()}
    path = models_dir / f"{MODEL}.toml"
    if latency is None and not path.exists():
        raise ValueError(f"there is no {path} yet to take the latency from: --dev says it")
    old = tomllib.loads(path.read_text()) if path.exists() else {"files": [], "metrics": {}}
    latency = old["decoding"]["latency_s"] if latency is None else round(latency, 3)
    for role, content in contents.items():
        replace(models_dir / "weights" / ROLES[role].format(id=MODEL), content)
    weight, bonus = constants.TUNED["pa"]
    settings = {
        "beam_width": constants.WIDTH,
        "lm_weight": weight,
        "insertion_bonus": bonus,
        "latency_s": latency,
        "min_confidence": constants.MIN_CONFIDENCE["pa"],
    }
    same = any(f["role"] == "model" and f["sha256"] == digests["model"] for f in old["files"])
    replace(path, manifest(digests, settings, old["metrics"] if same else {}).encode())
    print(json.dumps({role: len(content) for role, content in contents.items()}))


def main() -> None:
    """Measure the latency where `--dev` is given, and put the files in place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--model", required=True, help="what `speech.export` wrote")
    parser.add_argument("--file", default="model.half.onnx")
    parser.add_argument("--lm", help="of Panjabi")
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
    if arguments.language == "en":
        ship_aligner(arguments.model, arguments.file, arguments.models_dir, latency)
    elif arguments.lm is None:
        parser.error("Panjabi needs --lm")
    else:
        ship(arguments.model, arguments.file, arguments.lm, arguments.models_dir, latency)


if __name__ == "__main__":
    main()
