"""The shipped ONNX files read back into M2M100 of transformers, in single precision."""

from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from quantising import SCALES
from tokenizers import Tokenizer
from transformers import M2M100ForConditionalGeneration

from .graph import SHARED
from .manifest import MODEL
from .model import network


def arrays(path: str | Path) -> dict[str, torch.Tensor]:
    """The weights of an ONNX file by name. Those of int8 are multiplied by their scales."""
    stored = onnx.load(path).graph.initializer
    found = {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in stored}
    for name in [name for name in found if name.endswith(SCALES)]:
        scales, matrix = found.pop(name), name.removesuffix(SCALES)
        found[matrix] = found[matrix] * (scales[:, None] if matrix == SHARED else scales)
    return found


def restored(folder: str | Path) -> M2M100ForConditionalGeneration:
    """The network, in single precision, of the encoder and decoder in `folder`."""
    kept = {
        name: value
        for part in ("decoder", "encoder")
        for name, value in arrays(f"{folder}/{MODEL}.{part}.onnx").items()
        if name.startswith("model.")
    }
    net = network(kept[SHARED].shape[0])
    state = {
        name.removesuffix("_t"): (value.T if name.endswith("_t") else value).float() for name, value in kept.items()
    }
    for tied in ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"):
        state[tied] = state[SHARED]
    net.load_state_dict(state, strict=True)
    return net.eval()


def tokeniser(folder: str | Path) -> Tokenizer:
    """The tokeniser in `folder`."""
    return Tokenizer.from_file(f"{folder}/{MODEL}.tokenizer.json")
