"""Checkpoints of a training. A file is replaced whole, so that a training that is stopped leaves no half of one."""

from pathlib import Path
from typing import Any

import torch
from transformers import M2M100ForConditionalGeneration

from .model import network
from .optimiser import Both


def save(
    path: str | Path,
    net: M2M100ForConditionalGeneration,
    average: dict[str, torch.Tensor],
    optimiser: Both,
    **figures: int,
) -> None:
    """Writes the weights, their average, the optimiser's state and the given counts."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(
        {"net": net.state_dict(), "average": average, "optimiser": optimiser.state_dict(), **figures},
        path.with_suffix(".part"),
    )
    path.with_suffix(".part").replace(path)


def load(path: str | Path) -> dict[str, Any]:
    """What `save` wrote: `net`, `average` and `optimiser`, and each count by its name."""
    return torch.load(path, map_location="cpu", weights_only=True)


def averaged(path: str | Path) -> M2M100ForConditionalGeneration:
    """The network of a checkpoint with its averaged weights, ready to translate."""
    state = load(path)
    net = network(state["net"]["model.shared.weight"].shape[0])
    net.load_state_dict({**state["net"], **state["average"]})
    return net.eval()
