"""What a training leaves behind, whole or not at all."""

import os
from pathlib import Path

import torch

from .model import Acoustic


def save(path, net, aside, average, optimiser, **figures):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"size": net.size, "net": net.state_dict(), "average": average,
                "aside": aside and aside.state_dict(), "optimiser": optimiser.state_dict(), "kind": optimiser.kind(),
                **figures}, path.with_suffix(".part"))
    os.replace(path.with_suffix(".part"), path)


def load(path):
    return torch.load(path, map_location="cpu", weights_only=True)


def network(path, averaged=True):
    """The network of a checkpoint, ready to recognise."""
    state = load(path)
    net = Acoustic(**state["size"])
    net.load_state_dict(state["average" if averaged else "net"])
    return net.eval()
