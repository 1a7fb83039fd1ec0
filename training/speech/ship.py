"""Puts the English network, which aligns the words of speech-en, where the service finds it.

    python -m speech.ship --model DIR --dev DIR/dev/clean --models-dir ../models

Its files and its latency go into the manifest of speech-en. It takes the file with float16 weights. int8 is a third
faster and half as large at the same CER, but its activations are scaled by the loudest value of a batch: one caller's
answer would depend on who shares the batch. `--dev` measures by how much the network writes the first unit of a word
late; without it the latency of the old manifest is kept. `speech.whisper_ctc.ship` does the same for Panjabi.
"""

import argparse
import tomllib
from pathlib import Path

import numpy as np
from manifests import contents_of, installed

LARGEST = 20_000_000  # bytes of one file


def ship_aligner(folder: str | Path, name: str, models_dir: str | Path, latency: float | None = None) -> None:
    """Copy the model `name` of the export in `folder` and its configuration, and name them in speech-en's manifest.

    `latency`: seconds; None keeps the old one. Raises ValueError for a file above LARGEST bytes.
    """
    folder, models_dir = Path(folder), Path(models_dir)
    sources = {"model": folder / name, "vocab": folder / "vocab.txt", "config": folder / "config.json"}
    contents = contents_of({f"aligner-{role}": path for role, path in sources.items()}, LARGEST)
    alignment = tomllib.loads((models_dir / "speech-en.toml").read_text())["alignment"]
    if latency is not None:
        alignment["latency_s"] = round(latency, 3)
    installed(models_dir, "speech-en", contents, {"alignment": alignment})


def main() -> None:
    """Measure the latency where `--dev` is given, and put the files in place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="what `speech.network.export` wrote")
    parser.add_argument("--file", default="model.half.onnx")
    parser.add_argument("--dev", help="a folder of clean shards with word times")
    parser.add_argument("--models-dir", required=True)
    arguments = parser.parse_args()
    latency = None
    if arguments.dev:
        from .measure.evaluate import times  # these need ONNX Runtime; the rest of this module works without it
        from .network.recogniser import Recogniser

        recogniser = Recogniser(Path(arguments.model) / arguments.file)
        latency = float(np.median(times(arguments.dev, recogniser)))
        print(f"word starts are found {1000 * latency:.0f} ms late")
    ship_aligner(arguments.model, arguments.file, arguments.models_dir, latency)


if __name__ == "__main__":
    main()
