"""Writes the shipped files of a checkpoint, and their hashes into the manifest.

    python -m translation.export --checkpoint WORK/student.pt --work WORK --models-dir ../models
    python -m translation.export --checkpoint WORK/student.pt --work WORK --out FOLDER

The second writes the files alone, to measure a training that is not finished. Then it prints the largest difference
of a logit between transformers and the files on a padded batch, all tokens at once and step by step with the cache.
"""

from pathlib import Path

import numpy as np
import torch
import tyro
from manifests import MODELS, installed, replace

from . import graph, manifest, names
from .model import averaged
from .runtime import Runtime
from .tokeniser import EOS, PAD
from .weights import restored


def difference(folder: str | Path) -> tuple[float, float]:
    """The largest difference of a logit between onnxruntime on the files and transformers on the same weights.

    First with all tokens at once, then step by step with the cache.
    """
    net, runtime, rng = restored(folder), Runtime(folder), np.random.default_rng(3)
    ids = rng.integers(4, net.config.vocab_size, (3, 17))
    ids[0, 9:], ids[1, 12:] = PAD, PAD
    target = rng.integers(4, net.config.vocab_size, (3, 11))
    target[:, 0] = EOS
    mask = (ids != PAD).astype(np.int64)
    with torch.no_grad():
        wanted = net(
            input_ids=torch.from_numpy(ids),
            attention_mask=torch.from_numpy(mask),
            decoder_input_ids=torch.from_numpy(target),
        ).logits.numpy()
    state = runtime.encoded(ids, mask)
    whole = runtime.step(state, target)
    state = runtime.encoded(ids, mask)
    stepped = np.concatenate([runtime.step(state, target[:, k : k + 1]) for k in range(target.shape[1])], axis=1)
    return float(np.abs(whole - wanted).max()), float(np.abs(stepped - wanted).max())


def main(checkpoint: Path, work: Path, models_dir: Path = MODELS, out: Path | None = None) -> None:
    """Exports a checkpoint's averaged weights: the files alone into the folder `out`, or else with the manifest."""
    net = averaged(checkpoint)
    content = {
        "encoder": graph.encoder(net).SerializeToString(),
        "decoder": graph.decoder(net).SerializeToString(),
        "tokenizer": (work / "tokens/tokenizer.json").read_bytes(),
        "names": names.table().encode(),
        "words": (work / "words.fst").read_bytes(),
    }
    print({role: len(one) for role, one in content.items()}, "bytes")
    if out:
        for role, ending in manifest.FILES.items():
            replace(out / f"{manifest.MODEL}.{ending}", content[role])
    else:
        installed(models_dir, manifest.MODEL, content)
    print("largest difference of a logit, whole and stepped:", difference(out or models_dir / "weights"))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
