"""Encoder and CTC head: log-mel features in, log-probabilities of Gurmukhi units and blank every 20 ms out."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..network import checkpoint
from ..texts import units
from . import pretrained
from .encoder import LAYERS, WIDTH, Encoder, out_length

UNITS = units.blank("pa")  # the blank is the last output
PEOPLE = ("F04", "M01", "en-accented")  # in the trainings: two of pa-digits, half of the people of en-accented
SHIPPED = ("F04", "M01")  # whom the shipped network has heard


class Block(nn.Module):
    """A convolution over time between a norm and GELU, added to its input."""

    def __init__(self, width: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.over_time = nn.Conv1d(width, width, kernel, padding=kernel // 2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, inside: Tensor) -> Tensor:
        """x: (B, T, width); inside: (B, T, 1), 1 inside the utterance."""
        y = self.over_time((self.norm(x) * inside).transpose(1, 2)).transpose(1, 2)
        return x + self.dropout(F.gelu(y))


class Head(nn.Module):
    """(B, T, 512) to log-probabilities (B, T, units + 1); about a million parameters, 0.26 s of context."""

    def __init__(
        self,
        width: int = 256,
        blocks: int = 3,
        kernel: int = 5,
        dropout: float = 0.1,
        inputs: int = WIDTH,
        units: int = UNITS,
    ) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("deviation", torch.ones(inputs))
        self.enter = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(Block(width, kernel, dropout) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.leave = nn.Linear(width, units + 1)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """x: (B, T, 512); lengths: (B,) frames of 20 ms."""
        inside = (torch.arange(x.shape[1])[None] < lengths[:, None])[..., None].to(x.dtype)
        x = self.enter((x - self.mean) / self.deviation)
        for block in self.blocks:
            x = block(x, inside)
        return torch.log_softmax(self.leave(self.norm(x)).float(), -1)


class Recogniser(nn.Module):
    """The encoder and the head. The network's input goes in at layer `start`; layers below `frozen` get no gradient."""

    def __init__(self, start: int = LAYERS, frozen: int = 0) -> None:
        super().__init__()
        self.start, self.frozen = start, max(start, frozen)
        self.encoder, self.head = Encoder(), Head()

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """x: the input of layer `start`, (B, T, 512); lengths: (B,) frames of 20 ms.

        With `start` 0, x is features (B, 80, T) and lengths are frames of 10 ms.
        """
        return self.head(*self.encoded(x, lengths))

    def encoded(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the head's input, (B, T, 512), and its frames of 20 ms, (B,); the arguments are those of `forward`."""
        if self.start == 0:
            with torch.set_grad_enabled(torch.is_grad_enabled() and self.frozen == 0):
                x = self.encoder.below(x, lengths)
            lengths = out_length(lengths)
        if self.start < self.frozen < LAYERS:
            with torch.no_grad():
                x = self.encoder.above(x, lengths, self.start, self.frozen)
        if self.start < LAYERS:
            x = self.encoder.above(x, lengths, self.frozen if self.frozen < LAYERS else self.start)
        return x, lengths

    def trained(self) -> list[tuple[int, list[nn.Parameter]]]:
        """Return (depth below the head, parameters) of what is trained: the head at 0, the top layer at 1 and so on."""
        groups = [(0, list(self.head.parameters()))]
        if self.frozen < LAYERS:
            groups.append((1, list(self.encoder.norm.parameters())))
        layers = range(LAYERS - 1, self.frozen - 1, -1)
        groups += [(LAYERS - k, list(self.encoder.layers[k].parameters())) for k in layers]
        if self.frozen == 0:
            groups.append((LAYERS + 1, [*self.encoder.first.parameters(), *self.encoder.second.parameters()]))
        return groups


def started(start: int) -> Recogniser:
    """Return Whisper base's encoder below an untrained head; input goes in at layer `start`."""
    net = Recogniser(start)
    net.encoder.load_state_dict(pretrained.encoder().state_dict())
    return net


def exported(path: str | Path) -> dict[str, Tensor]:
    """Return the state of a network that `speech.whisper_ctc.export` wrote, such as the shipped one."""
    own = {name.removeprefix("net."): value for name, value in checkpoint.weights(path).items()}
    return {f"encoder.{name}" if name.startswith("layers.") else name: value for name, value in own.items()}


def loaded(path: str | Path, start: int, averaged: bool = True, frozen: int = 0) -> Recogniser:
    """Return the network of a checkpoint or an ONNX file; input goes in at layer `start`.

    Layers from `frozen` on are trained.
    """
    net = Recogniser(start, frozen)
    if Path(path).suffix == ".onnx":
        net.load_state_dict(exported(path))
    else:
        net.load_state_dict(checkpoint.load(path)["average" if averaged else "net"])
    return net


def heard(path: str | Path) -> list[str]:
    """Return the people in the training of a network, of which an ONNX file says nothing."""
    return list(SHIPPED if Path(path).suffix == ".onnx" else checkpoint.load(path).get("heard", SHIPPED))
