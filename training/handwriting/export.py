"""Arrays in; the ONNX file out, with its digest in the manifest.

The file's graph: points = base[glyph] + (style loads[glyph] + variation loads[glyph]) x cosines.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from manifests import installed
from onnx import TensorProto, helper, numpy_helper

from .basis import COSINES, MODES, STYLE, VARIATION
from .glyphs import MODEL, POINTS, STROKES
from .model import Arrays

REACH = STYLE * 6.0  # the square of a style's length at which it is shortened by the square root of 2


def constants(arrays: Arrays) -> list[onnx.TensorProto]:
    """The file's weights, float32, with the loads of spans behind those of strokes; and the shapes that nodes take."""
    n = len(arrays["base"])
    style = [arrays["style"].reshape(n, STYLE, -1), arrays["style_head"]]
    variation = [arrays["variation"].reshape(n, VARIATION, -1), arrays["variation_head"]]
    floats = {
        "base": arrays["base"].transpose(0, 1, 3, 2).reshape(n, STROKES, 2, POINTS),
        "spans": arrays["head"].reshape(n, 4),
        "style_loads": np.concatenate(style, 2),
        "variation_loads": np.concatenate(variation, 2),
        "cosines": COSINES,
    }
    shapes = {
        "one": [1],
        "modes_shape": [-1, STROKES, 2, MODES],
        "spans_shape": [-1, 2, 2],
        "zero": [0],
        "cut": [STROKES * 2 * MODES],
        "far": [STROKES * 2 * MODES + 4],
        "last": [2],
        "row": [1, 1, STYLE],
    }
    return [
        *[numpy_helper.from_array(np.ascontiguousarray(v, np.float32), k) for k, v in floats.items()],
        *[numpy_helper.from_array(np.array(v, np.int64), k) for k, v in shapes.items()],
        numpy_helper.from_array(np.asarray(arrays["present"], bool), "strokes"),
        numpy_helper.from_array(np.float32(REACH), "reach"),
        numpy_helper.from_array(np.float32(1.0), "unit"),
    ]


def nodes() -> list[onnx.NodeProto]:
    """The graph's nodes; g is a glyph asked for."""

    def op(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> onnx.NodeProto:
        return helper.make_node(kind, inputs, [output], **attributes)

    return [
        # A style far from the drawers' is made shorter: s / sqrt(1 + |s|^2 / reach).
        op("Mul", ["style", "style"], "squares"),
        op("ReduceSum", ["squares", "one"], "norm"),
        op("Div", ["norm", "reach"], "share"),
        op("Add", ["share", "unit"], "more"),
        op("Sqrt", ["more"], "length"),
        op("Div", ["style", "length"], "near"),
        op("Reshape", ["near", "row"], "hand"),
        op("Unsqueeze", ["variation", "one"], "drawing"),
        # [g, 1, modes of all strokes and 4 of the spans]
        op("Gather", ["style_loads", "glyph"], "style_of"),
        op("Gather", ["variation_loads", "glyph"], "variation_of"),
        op("MatMul", ["hand", "style_of"], "by_hand"),
        op("MatMul", ["drawing", "variation_of"], "by_drawing"),
        op("Add", ["by_hand", "by_drawing"], "both"),
        op("Slice", ["both", "zero", "cut", "last"], "moved_modes"),
        op("Slice", ["both", "cut", "far", "last"], "moved_spans"),
        # [g, STROKES, 2, MODES] to [g, STROKES, 2, POINTS]
        op("Reshape", ["moved_modes", "modes_shape"], "by_mode"),
        op("MatMul", ["by_mode", "cosines"], "moved"),
        op("Gather", ["base", "glyph"], "at_rest"),
        op("Add", ["at_rest", "moved"], "drawn"),
        op("Transpose", ["drawn"], "points", perm=[0, 1, 3, 2]),
        op("Gather", ["strokes", "glyph"], "present"),
        op("Gather", ["spans", "glyph"], "spans_at_rest"),
        op("Squeeze", ["moved_spans", "one"], "spans_moved"),
        op("Add", ["spans_at_rest", "spans_moved"], "spans_flat"),
        op("Reshape", ["spans_flat", "spans_shape"], "head"),
    ]


def graph(arrays: Arrays) -> onnx.ModelProto:
    """The file. `glyph` int64 [n], `style` float32 [1, STYLE] and `variation` float32 [n, VARIATION] in.

    `points` float32 [n, STROKES, POINTS, 2] in body heights, `present` bool [n, STROKES] and `head` float32 [n, 2, 2],
    the ends x0, x1 of two headline spans, out. A stroke that is not present has no meaning, nor has a span with
    x0 >= x1.
    """

    def value(name: str, kind: int, shape: Sequence[int | str]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    made = helper.make_graph(
        nodes(),
        MODEL,
        [
            value("glyph", TensorProto.INT64, ["n"]),
            value("style", TensorProto.FLOAT, [1, STYLE]),
            value("variation", TensorProto.FLOAT, ["n", VARIATION]),
        ],
        [
            value("points", TensorProto.FLOAT, ["n", STROKES, POINTS, 2]),
            value("present", TensorProto.BOOL, ["n", STROKES]),
            value("head", TensorProto.FLOAT, ["n", 2, 2]),
        ],
        constants(arrays),
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], producer_name="akhar")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def write(arrays: Arrays, folder: Path) -> int:
    """Writes the ONNX file and its digest; `folder`: the manifests'. The file's size in bytes."""
    content: bytes = graph(arrays).SerializeToString()
    installed(folder, MODEL, {"model": content})
    return len(content)
