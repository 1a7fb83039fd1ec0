"""Arrays in; the ONNX file and, right after it, the manifest out.

The file's graph: points = base[glyph] + (style loads[glyph] + variation loads[glyph]) x cosines.
"""

import hashlib
from pathlib import Path

import numpy as np
import onnx
from manifests import replace, toml
from onnx import TensorProto, helper, numpy_helper

from . import glyphs
from .glyphs import POINTS, STROKES

STYLE, VARIATION, MODES = 16, 24, 20
MODEL = "handwriting-pa"


def cosines(points=POINTS, modes=MODES):
    """(modes, points), orthonormal rows: smooth displacements along a stroke."""
    at = (np.arange(points) + 0.5) / points
    rows = np.cos(np.pi * np.arange(modes)[:, None] * at) * np.sqrt(2 / points)
    rows[0] /= np.sqrt(2)
    return rows


def graph(arrays):
    """`arrays`: base (g, s, p, 2), head (g, 2, 2), present (g, s); style (g, 16, s, 2, modes),
    variation (g, 24, s, 2, modes); style_head (g, 16, 4), variation_head (g, 24, 4).
    """
    n_glyphs = len(arrays["base"])
    flat = {
        "base": arrays["base"].transpose(0, 1, 3, 2).reshape(n_glyphs, STROKES, 2, POINTS),
        "spans": arrays["head"].reshape(n_glyphs, 4),
        "style_loads": arrays["style"].reshape(n_glyphs, STYLE, -1),
        "variation_loads": arrays["variation"].reshape(n_glyphs, VARIATION, -1),
        "style_spans": arrays["style_head"],
        "variation_spans": arrays["variation_head"],
        "cosines": cosines(),
    }
    flat["style_loads"] = np.concatenate([flat["style_loads"], flat.pop("style_spans")], 2)
    flat["variation_loads"] = np.concatenate([flat["variation_loads"], flat.pop("variation_spans")], 2)
    constants = [numpy_helper.from_array(np.ascontiguousarray(v, np.float32), k) for k, v in flat.items()]
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
    constants += [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in shapes.items()]
    constants.append(numpy_helper.from_array(np.asarray(arrays["present"], bool), "strokes"))
    constants.append(numpy_helper.from_array(np.float32(STYLE * 6.0), "reach"))

    def op(kind, inputs, output, **attributes):
        return helper.make_node(kind, inputs, [output], **attributes)

    nodes = [
        # A style far from the drawers is drawn in towards them: s / sqrt(1 + |s|^2 / reach).
        op("Mul", ["style", "style"], "squares"),
        op("ReduceSum", ["squares", "one"], "norm"),
        op("Div", ["norm", "reach"], "share"),
        op("Add", ["share", "unit"], "more"),
        op("Sqrt", ["more"], "length"),
        op("Div", ["style", "length"], "near"),
        op("Reshape", ["near", "row"], "hand"),
        op("Unsqueeze", ["variation", "one"], "drawing"),
        op("Gather", ["style_loads", "glyph"], "style_of"),
        op("Gather", ["variation_loads", "glyph"], "variation_of"),
        op("MatMul", ["hand", "style_of"], "by_hand"),
        op("MatMul", ["drawing", "variation_of"], "by_drawing"),
        op("Add", ["by_hand", "by_drawing"], "both"),
        op("Slice", ["both", "zero", "cut", "last"], "moved_modes"),
        op("Slice", ["both", "cut", "far", "last"], "moved_spans"),
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
    constants.append(numpy_helper.from_array(np.float32(1.0), "unit"))

    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    made = helper.make_graph(
        nodes,
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
        constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], producer_name="akhar")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def manifest(digest, metrics):
    head = {
        "id": MODEL,
        "operation": "handwriting-generator",
        "layout": "glyph-strokes",
        "licence": "MIT OR Apache-2.0",
        "source": "training/handwriting",
        "glyphs": [glyph.text for glyph in glyphs.table()],
    }
    return toml(head, {"model": (f"weights/{MODEL}.onnx", digest)}, metrics)


def write(arrays, folder: Path, metrics=None):
    """`folder`: the one of the manifests."""
    content = graph(arrays).SerializeToString()
    replace(folder / f"weights/{MODEL}.onnx", content)
    replace(folder / f"{MODEL}.toml", manifest(hashlib.sha256(content).hexdigest(), metrics or {}).encode())
    return len(content)
