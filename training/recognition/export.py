"""A torch checkpoint in; the ONNX file out, with its digest in the manifest.

The graph is written operator by operator, with batch norm folded into the convolutions, so that no exporter is needed:
GridSample and Concat turn the squares; then Conv, Relu, Add, AveragePool, Flatten, Gemm, LogSoftmax, ReduceMean and
Softmax, all of opset 17.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
import tyro
from manifests import MODELS, installed, replace
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional as F

from .labels import SETS
from .model import TURNS, Reader, Residual, Served

SIDE = 48
OPSET = 17


class Graph:
    """Collects nodes and weights. Each method returns the name of what it adds."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, tensor: torch.Tensor) -> str:
        """A float32 constant."""
        array = np.ascontiguousarray(tensor.detach().numpy().astype(np.float32))
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def shape(self, name: str, sizes: Sequence[int]) -> str:
        """An int64 constant, the shape that a Reshape takes."""
        self.weights.append(numpy_helper.from_array(np.array(sizes, np.int64), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        """A node of an operator `kind`; `output` among the attributes names its output."""
        name = attributes.pop("output", f"{kind.lower()}_{len(self.nodes)}")
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def conv(self, x: str, conv: nn.Conv2d, norm: nn.BatchNorm2d) -> str:
        """A convolution with the batch norm after it folded into weight and bias."""
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        n = len(self.nodes)
        weight = self.weight(f"conv_{n}_weight", conv.weight * scale[:, None, None, None])
        bias = self.weight(f"conv_{n}_bias", norm.bias - norm.running_mean * scale)
        pad, stride = conv.padding[0], conv.stride[0]
        return self.node(
            "Conv", [x, weight, bias], kernel_shape=list(conv.kernel_size), pads=[pad] * 4, strides=[stride] * 2
        )

    def relu(self, x: str) -> str:
        """A rectified linear unit."""
        return self.node("Relu", [x])


def looks(graph: Graph, ink: str, turns: Sequence[float]) -> str:
    """[N, 1, SIDE, SIDE] to [turns x N, 1, SIDE, SIDE]: each square turned by each angle in radians.

    The batch goes through as the channels of one picture, since GridSample turns those alike.
    """
    flat = graph.node("Reshape", [ink, graph.shape("one_picture", [1, -1, SIDE, SIDE])])
    views = []
    for k, angle in enumerate(turns):
        c, s = np.cos(angle), np.sin(angle)
        matrix = torch.tensor([[[c, -s, 0], [s, c, 0]]], dtype=torch.float32)
        if angle == 0:
            views.append(flat)
            continue
        grid = graph.weight(f"turn_{k}", F.affine_grid(matrix, (1, 1, SIDE, SIDE), align_corners=False))
        views.append(graph.node("GridSample", [flat, grid], mode="bilinear", padding_mode="zeros"))
    all_views = graph.node("Concat", views, axis=1)
    return graph.node("Reshape", [all_views, graph.shape("pictures", [-1, 1, SIDE, SIDE])])


def build(model: Reader, turns: Sequence[float], temperature: float) -> onnx.ModelProto:
    """The graph of `model.Served`: `ink` float32 [N, 1, SIDE, SIDE] to `probabilities` float32 [N, labels]."""
    graph = Graph()
    x = looks(graph, "ink", turns)
    for block in model.body:
        if isinstance(block, Residual):
            y = graph.relu(graph.conv(x, block.first, block.norm1))
            y = graph.conv(y, block.second, block.norm2)
            x = graph.relu(graph.node("Add", [x, y]))
        else:
            x = graph.relu(graph.conv(x, block[0], block[1]))
    x = graph.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Flatten", [x], axis=1)
    weight = graph.weight("head_weight", model.head.weight)
    bias = graph.weight("head_bias", model.head.bias)
    x = graph.node("Gemm", [x, weight, bias], transB=1)
    n_labels = model.head.out_features
    x = graph.node("LogSoftmax", [x], axis=1)
    x = graph.node("Reshape", [x, graph.shape("by_look", [len(turns), -1, n_labels])])
    x = graph.node("ReduceMean", [x], axes=[0], keepdims=0)
    x = graph.node("Mul", [x, graph.weight("sharpness", torch.tensor(1 / temperature))])
    graph.node("Softmax", [x], axis=1, output="probabilities")
    ink = helper.make_tensor_value_info("ink", TensorProto.FLOAT, ["N", 1, SIDE, SIDE])
    out = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", n_labels])
    whole = helper.make_graph(graph.nodes, "reader", [ink], [out], graph.weights)
    proto = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="akhar")
    proto.ir_version = 8
    onnx.checker.check_model(proto, full_check=True)
    return proto


def verify(proto: onnx.ModelProto, model: Reader, turns: Sequence[float], temperature: float) -> None:
    """Raises unless ONNX Runtime gives the network's probabilities to 1e-4 on seven random squares."""
    import onnxruntime

    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    x = torch.rand(7, 1, SIDE, SIDE, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = Served(model, turns, temperature).eval()(x).numpy()
    difference = np.abs(session.run(None, {"ink": x.numpy()})[0] - expected).max()
    if difference >= 1e-4:
        raise ValueError(f"the exported graph differs from the network by {difference}")


def main(
    checkpoint: Path, model: str, models_dir: Path = MODELS, onnx: Path | None = None, temperature: float = 1.0
) -> None:
    """Exports a checkpoint: the file `onnx` alone, or else the model with its manifest."""
    reader = Reader(len(SETS[model]))
    reader.load_state_dict(torch.load(checkpoint, weights_only=True))
    reader.eval()
    turns = TURNS[model]
    proto = build(reader, turns, temperature)
    verify(proto, reader, turns, temperature)
    content = proto.SerializeToString()
    print(f"{model}: {len(content)} bytes")
    if onnx:
        replace(onnx, content)
    else:
        installed(models_dir, model, {"model": content})


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
