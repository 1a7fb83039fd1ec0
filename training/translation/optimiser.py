"""Muon for the hidden matrices, Adam for the rest.

Muon (Keller Jordan and others, 2024) moves a matrix along its momentum after five Newton-Schulz steps have brought all
singular values of that momentum near one. The step is scaled so that an entry moves about as far as under Adam (Liu and
others, 2025).
"""

from collections.abc import Iterable
from typing import Any

import torch
from transformers import M2M100ForConditionalGeneration

HALF = torch.bfloat16 if torch.backends.cpu.get_cpu_capability().startswith("AVX512") else torch.float32
"""bfloat16 is faster only where the processor has instructions for it."""


def orthogonal(batch: torch.Tensor) -> torch.Tensor:
    """Matrices [n, rows, columns], rows <= columns, with their singular values brought near one.

    The quintic iteration and its coefficients are those of Jordan's Muon, who computes in bfloat16 too.
    """
    x = (batch / (batch.flatten(1).norm(dim=1)[:, None, None] + 1e-7)).to(HALF)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.to(batch.dtype)


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum and decoupled weight decay, for parameters that are matrices."""

    def __init__(
        self, matrices: Iterable[torch.nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.01
    ) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        """One step by the gradients at hand; matrices of one shape are worked on together."""
        for group in self.param_groups:
            shapes: dict[tuple[int, int], list[tuple[torch.Tensor, torch.Tensor]]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    state = self.state[p]
                    moved = state.setdefault("momentum", torch.zeros_like(p))
                    moved.lerp_(p.grad, 1 - group["momentum"])
                    shapes.setdefault(tuple(p.shape), []).append((p, p.grad.lerp(moved, group["momentum"])))
            for (rows, columns), members in shapes.items():
                batch = torch.stack([update for _, update in members])
                tall = rows > columns
                batch = orthogonal(batch.mT if tall else batch)
                batch = batch.mT if tall else batch
                for (p, _), update in zip(members, batch, strict=True):
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(update, alpha=-group["lr"] * 0.2 * max(rows, columns) ** 0.5)


class Both:
    """Muon for the matrices of a network but its embedding, Adam for everything else."""

    def __init__(self, net: M2M100ForConditionalGeneration, lr: float) -> None:
        shared = net.model.shared.weight
        matrices = [p for p in net.parameters() if p.ndim == 2 and p is not shared]
        rest = [p for p in net.parameters() if p.ndim != 2]
        self.parts = [Muon(matrices, lr), torch.optim.Adam([shared, *rest], lr=lr, betas=(0.9, 0.98))]

    def step(self, lr: float) -> None:
        """One step of both at the rate `lr`; the gradients are cleared."""
        for part in self.parts:
            part.param_groups[0]["lr"] = lr
            part.step()
            part.zero_grad(set_to_none=True)

    def state_dict(self) -> list[dict[str, Any]]:
        """The state of both, as `load_state_dict` takes it."""
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states: list[dict[str, Any]]) -> None:
        """Restores what `state_dict` gave."""
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)
