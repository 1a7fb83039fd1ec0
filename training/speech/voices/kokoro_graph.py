"""Changes of Kokoro's ONNX graph: float32 instead of int8 arithmetic, and other outputs."""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

INT32, FLOAT = onnx.TensorProto.INT32, onnx.TensorProto.FLOAT


def _widened_weight(node: onnx.NodeProto, stored: dict[str, onnx.TensorProto]) -> onnx.TensorProto:
    """Return the float32 weight of a ConvInteger or MatMulInteger node, its zero point subtracted."""
    name = node.input[1]
    values = numpy_helper.to_array(stored[name]).astype(np.float32)
    if len(node.input) > 3 and node.input[3]:
        zero = numpy_helper.to_array(stored[node.input[3]]).astype(np.float32)
        whole = node.op_type == "MatMulInteger" or zero.size == 1
        values -= zero if whole else zero.reshape(-1, *[1] * (values.ndim - 1))
    return numpy_helper.from_array(values, name + "_wide")


def widened(model: onnx.ModelProto) -> onnx.ModelProto:
    """Remove the int8 arithmetic, in place: dynamic quantisation becomes identity, int8 weights become float32."""
    graph = model.graph
    stored = {one.name: one for one in graph.initializer}
    made: dict[str, onnx.TensorProto] = {}
    one = numpy_helper.from_array(np.array(1, np.float32), "one_wide")
    nodes = []
    for node in graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            nodes.append(helper.make_node("Identity", [node.input[0]], [node.output[0]]))
            nodes.append(helper.make_node("Identity", [one.name], [node.output[1]]))
            continue
        if node.op_type in ("ConvInteger", "MatMulInteger"):
            if node.input[1] not in made:
                made[node.input[1]] = _widened_weight(node, stored)
            kind = "MatMul" if node.op_type == "MatMulInteger" else "Conv"
            wide = helper.make_node(kind, [node.input[0], made[node.input[1]].name], list(node.output))
            wide.attribute.extend(node.attribute)
            nodes.append(wide)
            continue
        if node.op_type == "Cast" and "quantized" in node.output[0]:  # a bias that was cast to int32
            for attribute in node.attribute:
                if attribute.name == "to" and attribute.i == INT32:
                    attribute.i = FLOAT
        if node.op_type == "Floor" and "bias_quant" in node.output[0]:
            node.op_type = "Identity"
        nodes.append(node)
    used = {name for node in nodes for name in node.input}
    kept = [initial for initial in graph.initializer if initial.name in used]
    for name, values in {"node": nodes, "initializer": [*kept, *made.values(), one], "value_info": []}.items():
        graph.ClearField(name)
        getattr(graph, name).extend(values)
    return model


def cut(model: onnx.ModelProto, outputs: Sequence[str]) -> onnx.ModelProto:
    """Give the network these outputs and remove what they do not need, in place."""
    wanted, kept = set(outputs), []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            kept.append(node)
            wanted |= set(node.input)
    stored = [one for one in model.graph.initializer if one.name in wanted]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    for name, values in {"node": kept[::-1], "output": results, "initializer": stored}.items():
        model.graph.ClearField(name)
        getattr(model.graph, name).extend(values)
    return model
