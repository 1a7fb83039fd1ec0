"""Writes the shipped files of a checkpoint, and their hashes into the manifest.

    python -m translation.export --checkpoint WORK/student.pt --work WORK --models-dir ../models
    python -m translation.export --checkpoint WORK/student.pt --work WORK --out FOLDER

The second writes the files alone, to measure a training that is not finished. Then it prints the largest difference of
a logit between transformers and the files, which Optimum runs (`requirements-fixtures.txt`), on a padded batch, all
tokens at once and step by step with the cache.
"""

from pathlib import Path

import torch
import tyro
from manifests import MODELS, installed, replace

from . import graph, manifest, names
from .model import averaged
from .reference import of_optimum
from .tokeniser import EOS, PAD
from .weights import restored


@torch.no_grad()
def difference(folder: Path) -> tuple[float, float]:
    """The largest difference of a logit between ONNX Runtime on the files and transformers on the same weights.

    First with all tokens at once, then step by step with the cache.
    """
    net, files, random = restored(folder), of_optimum(folder), torch.Generator().manual_seed(3)
    ids, target = (torch.randint(4, net.config.vocab_size, (3, n), generator=random) for n in (17, 11))
    ids[0, 9:], ids[1, 12:], target[:, 0] = PAD, PAD, EOS
    source = {"input_ids": ids, "attention_mask": (ids != PAD).long()}
    wanted, whole = (one(**source, decoder_input_ids=target).logits for one in (net, files))
    past, stepped = None, []
    for token in target.split(1, dim=1):
        found = files(**source, decoder_input_ids=token, past_key_values=past)
        past = found.past_key_values
        stepped.append(found.logits)
    return float((whole - wanted).abs().max()), float((torch.cat(stepped, 1) - wanted).abs().max())


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
