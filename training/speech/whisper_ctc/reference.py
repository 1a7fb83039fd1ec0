"""Compares features, encoder and decoder with transformers' feature extractor and with CTranslate2 on real recordings.

    python -m speech.whisper_ctc.reference --audio FILE...

The audio is padded to 30 s, as CTranslate2 pads it. It prints the largest and the mean absolute difference, and the
cosine between the encoder's frames with and without the padding.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch

from .. import world
from ..arrays import AnyFloats, Floats
from . import ctranslate, log_mel, pretrained
from .decoder import TOKENS, Decoder
from .encoder import Encoder

WINDOW = 30 * 16000
SPECIALS = {
    50257: "<|endoftext|>",
    50258: "<|startoftranscript|>",
    50259: "<|en|>",
    50359: "<|transcribe|>",
    50362: "<|nospeech|>",
    50363: "<|notimestamps|>",
}
PROMPT = [50258, 50259, 50359, 50363]  # start of transcript, English, transcribe, no timestamps


def opened(folder: Path) -> Any:
    """Return CTranslate2's own Whisper on the same file.

    Of the vocabulary it needs only the places of the special tokens; `folder` is for the files that it reads.
    """
    import ctranslate2  # needed by this program alone

    (folder / "model.bin").write_bytes(pretrained.model_bytes())
    (folder / "vocabulary.txt").write_text("".join(f"{SPECIALS.get(k, f'<{k}>')}\n" for k in range(TOKENS)))
    (folder / "config.json").write_text("{}")
    return ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="float32", intra_threads=1)


def differences(ours: AnyFloats, theirs: AnyFloats) -> str:
    """Return the absolute differences of two arrays of one shape, for people to read."""
    off = np.abs(ours - theirs)
    return f"largest {off.max():.1e}, mean {off.mean():.1e} (values up to {np.abs(theirs).max():.1f})"


@torch.no_grad()
def compare(samples: Floats, encoder: Encoder, decoder: Decoder, reference: Any, extractor: Any) -> None:
    """Compare on one recording, of which at most 30 s are used.

    `samples`: (n,) at 16 kHz; `reference`: what `opened` returned; `extractor`: transformers' feature extractor.
    """
    import ctranslate2

    samples = samples[:WINDOW]
    padded = np.pad(samples, (0, WINDOW - len(samples)))
    ours = log_mel.features(padded)
    print("  features", differences(ours, extractor(padded, sampling_rate=16000).input_features[0].T))
    signal = torch.from_numpy(ours.T.copy())[None]
    theirs = np.array(reference.encode(ctranslate2.StorageView.from_array(signal.numpy())))
    encoded = encoder(signal, torch.tensor([signal.shape[2]]))
    print("  encoder ", differences(encoded.numpy(), theirs))
    logits = decoder(torch.tensor([PROMPT]), encoded)
    best = reference.generate(
        ctranslate2.StorageView.from_array(signal.numpy()),
        [PROMPT],
        beam_size=1,
        max_length=24,
        suppress_blank=False,
        suppress_tokens=[],
    )[0].sequences_ids[0]
    tokens = list(PROMPT)
    for _ in best:
        tokens.append(int(logits[0, -1].argmax()))
        logits = decoder(torch.tensor([tokens]), encoded)
    equal = sum(a == b for a, b in zip(tokens[len(PROMPT) :], best, strict=True))
    print(f"  decoder  {equal} of {len(best)} greedy tokens equal")
    short = torch.from_numpy(log_mel.features(samples).T.copy())[None]
    alone = encoder(short, torch.tensor([short.shape[2]]))[0]
    cosine = torch.cosine_similarity(alone, encoded[0, : len(alone)], dim=1)
    print(f"  without padding: cosine {cosine.mean():.3f}")


def main() -> None:
    """Compare on the recordings that the command line names."""
    from transformers import WhisperFeatureExtractor  # needed by this program alone

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--audio", nargs="+", required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found = ctranslate.variables(pretrained.model_bytes())
    encoder, decoder = pretrained.encoder(found), pretrained.decoder(found)
    with tempfile.TemporaryDirectory() as folder:
        reference = opened(Path(folder))
        for name in arguments.audio:
            samples, rate = soundfile.read(name, dtype="float32", always_2d=True)
            print(Path(name).name)
            compare(world.resampled(samples.mean(1), rate), encoder, decoder, reference, WhisperFeatureExtractor())


if __name__ == "__main__":
    main()
