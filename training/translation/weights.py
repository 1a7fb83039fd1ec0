"""The shipped files read back into transformers' M2M100: the reference for tokens and text."""

import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer

from .model import network


def arrays(path):
    return {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in onnx.load(path).graph.initializer}


def restored(folder, model_id="translation-pa-en"):
    """The network, in single precision, of `<model_id>.encoder.onnx` and `.decoder.onnx` in `folder`."""
    kept = {
        name: value
        for part in ("decoder", "encoder")
        for name, value in arrays(f"{folder}/{model_id}.{part}.onnx").items()
        if name.startswith("model.")
    }
    net = network(kept["model.shared.weight"].shape[0])
    state = {
        name.removesuffix("_t"): (value.T if name.endswith("_t") else value).float() for name, value in kept.items()
    }
    for tied in ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"):
        state[tied] = state["model.shared.weight"]
    net.load_state_dict(state, strict=True)
    return net.eval()


def tokeniser(folder, model_id="translation-pa-en"):
    return Tokenizer.from_file(f"{folder}/{model_id}.tokenizer.json")
