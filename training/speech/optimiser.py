"""The optimisers: AdamW for vectors, filters and the head, Muon for the matrices between layers.

Source of Muon: orthogonalised momentum (Jordan et al., 2024).
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

# Polar Express (Amsel et al., 2025): the coefficients of the odd polynomials, applied one after another.
STEPS = ((8.2873, -23.5959, 17.3004), (4.1071, -2.9478, 0.5448), (3.9487, -2.9089, 0.5518), (3.3184, -2.4885, 0.51))


def orthogonal(matrices: Tensor) -> Tensor:
    """Return approximately the nearest orthogonal matrix of each, (n, rows, columns)."""
    x = matrices / (matrices.norm(dim=(1, 2), keepdim=True) * 1.01 + 1e-7)
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    for a, b, c in STEPS:
        square = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


class Muon(torch.optim.Optimizer):
    """Muon with weight decay, its steps scaled so that AdamW's learning rate serves it too."""

    def __init__(
        self, parameters: Iterable[nn.Parameter], lr: float, momentum: float = 0.95, decay: float = 0.02
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters by their gradients; matrices of one shape are orthogonalised together."""
        for group in self.param_groups:
            shapes: dict[Any, list[tuple[Tensor, Tensor]]] = {}
            for p in group["params"]:
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(p)
                state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                moved = p.grad.lerp(state["momentum"], group["momentum"])
                parts = moved.split(p.shape[1]) if p.shape[0] == 3 * p.shape[1] else (moved,)  # q, k and v each
                rows = p.split(p.shape[1]) if len(parts) > 1 else (p,)
                for part, row in zip(parts, rows, strict=True):
                    shapes.setdefault(part.shape, []).append((row, part))
            for shape, pairs in shapes.items():
                steps = orthogonal(torch.stack([part for _, part in pairs]))
                scale = 0.2 * max(shape) ** 0.5 * group["lr"]
                for (row, _), moved in zip(pairs, steps, strict=True):
                    row.mul_(1 - group["lr"] * group["decay"]).sub_(moved, alpha=scale)


class Both:
    """AdamW and, with `muon`, Muon as one optimiser; the learning rate is given at each step."""

    def __init__(self, net: nn.Module, aside: nn.Module | None = None, muon: bool = True, decay: float = 0.02) -> None:
        """Take the parameters of the network and of the layer `aside`, where there is one."""
        matrices = [p for n, p in net.named_parameters() if muon and p.dim() == 2 and not n.startswith("head")]
        kept = {id(p) for p in matrices}
        others = [p for part in (net, aside) if part is not None for p in part.parameters() if id(p) not in kept]
        self.parts = [torch.optim.AdamW(others, 1e-3, betas=(0.9, 0.98), weight_decay=decay, fused=True)]
        if matrices:
            self.parts.append(Muon(matrices, 1e-3, decay=decay))

    def kind(self) -> list[int]:
        """Return how many parameters each part has: a stored state must have the same."""
        return [len(part.param_groups[0]["params"]) for part in self.parts]

    def step(self, lr: float) -> None:
        """Update all parameters at a learning rate, and clear their gradients."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = lr
            part.step()
            part.zero_grad()

    def state_dict(self) -> list[dict[str, Any]]:
        """Return the state of each part."""
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states: list[dict[str, Any]]) -> None:
        """Restore what `state_dict` returned for the same parts."""
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)
