"""Arrays in; the ONNX file out, with its digest in the manifest."""

from pathlib import Path

import numpy as np
import onnx
import torch
from exporting import exported
from manifests import installed
from torch import Tensor, nn

from .basis import COSINES, MODES, STYLE, VARIATION
from .glyphs import MODEL, STROKES
from .model import Arrays

REACH = STYLE * 6.0  # the square of a style's length at which it is shortened by the square root of 2
CUT = STROKES * 2 * MODES  # of the loads: those of strokes, then those of spans


class Writer(nn.Module):
    """points = base[glyph] + (style loads[glyph] + variation loads[glyph]) x cosines, and spans likewise.

    Stored in float32 and computed in float64: processors add in different orders, and the differences are too small to
    survive the rounding of the outputs to float32. So the same inputs give the same strokes on every machine.
    """

    def __init__(self, arrays: Arrays) -> None:
        super().__init__()
        n = len(arrays["base"])
        buffers = {
            "base": arrays["base"].transpose(0, 1, 3, 2),
            "spans": arrays["head"].reshape(n, 4),
            "style_loads": np.concatenate([arrays["style"].reshape(n, STYLE, -1), arrays["style_head"]], 2),
            "variation_loads": np.concatenate(
                [arrays["variation"].reshape(n, VARIATION, -1), arrays["variation_head"]], 2
            ),
            "cosines": COSINES,
        }
        for name, values in buffers.items():
            self.register_buffer(name, torch.tensor(np.ascontiguousarray(values, np.float32)))
        self.register_buffer("strokes", torch.tensor(np.asarray(arrays["present"], bool)))

    def forward(self, glyph: Tensor, style: Tensor, variation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """`glyph` int64 [n], `style` float32 [1, STYLE] and `variation` float32 [n, VARIATION] in.

        `points` float32 [n, STROKES, POINTS, 2] in body heights, `present` bool [n, STROKES] and `head` float32
        [n, 2, 2], the ends x0, x1 of two headline spans, out. A stroke that is not present has no meaning, nor has a
        span with x0 >= x1.
        """
        # A style far from the drawers' is made shorter.
        wide = style.double()
        near = wide / torch.sqrt(1 + (wide * wide).sum(1, keepdim=True) / REACH)
        by_hand = near[None] @ self.style_loads[glyph].double()
        moved = by_hand + variation.double()[:, None] @ self.variation_loads[glyph].double()
        modes, spans = moved[:, 0, :CUT], moved[:, 0, CUT:]
        points = self.base[glyph].double() + modes.reshape(-1, STROKES, 2, MODES) @ self.cosines.double()
        head = (self.spans[glyph].double() + spans).reshape(-1, 2, 2)
        return points.transpose(2, 3).float(), self.strokes[glyph], head.float()


def graph(arrays: Arrays) -> onnx.ModelProto:
    """The file."""
    inputs = {"glyph": torch.arange(3), "style": torch.zeros(1, STYLE), "variation": torch.zeros(3, VARIATION)}
    outputs = ["points", "present", "head"]
    return exported(Writer(arrays), inputs, outputs, {name: {0: "n"} for name in ("glyph", "variation", *outputs)})


def write(arrays: Arrays, folder: Path) -> int:
    """Writes the ONNX file and its digest; `folder`: the manifests'. The file's size in bytes."""
    content: bytes = graph(arrays).SerializeToString()
    installed(folder, MODEL, {"model": content})
    return len(content)
