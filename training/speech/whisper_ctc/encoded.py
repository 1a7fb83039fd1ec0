"""Writes the outputs of the frozen part of the encoder to disk, so that the layers above it can be trained many times.

    python -m speech.whisper_ctc.encoded --layer 6 --shards WORK/train

Beside each NAME.mel it writes NAME.layerL: float16 rows of 512, 20 ms each, the input of layer L (L = 6: the final
norm's output). A finished file is kept.
"""

import time
from pathlib import Path

import numpy as np
import torch
import tyro

from ..data.batches import alike
from ..data.shards import Shard, found
from ..sounds import features
from . import pretrained
from .encoder import LAYERS, WIDTH, Encoder, out_length

FRAMES = 6000  # of 10 ms in a batch


@torch.no_grad()
def write(encoder: Encoder, path: Path, layer: int) -> float:
    """Write the outputs for one shard, `path` without suffix; returns its seconds of sound."""
    shard = Shard(path)
    lengths = [item["frames"] for item in shard.items]
    starts = np.cumsum([0, *(out_length(n) for n in lengths)])
    part = path.with_suffix(".part")
    out = np.memmap(part, np.float16, "w+", shape=(int(starts[-1]), WIDTH))
    for group, signal, frames in alike(lengths, lambda k: features.normalised(shard.mel(k), features.WHISPER), FRAMES):
        with torch.autocast("cpu", torch.bfloat16):
            x = encoder.above(encoder.below(signal, frames), out_length(frames), 0, layer)
        for row, k in zip(x.float().numpy(), group, strict=True):
            out[starts[k] : starts[k + 1]] = row[: starts[k + 1] - starts[k]]
    out.flush()
    part.replace(path.with_suffix(f".layer{layer}"))
    return sum(lengths) / 100


def main(shards: list[str], layer: int = LAYERS) -> None:
    """Encode the shards that are not encoded yet."""
    torch.set_num_threads(1)
    encoder = pretrained.encoder()
    for folder in shards:
        for path in found(folder):
            if not path.with_suffix(f".layer{layer}").exists():
                began = time.time()
                seconds = write(encoder, path, layer)
                print(path, f"{seconds / (time.time() - began):.0f} x real time", flush=True)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
