"""Checkpoints of a training, and ONNX exports read back as checkpoints."""

from pathlib import Path
from typing import Any

import learning
import onnx
import torch
from exporting import CONSTANT
from torch import Tensor

from .model import Acoustic

GROWN = 4000  # the step that an export counts as: from it on, utterances have their full length


def load(path: str | Path) -> dict[str, Any]:
    """Read a checkpoint, or an ONNX file that `speech.network.export` wrote as one without an optimiser."""
    return exported(path) if Path(path).suffix == ".onnx" else learning.load(path)


def weights(path: str | Path) -> dict[str, Tensor]:
    """Return the weights of an ONNX file by their names in the network, as float32.

    The weights of matrix products have lost their names in the export; the names of their nodes tell them. Those
    of int8 are multiplied by their scales.
    """
    graph = onnx.load(str(path)).graph
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    names = {}
    for node in graph.node:
        if node.op_type == "Cast" and node.input[0] in stored:
            stored[node.output[0]] = stored.pop(node.input[0])
        elif node.op_type in ("MatMul", "MatMulIntegerToFloat"):
            if node.op_type == "MatMulIntegerToFloat":
                stored[node.input[1]] = stored[node.input[1]] * stored.pop(node.input[3])
            names[node.input[1]] = node.name.strip("/").removesuffix("/MatMul").replace("/", ".") + ".weight"
    values = {}
    for name, value in stored.items():
        if name.startswith(CONSTANT):
            continue
        value = torch.tensor(value, dtype=torch.float32)
        values[names.get(name, name)] = value.T.contiguous() if name in names else value
    return values


def exported(path: str | Path) -> dict[str, Any]:
    """Read an export as a checkpoint."""
    values = weights(path)
    net = Acoustic(len(values["head.bias"]) - 1)
    net.load_state_dict(values)
    return {"size": net.size, "net": values, "average": values, "step": GROWN, "seconds": 0.0}


def network(path: str | Path, averaged: bool = True) -> Acoustic:
    """Return the network of a checkpoint in evaluation mode, by default with its averaged weights."""
    state = load(path)
    net = Acoustic(**state["size"])
    net.load_state_dict(state["average" if averaged else "net"])
    return net.eval()
