"""Data in; the generator's ONNX file and manifest out. About three minutes on one core."""

from collections.abc import Callable, Collection
from pathlib import Path

import torch
import tyro
from manifests import MODELS, replace
from torch import nn

from . import drawings, dynamics, export, model


def trained(
    data: Path, without: Collection[int] = (), log: Callable[[str], None] = print
) -> tuple[model.Arrays, nn.Module]:
    """The arrays of the generator's file, without these drawers, and the network of the pen's speed."""
    torch.set_num_threads(1)
    net, figures = dynamics.train(data)
    log(f"pen speed: {figures}")
    shapes = dynamics.taught(net)
    kept = drawings.collect(data, shapes, without, log)
    return model.arrays(kept, shapes, log), net


def main(data: Path, models_dir: Path = MODELS, onnx: Path | None = None, without: tuple[int, ...] = ()) -> None:
    """Trains without some drawers; writes the file `onnx` alone, or else the model with its manifest."""
    arrays, _ = trained(data, without)
    if onnx:
        replace(onnx, export.graph(arrays).SerializeToString())
    else:
        print(export.write(arrays, models_dir), "bytes")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
