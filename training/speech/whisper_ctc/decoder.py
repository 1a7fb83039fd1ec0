"""Whisper's decoder: the tokens so far and the encoder's output in, logits of the next token at every place out.

Source: Radford et al., 2022. Tensors are float32 but for token ids.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .encoder import HEADS, LAYERS, WIDTH, Feed

TOKENS, PLACES = 51865, 448  # the multilingual vocabulary; tokens at most


class Attention(nn.Module):
    """Queries from one sequence, keys and values from another or the same; added to the input."""

    def __init__(self, width: int, heads: int, cross: bool) -> None:
        super().__init__()
        self.heads, self.cross = heads, cross
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.memory = nn.Linear(width, 2 * width)
        self.leave = nn.Linear(width, width)

    def forward(self, x: Tensor, encoded: Tensor, seen: Tensor | None) -> Tensor:
        """x: (B, N, width); encoded: (B, T, width), read where `cross`; seen: (B, 1, 1, T) for it, or None for all."""
        normed = self.norm(x)
        batch, places, width = x.shape
        q = self.query(normed).view(batch, places, self.heads, -1).transpose(1, 2)
        source = encoded if self.cross else normed
        k, v = self.memory(source).view(batch, source.shape[1], 2, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen if self.cross else None, is_causal=not self.cross)
        return x + self.leave(y.transpose(1, 2).reshape(batch, places, width))


class Layer(nn.Module):
    """Attention to the tokens before, attention to the sound, the feed-forward part."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.own = Attention(width, heads, cross=False)
        self.cross = Attention(width, heads, cross=True)
        self.feed = Feed(width)

    def forward(self, x: Tensor, encoded: Tensor, seen: Tensor | None) -> Tensor:
        """The arguments are those of `Attention`."""
        return self.feed(self.cross(self.own(x, encoded, None), encoded, seen))


class Decoder(nn.Module):
    """tokens (B, N), encoded (B, T, 512) to logits (B, N, tokens); the output matrix is the embedding's."""

    def __init__(self, tokens: int = TOKENS, width: int = WIDTH, heads: int = HEADS, layers: int = LAYERS) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.positions = nn.Parameter(torch.zeros(PLACES, width))
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, encoded: Tensor, seen: Tensor | None = None) -> Tensor:
        """tokens: (B, N) ids; encoded: (B, T, 512); seen: (B, 1, 1, T), True for the frames to attend to."""
        x = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x, encoded, seen)
        return self.norm(x) @ self.embedding.weight.T
