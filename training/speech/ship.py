"""Puts the English network, which aligns the words of speech-en, where the service finds it.

    python -m speech.ship --model DIR --dev DIR/dev/clean --models-dir ../models

Its files and its latency go into the manifest of speech-en. It takes the file with float16 weights. int8 is a third
faster and half as large at the same CER, but its activations are scaled by the loudest value of a batch: one caller's
answer would depend on who shares the batch. `--dev` measures by how much the network writes the first unit of a word
late; without it the latency of the old manifest is kept. `speech.whisper_ctc.ship` does the same for Panjabi.
"""

import argparse
import re
import tomllib
from pathlib import Path

import numpy as np
from manifests import installed, replace

from . import decoding as constants

LARGEST = 20_000_000  # bytes of one file
MODEL = constants.SHIPPED["en"]


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

    `latency`: seconds; None keeps the old one. Raises ValueError for a file above LARGEST bytes.
    """
    folder, models_dir = Path(folder), Path(models_dir)
    sources = {"model": folder / name, "vocab": folder / "vocab.txt", "config": folder / "config.json"}
    files = installed(MODEL, sources, models_dir, LARGEST)
    path = models_dir / "speech-en.toml"
    digests = {role: digest for role, (_, digest) in files.items()}
    replace(path, realigned(path.read_text(), digests, latency).encode())


def main() -> None:
    """Measure the latency where `--dev` is given, and put the files in place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="what `speech.export` wrote")
    parser.add_argument("--file", default="model.half.onnx")
    parser.add_argument("--dev", help="a folder of clean shards with word times")
    parser.add_argument("--models-dir", required=True)
    arguments = parser.parse_args()
    latency = None
    if arguments.dev:
        from .evaluate import times  # these need ONNX Runtime; the rest of this module works without it
        from .recogniser import Recogniser

        recogniser = Recogniser(Path(arguments.model) / arguments.file, "en")
        latency = float(np.median(times(arguments.dev, recogniser)))
        print(f"word starts are found {1000 * latency:.0f} ms late")
    ship_aligner(arguments.model, arguments.file, arguments.models_dir, latency)


if __name__ == "__main__":
    main()
