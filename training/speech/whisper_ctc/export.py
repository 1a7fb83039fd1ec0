"""Exports a checkpoint as ONNX: Whisper's log-mel features in, log-probabilities of Gurmukhi units out.

    python -m speech.whisper_ctc.export --checkpoint WORK/full.pt --out WORK/export

    features  float32 [1, 80, frames]       10 ms a frame, at most 3000 of them
    logprobs  float32 [1, out_frames, 65]   20 ms a frame; `vocab.txt` names the units, the blank is last

An utterance runs alone. Attention is ONNX Runtime's operator MultiHeadAttention, which without a mask keeps no matrix
of frames by frames in memory. model.half.onnx holds float16 weights and computes in float32. model.int8.onnx, which is
shipped, has int8 matrices, and its matrix products are those of 8-bit integers.
"""

from pathlib import Path
from typing import Any

import onnx
import torch
import tyro
from exporting import difference, exported, quantised
from torch import Tensor, nn

from ..network.export import HALF, WHOLE, laid_out
from ..sounds.features import MELS
from ..texts import units
from .encoder import attended
from .model import Recogniser, loaded

INT8 = "model.int8.onnx"
PADDING_S = 0.5  # silence before and behind each window
LENGTHS = (13, 77, 90, 301, 999, 2400)  # frames of the utterances that are compared


class Fused(torch.autograd.Function):
    """`attended` without a mask, which becomes one operator of ONNX Runtime."""

    @staticmethod
    def forward(_: Any, q: Tensor, k: Tensor, v: Tensor, heads: int) -> Tensor:
        """The arguments are those of `attended`."""
        return attended(q, k, v, None, heads)

    @staticmethod
    def symbolic(graph: Any, q: Any, k: Any, v: Any, heads: int) -> Any:
        """Add the operator to an ONNX graph."""
        return graph.op("com.microsoft::MultiHeadAttention", q, k, v, num_heads_i=heads).setType(q.type())


def _fused(q: Tensor, k: Tensor, v: Tensor, _: Tensor | None, heads: int) -> Tensor:
    return Fused.apply(q, k, v, heads)


class Alone(nn.Module):
    """The network on one utterance of any length."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, features: Tensor) -> Tensor:
        """features: (1, 80, T)."""
        return self.net(features, torch.ones_like(features[:, 0]).sum(1).long())


def graph(net: Recogniser) -> onnx.ModelProto:
    """Return the network as ONNX, with any number of frames."""
    own = [layer.attention.attend for layer in net.encoder.layers]
    for layer in net.encoder.layers:
        layer.attention.attend = _fused
    sizes = {"features": {2: "frames"}, "logprobs": {1: "out_frames"}}
    opsets = {"com.microsoft": 1}
    model = exported(Alone(net), {"features": torch.randn(1, MELS, 203)}, ["logprobs"], sizes, custom_opsets=opsets)
    for layer, attend in zip(net.encoder.layers, own, strict=True):
        layer.attention.attend = attend
    return model


CONFIG = {"model_type": "whisper-ctc", "features_size": MELS, "subsampling_factor": 2, "padding_s": PADDING_S}


def main(checkpoint: Path, out: Path) -> None:
    """Export, and print the sizes and the differences from torch."""
    torch.set_num_threads(1)
    net = loaded(checkpoint, 0).eval()
    model = graph(net)
    laid_out(out, model, units.vocabulary("pa"), CONFIG)
    onnx.save(quantised(model), str(out / INT8))
    random = torch.Generator().manual_seed(0)
    examples = [{"features": torch.randn(1, MELS, frames, generator=random) / 2} for frames in LENGTHS]
    for name in (WHOLE, HALF, INT8):
        apart = difference(Alone(net), out / name, examples)
        print(f"{name}: {(out / name).stat().st_size} bytes, from torch {apart:.1e}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
