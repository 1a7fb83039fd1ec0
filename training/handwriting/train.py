"""Data in; the generator's ONNX file and manifest out. About three minutes on one core."""

import argparse
from collections.abc import Callable, Collection
from pathlib import Path

import torch
from manifests import replace
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


def main() -> None:
    """Trains from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--models-dir", help="the folder of the manifests")
    target.add_argument("--onnx", help="write this file alone, no manifest")
    parser.add_argument("--without", default="", help="drawers to leave out: 5,10,15,20")
    arguments = parser.parse_args()
    without = tuple(int(d) for d in arguments.without.split(",") if d)
    arrays, _ = trained(Path(arguments.data), without)
    if arguments.onnx:
        replace(Path(arguments.onnx), export.graph(arrays).SerializeToString())
    else:
        print(export.write(arrays, Path(arguments.models_dir)), "bytes")


if __name__ == "__main__":
    main()
