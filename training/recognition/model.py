"""The network: ink (n, 1, 48, 48), 0..1, in; one logit per label out. About 0.2 million parameters."""

import math
from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

SIDE = 48


class Residual(nn.Module):
    """Two 3 x 3 convolutions and a shortcut (He et al., Deep residual learning, 2016): shape and channels stay."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, channels, height, width) to the same shape."""
        y = F.relu(self.norm1(self.first(x)))
        return F.relu(x + self.norm2(self.second(y)))


def down(inputs: int, outputs: int, size: int) -> nn.Sequential:
    """A convolution of `size` x `size` with stride 2, from so many channels to so many: sides are halved."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, 2, size // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


class Reader(nn.Module):
    """Three strided convolutions, three residual blocks between them, means over 2 x 2, one linear layer.

    `width`: channels of the first residual block; the others have twice as many.
    """

    def __init__(self, n_labels: int, width: int = 32) -> None:
        super().__init__()
        self.body = nn.Sequential(
            down(1, 16, 5),
            down(16, width, 3),
            Residual(width),
            down(width, 2 * width, 3),
            Residual(2 * width),
            Residual(2 * width),
        )
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(2 * width * 9, n_labels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Ink (n, 1, 48, 48) to logits (n, n_labels)."""
        y = F.avg_pool2d(self.body(x), 2)  # 6 x 6 to 3 x 3: where a stroke lies still counts
        return self.head(self.drop(y.flatten(1)))


# By model: the angles, in radians, that each square is turned by before it is read; the readings are averaged.
TURNS: dict[str, tuple[float, ...]] = {"digits-pa": (0.0,), "letters-pa": (0.0, 0.1, -0.1)}


def grid(angle: float) -> torch.Tensor:
    """Where each pixel comes from of a square that is turned about its middle by an angle in radians."""
    c, s = math.cos(angle), math.sin(angle)
    return F.affine_grid(torch.tensor([[[c, -s, 0.0], [s, c, 0.0]]]), [1, 1, SIDE, SIDE], align_corners=False)


class Looks(nn.Module):
    """A reader's mean log-probabilities over several turns of each square (test-time augmentation).

    The batch goes through GridSample as the channels of one picture, since it turns those alike.
    """

    def __init__(self, reader: Reader, turns: Sequence[float]) -> None:
        super().__init__()
        self.reader, self.grids = reader, [grid(angle) if angle else None for angle in turns]

    def forward(self, ink: torch.Tensor) -> torch.Tensor:
        """Ink (n, 1, 48, 48) to mean log-probabilities (n, labels)."""
        flat = ink.transpose(0, 1)
        turned = [flat if g is None else F.grid_sample(flat, g, align_corners=False) for g in self.grids]
        scores = F.log_softmax(self.reader(torch.cat(turned, 1).transpose(0, 1)), 1)
        return scores.reshape(len(turned), -1, self.reader.head.out_features).mean(0)


class Served(nn.Module):
    """What the exported file computes: probabilities at the calibrated temperature."""

    def __init__(self, reader: Reader, turns: Sequence[float], temperature: float) -> None:
        super().__init__()
        self.looks = Looks(reader, turns)
        self.register_buffer("sharpness", torch.tensor(1.0 / temperature))

    def forward(self, ink: torch.Tensor) -> torch.Tensor:
        """Ink (n, 1, 48, 48) to probabilities (n, labels)."""
        return torch.softmax(self.looks(ink) * self.sharpness, 1)
