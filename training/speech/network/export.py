"""Exports a checkpoint in the layout of NeMo's CTC exports: model.onnx, vocab.txt, config.json.

    python -m speech.network.export --language pa --checkpoint pa.pt --out DIR

It also writes the same network with float16 weights and float32 arithmetic: model.half.onnx.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import onnx
import torch
import tyro
from exporting import difference, exported, halved
from torch import Tensor

from ..data.lengths import SUBSAMPLING
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


def examples() -> Iterator[dict[str, Tensor]]:
    """Yield batches of several sizes; rows that are alone and rows that are padded."""
    random = torch.Generator().manual_seed(0)
    for frames in ([90], [301, 77], [1000, 640, 13, 999], [2400]):
        signal = torch.randn(len(frames), features.MELS, max(frames), generator=random)
        yield {"audio_signal": signal, "length": torch.tensor(frames)}


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
    print(sum(p.numel() for p in net.parameters()), "parameters")
    for name in (WHOLE, HALF):
        print(f"{name}: {(out / name).stat().st_size} bytes, from torch {difference(net, out / name, examples()):.1e}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
