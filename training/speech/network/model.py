"""The acoustic model: log-mel features in, log-probabilities of units and blank out, one frame every 40 ms.

Most layers work on frames of 80 ms, where a second costs little. The last layers go back to 40 ms, so that fast speech
still has a frame for each letter. Convolutions reach over about a second, attention over the whole window. The only
position is the distance between two frames, so windows may be longer than those of the training. Frames beyond an
utterance's length are zero before every layer that mixes frames: padding changes nothing.

Tensors are float32: B utterances, T frames, C channels.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..sounds.features import MELS


def halved(lengths: Tensor) -> Tensor:
    """Return the frames that a stride of 2 leaves of so many, (B,)."""
    return torch.div(lengths - 1, 2, rounding_mode="floor") + 1


class Depthwise(nn.Module):
    """(B, T, C) to (B, T / stride, C): each channel with its own filter over time."""

    def __init__(self, width: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, kernel, stride, kernel // 2, groups=width)

    def forward(self, x: Tensor) -> Tensor:
        """Filter (B, T, C) over time."""
        return self.conv(x.transpose(1, 2)).transpose(1, 2)


class Convolution(nn.Module):
    """A gated convolution over time, added to its input, (B, T, C)."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 2 * width)
        self.over_time = Depthwise(width, kernel)
        self.middle = nn.LayerNorm(width)
        self.leave = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x: (B, T, C); mask: (B, T, 1), 1 inside the utterance."""
        y, gate = self.enter(self.norm(x)).chunk(2, -1)
        y = self.over_time(y * torch.sigmoid(gate) * mask)
        return x + self.leave(F.relu(self.middle(y)))


class Attention(nn.Module):
    """Self-attention, added to its input; each head lowers its scores by its own slope times the distance of frames.

    Source: ALiBi (Press et al., 2022).
    """

    SLOPES = (0.4, 0.12, 0.04, 0.012)  # per frame of 80 ms

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = len(self.SLOPES)
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 3 * width)
        self.leave = nn.Linear(width, width)
        self.register_buffer("slopes", torch.tensor(self.SLOPES).view(1, -1, 1, 1), persistent=False)

    def forward(self, x: Tensor, away: Tensor) -> Tensor:
        """x: (B, T, C); away: (B, 1, T, T), the distance between two frames, huge outside the utterance."""
        batch, frames, width = x.shape
        q, k, v = self.enter(self.norm(x)).view(batch, frames, 3, self.heads, width // self.heads).unbind(2)
        scores = torch.matmul(q.transpose(1, 2), k.permute(0, 2, 3, 1)) * (width // self.heads) ** -0.5
        seen = torch.softmax(scores - self.slopes * away, -1)
        y = torch.matmul(seen, v.transpose(1, 2)).transpose(1, 2).reshape(batch, frames, width)
        return x + self.leave(y)


class Feed(nn.Module):
    """The feed-forward part: two matrices with ReLU between them, added to the input, (B, T, C)."""

    def __init__(self, width: int, times: int = 4) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, times * width)
        self.leave = nn.Linear(times * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each frame of (B, T, C)."""
        return x + self.leave(F.relu(self.enter(self.norm(x))))


class Block(nn.Module):
    """Attention, convolution and the feed-forward part."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.attention = Attention(width)
        self.convolution = Convolution(width, kernel)
        self.feed = Feed(width)

    def forward(self, x: Tensor, mask: Tensor, away: Tensor) -> Tensor:
        """x, mask and away are those of `Convolution` and `Attention`."""
        return self.feed(self.convolution(self.attention(x, away), mask))


class Acoustic(nn.Module):
    """audio_signal (B, 80, T) and length (B,) to logprobs (B, T', units + 1), T' = (T - 1) // 4 + 1.

    `units` does not count the blank, which is the last output.
    """

    def __init__(
        self, units: int, width: int = 256, blocks: int = 4, before: int = 2, after: int = 1, kernel: int = 15
    ) -> None:
        super().__init__()
        self.size = {
            "units": units,
            "width": width,
            "blocks": blocks,
            "before": before,
            "after": after,
            "kernel": kernel,
        }
        self.first = nn.Conv1d(MELS, width, 5, 2, 2)
        self.second = Depthwise(width, 5, 2)
        self.second_mix = nn.Linear(width, width)
        self.before = nn.ModuleList(Convolution(width, 9) for _ in range(before))
        self.third = Depthwise(width, 5, 2)
        self.third_mix = nn.Linear(width, width)
        self.blocks = nn.ModuleList(Block(width, kernel) for _ in range(blocks))
        self.apart = nn.Linear(width, 2 * width)
        self.after = nn.ModuleList(Convolution(width, 9) for _ in range(after))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, units + 1)

    @staticmethod
    def mask(lengths: Tensor, frames: int) -> Tensor:
        """Return (B, frames, 1) float32: 1 inside each utterance, 0 beyond its length."""
        return (torch.arange(frames, device=lengths.device)[None] < lengths[:, None]).float()[..., None]

    def states(self, audio_signal: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        """Return the head's input, (B, T', width), and the output of the middle block, (B, T' / 2, width)."""
        x = audio_signal * self.mask(length, audio_signal.shape[2]).transpose(1, 2)
        x = F.relu(self.first(x)).transpose(1, 2)
        length = halved(length)
        x = F.relu(self.second_mix(self.second(x * self.mask(length, x.shape[1]))))
        length = halved(length)
        fine = self.mask(length, x.shape[1])
        for layer in self.before:
            x = layer(x, fine)
        skip = x
        x = self.third_mix(self.third(x * fine))
        coarse = self.mask(halved(length), x.shape[1])
        at = torch.arange(x.shape[1], device=x.device, dtype=x.dtype)
        away = (at[None, :] - at[:, None]).abs()[None, None] + (1 - coarse[..., 0])[:, None, None, :] * 1e6
        for k, block in enumerate(self.blocks):
            x = block(x, coarse, away)
            if k + 1 == len(self.blocks) // 2:
                middle = x
        x = self.apart(x).reshape(x.shape[0], -1, skip.shape[2])[:, : skip.shape[1]] + skip
        for layer in self.after:
            x = layer(x, fine)
        return x, middle

    def log_probs(self, x: Tensor) -> Tensor:
        """Return the log-probabilities (natural), (B, T', units + 1), of the head's input."""
        return torch.log_softmax(self.head(self.norm(x)), -1)

    def forward(self, audio_signal: Tensor, length: Tensor) -> Tensor:
        """Return the log-probabilities, (B, T', units + 1)."""
        return self.log_probs(self.states(audio_signal, length)[0])


def phone_head(width: int, n_phones: int) -> nn.Linear:
    """Return an untrained layer from the middle block to two frames each of all phones and the blank, which is last."""
    return nn.Linear(width, 2 * (n_phones + 1))
