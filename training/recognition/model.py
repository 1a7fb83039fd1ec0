"""The network: features (n, 1, SIDE, SIDE) in, one logit per label out. About 0.2 M parameters."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    """Two 3 x 3 convolutions and a shortcut."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.norm1(self.first(x)))
        return F.relu(x + self.norm2(self.second(y)))


def down(inputs, outputs, size):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, 2, size // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


class Reader(nn.Module):
    """Strided stem, two residual stages, 2 x 2 means, one linear layer."""

    def __init__(self, n_labels, width=32):
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

    def forward(self, x):
        y = F.avg_pool2d(self.body(x), 2)  # 6 x 6 to 3 x 3: where a stroke lies still counts
        return self.head(self.drop(y.flatten(1)))


# How each label set is looked at: as it is, and turned by these angles (radians).
TURNS = {"digits-pa": (0.0,), "letters-pa": (0.0, 0.1, -0.1)}


def turned(ink, angle):
    """Each square turned about its middle."""
    c, s = math.cos(angle), math.sin(angle)
    matrix = torch.tensor([[[c, -s, 0.0], [s, c, 0.0]]])
    grid = F.affine_grid(matrix, (1, 1, *ink.shape[2:]), align_corners=False)
    return F.grid_sample(ink.transpose(0, 1), grid, align_corners=False).transpose(0, 1)


class Looks(nn.Module):
    """Reads each square at each turn: the mean of the log-probabilities."""

    def __init__(self, reader, turns):
        super().__init__()
        self.reader, self.turns = reader, turns

    def forward(self, ink):
        views = [turned(ink, angle) if angle else ink for angle in self.turns]
        return torch.stack([F.log_softmax(self.reader(view), 1) for view in views]).mean(0)


class Served(nn.Module):
    """What is exported: probabilities at the calibrated temperature."""

    def __init__(self, reader, turns, temperature):
        super().__init__()
        self.looks = Looks(reader, turns)
        self.register_buffer("sharpness", torch.tensor(1.0 / temperature))

    def forward(self, ink):
        return torch.softmax(self.looks(ink) * self.sharpness, 1)
