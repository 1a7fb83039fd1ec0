"""The file of Whisper base for whisper.cpp."""

import numpy as np
from speech.measure import ggml


def test_a_quantised_block_holds_a_scale_and_32_values() -> None:
    values = np.random.default_rng(3).normal(size=(4, 64)).astype(np.float32)
    values[1, :32] = 0
    blocks = np.frombuffer(ggml.WRITERS[ggml.Q8](values), [("scale", "<f2"), ("codes", "i1", 32)])
    assert len(blocks) == 8
    restored = (blocks["scale"].astype(np.float32)[:, None] * blocks["codes"]).reshape(values.shape)
    largest = np.abs(values.reshape(-1, 32)).max(1).repeat(32).reshape(values.shape)
    assert (np.abs(restored - values) <= largest / 127 * 0.6).all()


def test_every_tensor_has_the_name_of_whisper_cpp() -> None:
    fused = {"self_attention/linear_0": 3, "attention/linear_1": 2}

    class Found(dict[str, np.ndarray]):
        def __missing__(self, name: str) -> np.ndarray:
            parts = next((count for place, count in fused.items() if f"/{place}/" in name), 1)
            return np.zeros((2 * parts, 2) if name.endswith("weight") else 2 * parts)

    tensors = dict(ggml.tensors(Found()))
    # 15 of an encoder's layer, 24 of a decoder's; 7 and 4 outside the layers.
    assert len(tensors) == 6 * (15 + 24) + 11
    assert tensors["decoder.blocks.5.cross_attn.value.weight"].shape == (2, 2)
    assert "decoder.blocks.5.cross_attn.key.bias" not in tensors
