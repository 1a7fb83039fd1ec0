"""What a training leaves behind, whole or not at all."""

import os
from pathlib import Path

import onnx
import torch

from .model import Acoustic

GROWN = 4000  # steps an export counts as: utterances are as long as they get


def save(path, net, aside, average, optimiser, **figures):
    write(
        path,
        {
            "size": net.size,
            "net": net.state_dict(),
            "average": average,
            "aside": aside and aside.state_dict(),
            "optimiser": optimiser.state_dict(),
            "kind": optimiser.kind(),
            **figures,
        },
    )


def write(path, state):
    """Anything of torch's, written beside and moved over."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path.with_suffix(".part"))
    os.replace(path.with_suffix(".part"), path)


def load(path):
    """A checkpoint; or, of an ONNX file that `speech.export` wrote, what there is of one: weights, no optimiser."""
    return exported(path) if Path(path).suffix == ".onnx" else torch.load(path, map_location="cpu", weights_only=True)


def exported(path):
    """The checkpoint of an export. Weights of matrix products have lost their names; those of their nodes have them."""
    graph = onnx.load(str(path)).graph
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    names = {}
    for node in graph.node:
        if node.op_type == "Cast" and node.input[0] in stored:
            stored[node.output[0]] = stored.pop(node.input[0])
        elif node.op_type == "MatMul":
            names[node.input[1]] = node.name.strip("/").removesuffix("/MatMul").replace("/", ".") + ".weight"
    values = {}
    for name, value in stored.items():
        value = torch.tensor(value, dtype=torch.float32)
        values[names.get(name, name)] = value.T.contiguous() if name in names else value
    net = Acoustic(len(values["head.bias"]) - 1)
    net.load_state_dict(values)
    return {"size": net.size, "net": values, "average": values, "step": GROWN, "seconds": 0.0}


def network(path, averaged=True):
    """The network of a checkpoint, ready to recognise."""
    state = load(path)
    net = Acoustic(**state["size"])
    net.load_state_dict(state["average" if averaged else "net"])
    return net.eval()
