"""Exports a checkpoint in the layout of NeMo's CTC exports: model.onnx, vocab.txt, config.json.

    python -m speech.network.export --language pa --checkpoint pa.pt --out DIR

It also writes the same network smaller: model.half.onnx (float16 weights, float32 arithmetic) and model.int8.onnx.
"""

import json
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import onnx
import torch
import tyro
from torch import nn

from ..data.lengths import SUBSAMPLING, out_length
from ..sounds import features
from ..texts import units
from . import checkpoint, model

OPSET = 17
FILES = ("model.onnx", "model.half.onnx", "model.int8.onnx")


def exported(net: nn.Module, path: Path) -> None:
    """Write the network as ONNX, with any batch size and any number of frames, and check the file."""
    signal, lengths = torch.randn(2, features.MELS, 203), torch.tensor([203, 150])
    torch.onnx.export(
        net,
        (signal, lengths),
        str(path),
        dynamo=False,
        opset_version=OPSET,
        input_names=["audio_signal", "length"],
        output_names=["logprobs"],
        dynamic_axes={
            "audio_signal": {0: "batch", 2: "frames"},
            "length": {0: "batch"},
            "logprobs": {0: "batch", 1: "out_frames"},
        },
    )
    onnx.checker.check_model(onnx.load(str(path)), full_check=True)


def compare(net: nn.Module, path: Path) -> tuple[float, float]:
    """Return the largest difference from torch over batches of several sizes, and the largest that padding makes.

    Raises RuntimeError where the number of output frames is wrong.
    """
    import onnxruntime  # only this comparison and `quantised` need it

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    difference = padding = 0.0
    for frames in ([90], [301, 77], [1000, 640, 13, 999], [2400]):
        signal = rng.normal(size=(len(frames), features.MELS, max(frames))).astype(np.float32)
        lengths = np.array(frames, np.int64)
        out = session.run(None, {"audio_signal": signal, "length": lengths})[0]
        with torch.no_grad():
            difference = max(
                difference, float(np.abs(net(torch.from_numpy(signal), torch.from_numpy(lengths)).numpy() - out).max())
            )
        for k, n in enumerate(frames):
            alone = session.run(None, {"audio_signal": signal[k : k + 1, :, :n], "length": lengths[k : k + 1]})[0]
            if alone.shape[1] != out_length(n):
                raise RuntimeError(f"{n} frames gave {alone.shape[1]}")
            padding = max(padding, float(np.abs(alone[0] - out[k, : alone.shape[1]]).max()))
    return difference, padding


def quantised(path: Path, out: Path) -> None:
    """Write the network with int8 weights in its matrix products; activations are quantised at run time."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        str(path), str(out), weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"], per_channel=True
    )


def halved(path: Path, out: Path) -> None:
    """Write the network with float16 weights, which become float32 when the file is loaded: half the bytes."""
    graph = onnx.load(str(path))
    kept, casts = [], []
    for tensor in graph.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.size > 256:
            small = onnx.numpy_helper.from_array(values.astype(np.float16), tensor.name + ".half")
            casts.append(onnx.helper.make_node("Cast", [small.name], [tensor.name], to=onnx.TensorProto.FLOAT))
            tensor = small
        kept.append(tensor)
    del graph.graph.initializer[:]
    graph.graph.initializer.extend(kept)
    nodes = casts + list(graph.graph.node)
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)
    onnx.checker.check_model(graph)
    onnx.save(graph, str(out))


def described(path: Path, language: str) -> None:
    """Write the metadata that sherpa-onnx reads from a NeMo CTC file into it."""
    graph = onnx.load(str(path))
    onnx.helper.set_model_props(
        graph,
        {
            "model_type": "EncDecCTCModel",
            "normalize_type": "per_feature",
            "vocab_size": str(units.blank(language)),
            "subsampling_factor": str(SUBSAMPLING),
        },
    )
    onnx.save(graph, str(path))


def write(language: str, source: str | Path, folder: str | Path) -> model.Acoustic:
    """Export the checkpoint `source`, its averaged weights, to `folder`; returns the network."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    net = checkpoint.network(source)
    exported(net, folder / "model.onnx")
    quantised(folder / "model.onnx", folder / "model.int8.onnx")
    halved(folder / "model.onnx", folder / "model.half.onnx")
    for name in FILES:
        described(folder / name, language)
    (folder / "vocab.txt").write_text("".join(f"{unit} {k}\n" for k, unit in enumerate(units.vocabulary(language))))
    (folder / "config.json").write_text(
        json.dumps(
            {
                "model_type": "nemo-conformer-ctc",
                "features_size": features.MELS,
                "subsampling_factor": SUBSAMPLING,
                "global_cmvn": features.global_cmvn(),
            }
        )
        + "\n"
    )
    return net


def main(language: Literal["pa", "en"], source: Annotated[Path, tyro.conf.arg(name="checkpoint")], out: Path) -> None:
    """Export, and print the sizes and the differences from torch."""
    net = write(language, source, out)
    path, half = (out / name for name in FILES[:2])
    difference, padding = compare(net, path)
    again, _ = compare(checkpoint.network(half), half)
    print(
        f"{path.stat().st_size} bytes, {sum(p.numel() for p in net.parameters())} parameters; "
        f"from torch {difference:.1e}, by padding {padding:.1e}, {half.name} read back {again:.1e}"
    )


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
