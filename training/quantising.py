"""Matrices of floats in; int8 values, and the nodes of ONNX graphs that multiply with them out.

Each column of a matrix has a scale, and each row of what is multiplied with it, which is rounded to 8 bits when the
graph runs. So a row's product does not depend on the other rows. A value of a matrix is at most LARGEST, which leaves a
bit of the eight unused: processors without VNNI add two products of an int8 and an unsigned 8-bit value in 16 bits, and
two products of 255 and 63 are the most that fit. So the products are the same on every processor.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGEST = 63
OPSET = 21  # the first whose QuantizeLinear takes a scale for each row
SCALES = ".scales"  # behind the name of an int8 matrix, the name of its scales
MIDDLE = 128  # stands for 0 where numbers are unsigned 8-bit integers
HIGHEST = 127  # the largest number that they stand for
TINY = 1e-9  # a scale above 0 for a row of zeros


class Graph(Protocol):
    """A graph that nodes can be added to. Both methods return the name of the result."""

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node of an operator."""

    def constant(self, value: float | Sequence[int], dtype: DTypeLike = ...) -> str:
        """Adds a constant."""


def int8(matrix: NDArray[np.floating[Any]]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return values [in, out] and scales [out], whose product is nearest to a matrix [in, out].

    A scale is a number that float16 has, so that it can be stored as one.
    """
    highest = np.abs(matrix).max(axis=0).astype(np.float32)
    scales = np.where(highest > 0, highest / LARGEST, 1).astype(np.float16).astype(np.float32)
    values = np.clip(np.rint(matrix / scales), -LARGEST, LARGEST).astype(np.int8)
    return values, scales


def rounded(graph: Graph, x: str, width: int) -> tuple[str, str]:
    """Numbers as unsigned 8-bit integers, and the scale of each row: [B, L, `width`] to that and [B, L, 1]."""
    highest = graph.op("ReduceMax", graph.op("Abs", x), graph.constant([-1], np.int64))
    scale = graph.op("Max", highest, graph.constant(TINY, np.float32))
    scale = graph.op("Mul", scale, graph.constant(1 / HIGHEST, np.float32))
    middle = graph.op("Expand", graph.constant(MIDDLE, np.uint8), graph.op("Shape", scale))
    return graph.op("QuantizeLinear", x, scale, middle, axis=-1, block_size=width), scale


def product(graph: Graph, rows: tuple[str, str], values: str, scales: str, **named: str) -> str:
    """The product of what `rounded` returned, [B, L, in], and an int8 matrix: [B, L, out]. `named` names its node."""
    one, middle = graph.constant(1, np.float32), graph.constant(MIDDLE, np.uint8)
    columns = graph.op("MatMulIntegerToFloat", rows[0], values, one, scales, middle, domain="com.microsoft", **named)
    return graph.op("Mul", columns, rows[1])
