"""Data in; the generator's ONNX file and manifest out. About three minutes on one core."""

from pathlib import Path

import torch
import tyro
from manifests import MODELS

from . import drawings, dynamics, export, model


def main(data: Path, models_dir: Path = MODELS) -> None:
    """Trains, and writes the model with its manifest."""
    torch.set_num_threads(1)
    net, figures = dynamics.train(data)
    print(f"pen speed: {figures}")
    shapes = dynamics.taught(net)
    arrays = model.arrays(drawings.collect(data, shapes), shapes)
    print(export.write(arrays, models_dir), "bytes")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
