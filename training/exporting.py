"""Networks of PyTorch in; ONNX files out."""

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import quantising
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor, nn

OPSET = 17
CONSTANT = "constant."  # begins the names of constants that `quantised` adds


def exported(
    net: nn.Module,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    sizes: Mapping[str, dict[int, str]],
    **more: Any,
) -> onnx.ModelProto:
    """Return a network in evaluation mode as a checked model.

    `inputs`: an example of each; `sizes`: the names of the dimensions that may vary, by input or output; `more`: other
    options of `torch.onnx.export`.
    """
    file = io.BytesIO()
    given = tuple(inputs.values())
    names = {"input_names": list(inputs), "output_names": list(outputs), "dynamic_axes": dict(sizes)}
    torch.onnx.export(net.eval(), given, file, dynamo=False, opset_version=OPSET, **names, **more)
    model = onnx.load_from_string(file.getvalue())
    onnx.checker.check_model(model)
    return model


@torch.no_grad()
def difference(net: nn.Module, path: Path, examples: Iterable[Mapping[str, Tensor]]) -> float:
    """Return the largest difference of the first output between a network and its file in ONNX Runtime.

    `examples`: the inputs by name, in the order in which the network takes them.
    """
    import onnxruntime  # only this comparison needs it

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    apart = 0.0
    for example in examples:
        found = session.run(None, {name: value.numpy() for name, value in example.items()})[0]
        apart = max(apart, float(np.abs(net(*example.values()).numpy() - found).max()))
    return apart


def halved(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with float16 weights, which become float32 when the file is loaded: half the bytes."""
    kept, casts = [], []
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.size > 256:
            small = onnx.numpy_helper.from_array(values.astype(np.float16), tensor.name + ".half")
            casts.append(onnx.helper.make_node("Cast", [small.name], [tensor.name], to=onnx.TensorProto.FLOAT))
            tensor = small
        kept.append(tensor)
    made = onnx.ModelProto.FromString(model.SerializeToString())
    del made.graph.initializer[:], made.graph.node[:]
    made.graph.initializer.extend(kept)
    made.graph.node.extend([*casts, *model.graph.node])
    onnx.checker.check_model(made)
    return made


class Nodes:
    """Nodes, and the initialisers that they need, to be added to a graph. Their results begin with `prefix`."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: dict[str, onnx.TensorProto] = {}
        self.prefix = ""

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node of an operator; returns the name of its result."""
        result = f"{self.prefix}.{kind}"
        while any(result in node.output for node in self.nodes):
            result += "_"
        self.nodes.append(onnx.helper.make_node(kind, inputs, [result], **attributes))
        return result

    def constant(self, value: float | Sequence[int], dtype: DTypeLike = np.int64) -> str:
        """Adds a constant, once for each value; returns its name."""
        name = f"{CONSTANT}{np.dtype(dtype)}.{value}"
        return self.initialiser(name, np.asarray(value, dtype))

    def initialiser(self, name: str, array: NDArray[Any]) -> str:
        """Adds an initialiser; returns its name."""
        self.initialisers[name] = onnx.numpy_helper.from_array(array, name)
        return name


def quantised(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a float32 model with int8 matrices in its matrix products; its other weights become float16.

    What is multiplied must have three dimensions. The nodes of the products keep their names.
    """
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    made, added = onnx.ModelProto.FromString(model.SerializeToString()), Nodes()
    for node in model.graph.node:
        if node.op_type != "MatMul" or node.input[1] not in stored:
            added.nodes.append(node)
            continue
        added.prefix, (x, matrix) = node.output[0], node.input
        values, scales = quantising.int8(stored.pop(matrix))
        names = added.initialiser(matrix, values), added.initialiser(matrix + quantising.SCALES, scales)
        quantising.product(added, quantising.rounded(added, x, len(values)), *names, name=node.name)
        added.nodes[-1].output[0] = node.output[0]
    kept = [one for one in model.graph.initializer if one.name in stored]
    del made.graph.node[:], made.graph.initializer[:], made.opset_import[:]
    made.graph.node.extend(added.nodes)
    made.graph.initializer.extend([*kept, *added.initialisers.values()])
    opsets = {"": quantising.OPSET, "com.microsoft": 1}
    made.opset_import.extend(onnx.helper.make_opsetid(*one) for one in opsets.items())
    made.ir_version = 10
    return halved(made)
