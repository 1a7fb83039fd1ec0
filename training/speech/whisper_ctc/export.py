"""Exports a checkpoint as ONNX: Whisper's log-mel features in, log-probabilities of Gurmukhi units out.

    python -m speech.whisper_ctc.export --checkpoint WORK/full.pt --out WORK/export

    features  float32 [batch, 80, frames]       10 ms a frame, padded with zeros
    length    int64 [batch]                     frames of each
    logprobs  float32 [batch, out_frames, 65]   20 ms a frame; `vocab.txt` names the units, the blank is last

model.half.onnx holds float16 weights and computes in float32; model.int8.onnx has int8 weights in its matrix products.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

from .. import units
from ..export import OPSET, halved, quantised
from .encoder import out_length
from .log_mel import MELS
from .model import Recogniser, loaded

SHAPES = ([90], [301, 77], [1000, 640, 13, 999], [2400])  # lengths of the batches that are compared


def exported(net: Recogniser, path: Path) -> None:
    """Write the network as ONNX, with any batch size and any number of frames, and check the file."""
    example = (torch.randn(2, MELS, 203), torch.tensor([203, 150]))
    torch.onnx.export(
        net,
        example,
        str(path),
        dynamo=False,
        opset_version=OPSET,
        input_names=["features", "length"],
        output_names=["logprobs"],
        dynamic_axes={
            "features": {0: "batch", 2: "frames"},
            "length": {0: "batch"},
            "logprobs": {0: "batch", 1: "out_frames"},
        },
    )
    onnx.checker.check_model(onnx.load(str(path)), full_check=True)


@torch.no_grad()
def compare(net: Recogniser, path: Path) -> tuple[float, float]:
    """Return the largest difference from torch over batches of several sizes, and the largest that padding makes."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    difference = padding = 0.0
    for frames in SHAPES:
        signal = rng.normal(0, 0.5, (len(frames), MELS, max(frames))).astype(np.float32)
        lengths = np.array(frames, np.int64)
        out = session.run(None, {"features": signal, "length": lengths})[0]
        ours = net(torch.from_numpy(signal), torch.from_numpy(lengths)).numpy()
        for k, n in enumerate(frames):
            inside = out_length(n)
            difference = max(difference, float(np.abs(ours[k, :inside] - out[k, :inside]).max()))
            alone = session.run(None, {"features": signal[k : k + 1, :, :n], "length": lengths[k : k + 1]})[0]
            padding = max(padding, float(np.abs(alone[0] - out[k, :inside]).max()))
    return difference, padding


def main() -> None:
    """Export, and print the sizes and the differences from torch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    net, path = loaded(arguments.checkpoint, 0).eval(), folder / "model.onnx"
    exported(net, path)
    halved(path, folder / "model.half.onnx")
    quantised(path, folder / "model.int8.onnx")
    (folder / "vocab.txt").write_text("".join(f"{unit} {k}\n" for k, unit in enumerate(units.vocabulary("pa"))))
    (folder / "config.json").write_text(
        json.dumps({"model_type": "whisper-ctc", "features_size": MELS, "subsampling_factor": 2}) + "\n"
    )
    difference, padding = compare(net, path)
    sizes = {one.name: one.stat().st_size for one in sorted(folder.glob("*.onnx"))}
    print(f"{sizes}, from torch {difference:.1e}, by padding {padding:.1e}")


if __name__ == "__main__":
    main()
