"""Networks of PyTorch in; ONNX files out."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn

OPSET = 17


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
