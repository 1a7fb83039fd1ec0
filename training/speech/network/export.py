"""Exports a checkpoint in the layout of NeMo's CTC exports: model.onnx, vocab.txt, config.json.

    python -m speech.network.export --language pa --checkpoint pa.pt --out DIR

It also writes the same network with float16 weights and float32 arithmetic: model.half.onnx.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import onnx
import torch
import tyro
from exporting import exported, halved
from torch import nn

from ..data.lengths import SUBSAMPLING, out_length
from ..sounds import features
from ..texts import units
from . import checkpoint

WHOLE, HALF = "model.onnx", "model.half.onnx"


def laid_out(folder: Path, model: onnx.ModelProto, vocabulary: Sequence[str], config: Mapping[str, Any]) -> None:
    """Write a model, also with float16 weights, and beside it vocab.txt and config.json, which the service reads."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / WHOLE))
    onnx.save(halved(model), str(folder / HALF))
    (folder / "vocab.txt").write_text("".join(f"{unit} {k}\n" for k, unit in enumerate(vocabulary)))
    (folder / "config.json").write_text(json.dumps(config) + "\n")


def compare(net: nn.Module, path: Path) -> tuple[float, float]:
    """Return the largest difference from torch over batches of several sizes, and the largest that padding makes.

    Raises RuntimeError where the number of output frames is wrong.
    """
    import onnxruntime  # only this comparison needs it

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    difference = padding = 0.0
    for frames in ([90], [301, 77], [1000, 640, 13, 999], [2400]):
        signal = rng.normal(size=(len(frames), features.MELS, max(frames))).astype(np.float32)
        lengths = np.array(frames, np.int64)
        out = session.run(None, {"audio_signal": signal, "length": lengths})[0]
        with torch.no_grad():
            ours = net(torch.from_numpy(signal), torch.from_numpy(lengths)).numpy()
        difference = max(difference, float(np.abs(ours - out).max()))
        for k, n in enumerate(frames):
            alone = session.run(None, {"audio_signal": signal[k : k + 1, :, :n], "length": lengths[k : k + 1]})[0]
            if alone.shape[1] != out_length(n):
                raise RuntimeError(f"{n} frames gave {alone.shape[1]}")
            padding = max(padding, float(np.abs(alone[0] - out[k, : alone.shape[1]]).max()))
    return difference, padding


def main(language: Literal["pa", "en"], source: Annotated[Path, tyro.conf.arg(name="checkpoint")], out: Path) -> None:
    """Export the averaged weights of a checkpoint, and print the size and the differences from torch."""
    net = checkpoint.network(source)
    example = {"audio_signal": torch.randn(2, features.MELS, 203), "length": torch.tensor([203, 150])}
    sizes = {"audio_signal": {0: "batch", 2: "frames"}, "length": {0: "batch"}}
    model = exported(net, example, ["logprobs"], sizes | {"logprobs": {0: "batch", 1: "out_frames"}})
    for_sherpa = {"model_type": "EncDecCTCModel", "normalize_type": "per_feature"}  # what sherpa-onnx reads
    for_sherpa |= {"vocab_size": str(units.blank(language)), "subsampling_factor": str(SUBSAMPLING)}
    onnx.helper.set_model_props(model, for_sherpa)
    config = {"model_type": "nemo-conformer-ctc", "features_size": features.MELS, "subsampling_factor": SUBSAMPLING}
    laid_out(out, model, units.vocabulary(language), config | {"global_cmvn": features.global_cmvn()})
    difference, padding = compare(net, out / WHOLE)
    again, _ = compare(checkpoint.network(out / HALF), out / HALF)
    print(
        f"{(out / WHOLE).stat().st_size} bytes, {sum(p.numel() for p in net.parameters())} parameters; "
        f"from torch {difference:.1e}, by padding {padding:.1e}, {HALF} read back {again:.1e}"
    )


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
