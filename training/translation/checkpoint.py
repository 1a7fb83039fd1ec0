"""What a training leaves behind, whole or not at all."""

import os
from pathlib import Path

import torch

from .model import network


def save(path, net, average, optimiser, **figures):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(
        {"net": net.state_dict(), "average": average, "optimiser": optimiser.state_dict(), **figures},
        path.with_suffix(".part"),
    )
    os.replace(path.with_suffix(".part"), path)


def load(path):
    return torch.load(path, map_location="cpu", weights_only=True)


def averaged(path):
    """The network of a checkpoint with its averaged weights, ready to translate."""
    state = load(path)
    net = network(state["net"]["model.shared.weight"].shape[0])
    net.load_state_dict({**state["net"], **state["average"]})
    return net.eval()
