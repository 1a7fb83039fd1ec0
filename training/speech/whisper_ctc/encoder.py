"""Whisper's encoder for utterances of any length up to 30 s: log-mels in, one vector for each 20 ms out.

A batch is padded; frames beyond an utterance's length do not change its output. Source: Radford et al., 2022. Tensors
are float32.
"""

from collections.abc import Callable
from typing import overload

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..sounds.features import MELS

WIDTH, HEADS, LAYERS = 512, 8, 6  # Whisper base
POSITIONS = 1500  # frames of 20 ms


@overload
def out_length(frames: int) -> int: ...
@overload
def out_length(frames: Tensor) -> Tensor: ...
def out_length(frames: int | Tensor) -> int | Tensor:
    """Return the encoder's frames (20 ms) of so many log-mel frames (10 ms); a number or a tensor of them."""
    return (frames + 1) // 2


Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None, int], Tensor]


def attended(q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, heads: int) -> Tensor:
    """Return what each frame attends to, (B, T, width); q, k and v have the same shape.

    `seen`: (B, 1, 1, T), True where a frame may be attended to, or None for all.
    """
    batch, frames, width = q.shape
    q, k, v = (x.view(batch, frames, heads, width // heads).transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).reshape(batch, frames, width)


class Attention(nn.Module):
    """Self-attention with q, k and v from one matrix, added to its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attend: Attend = attended  # `export` sets another
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 3 * width)
        self.leave = nn.Linear(width, width)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """x: (B, T, width); `seen` is that of `attended`."""
        q, k, v = self.enter(self.norm(x)).chunk(3, -1)
        return x + self.leave(self.attend(q, k, v, seen, self.heads))


class Feed(nn.Module):
    """Two matrices with GELU between them, added to the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 4 * width)
        self.leave = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each frame of (B, T, width)."""
        return x + self.leave(F.gelu(self.enter(self.norm(x))))


class Layer(nn.Module):
    """Attention, then the feed-forward part."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.feed = Feed(width)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """The arguments are those of `Attention`."""
        return self.feed(self.attention(x, seen))


class Encoder(nn.Module):
    """features (B, 80, T) and lengths (B,) in frames of 10 ms to (B, T', 512), T' = (T + 1) // 2."""

    def __init__(
        self, width: int = WIDTH, heads: int = HEADS, layers: int = LAYERS, positions: int = POSITIONS
    ) -> None:
        super().__init__()
        self.first = nn.Conv1d(MELS, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.zeros(positions, width), requires_grad=False)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def below(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Apply the convolutions and add the positions: the first layer's input, (B, T', 512)."""
        inside = (torch.arange(features.shape[2])[None] < lengths[:, None])[:, None].to(features.dtype)
        x = F.gelu(self.first(features * inside)) * inside
        x = F.gelu(self.second(x)).transpose(1, 2)
        return x + self.positions[: x.shape[1]]

    def above(self, x: Tensor, lengths: Tensor, start: int = 0, stop: int | None = None) -> Tensor:
        """Apply the layers `start` … `stop` - 1, and after the last one the final norm; lengths: in frames of 20 ms."""
        stop = len(self.layers) if stop is None else stop
        whole = not torch.jit.is_tracing() and bool((lengths == x.shape[1]).all())
        seen = None if whole else (torch.arange(x.shape[1])[None] < lengths[:, None])[:, None, None]
        for layer in self.layers[start:stop]:
            x = layer(x, seen)
        return self.norm(x) if stop == len(self.layers) else x

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Return the encoder's output, (B, T', 512)."""
        return self.above(self.below(features, lengths), out_length(lengths))
