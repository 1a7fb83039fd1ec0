"""A torch checkpoint in; the ONNX file out, with its digest in the manifest."""

from pathlib import Path

import numpy as np
import torch
import tyro
from exporting import exported
from manifests import MODELS, installed, replace

from .labels import SETS
from .model import SIDE, TURNS, Reader, Served


def verify(content: bytes, net: Served) -> None:
    """Raises unless ONNX Runtime gives the network's probabilities to 1e-4 on seven random squares."""
    import onnxruntime

    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    x = torch.rand(7, 1, SIDE, SIDE, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = net(x).numpy()
    difference = np.abs(session.run(None, {"ink": x.numpy()})[0] - expected).max()
    if difference >= 1e-4:
        raise ValueError(f"the exported graph differs from the network by {difference}")


def main(
    checkpoint: Path, model: str, models_dir: Path = MODELS, onnx: Path | None = None, temperature: float = 1.0
) -> None:
    """Exports a checkpoint: the file `onnx` alone, or else the model with its manifest."""
    reader = Reader(len(SETS[model]))
    reader.load_state_dict(torch.load(checkpoint, weights_only=True))
    net = Served(reader, TURNS[model], temperature)
    sizes = {"ink": {0: "N"}, "probabilities": {0: "N"}}
    content = exported(net, {"ink": torch.rand(2, 1, SIDE, SIDE)}, ["probabilities"], sizes).SerializeToString()
    verify(content, net)
    print(f"{model}: {len(content)} bytes")
    if onnx:
        replace(onnx, content)
    else:
        installed(models_dir, model, {"model": content})


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
