"""What the trainings share: optimisers, batches of rows of like size, and checkpoints, which are written whole."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Row = TypeVar("Row")

HALF = torch.bfloat16 if torch.backends.cpu.get_cpu_capability().startswith("AVX512") else torch.float32
"""bfloat16 is faster only where the processor has instructions for it."""
# Polar Express (Amsel et al., 2025): the coefficients of the odd polynomials, applied one after another.
POLAR = ((8.2873, -23.5959, 17.3004), (4.1071, -2.9478, 0.5448), (3.9487, -2.9089, 0.5518), (3.3184, -2.4885, 0.51))
# The quintic of Jordan's Muon (2024), who computes in bfloat16 too.
QUINTIC = ((3.4445, -4.7750, 2.0315),) * 5


def polar_express(matrices: Tensor) -> Tensor:
    """Return approximately the nearest orthogonal matrix of each, (n, rows, columns), rows <= columns."""
    return orthogonal(matrices / (matrices.norm(dim=(1, 2), keepdim=True) * 1.01 + 1e-7), POLAR)


def newton_schulz(matrices: Tensor) -> Tensor:
    """The same less exactly, but in half precision: the singular values are near one."""
    x = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)
    return orthogonal(x.to(HALF), QUINTIC).to(matrices.dtype)


def orthogonal(x: Tensor, steps: Sequence[tuple[float, float, float]]) -> Tensor:
    """Apply odd polynomials of the fifth degree to the singular values of matrices (n, rows, columns)."""
    for a, b, c in steps:
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x


class Muon(torch.optim.Optimizer):
    """Orthogonalised momentum with weight decay (Jordan et al., 2024), for parameters that are matrices.

    A step is scaled so that an entry moves about as far as under Adam (Liu et al., 2025).
    """

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        orthogonalised: Callable[[Tensor], Tensor],
        weight_decay: float,
        momentum: float = 0.95,
    ) -> None:
        super().__init__(matrices, {"lr": 1e-3, "momentum": momentum, "weight_decay": weight_decay})
        self.orthogonalised = orthogonalised

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters by their gradients; matrices of one shape are orthogonalised together."""
        for group in self.param_groups:
            shapes: dict[Any, list[tuple[Tensor, Tensor]]] = {}
            for p in group["params"]:
                if p.grad is None:
                    continue
                momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
                momentum.lerp_(p.grad, 1 - group["momentum"])
                moved = p.grad.lerp(momentum, group["momentum"])
                size = p.shape[1] if p.shape[0] == 3 * p.shape[1] else p.shape[0]  # q, k and v each
                for part, row in zip(moved.split(size), p.split(size), strict=True):
                    shapes.setdefault(part.shape, []).append((row, part))
            for shape, pairs in shapes.items():
                batch, tall = torch.stack([part for _, part in pairs]), shape[0] > shape[1]
                steps = self.orthogonalised(batch.mT if tall else batch)
                scale = 0.2 * max(shape) ** 0.5 * group["lr"]
                for (row, _), moved in zip(pairs, steps.mT if tall else steps, strict=True):
                    row.mul_(1 - group["lr"] * group["weight_decay"]).sub_(moved, alpha=scale)


class Together:
    """Several optimisers as one; the learning rate is given at each step."""

    def __init__(self, *parts: torch.optim.Optimizer) -> None:
        self.parts = parts

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


def grouped(rows: Iterable[Row], size: Callable[[Row], int], most: int) -> list[list[Row]]:
    """Return neighbours in groups whose padded size is at most `most`, unless one row alone is larger."""
    groups: list[list[Row]] = []
    width = 0
    for row in rows:
        width = max(width, size(row))
        if not groups or width * (len(groups[-1]) + 1) > most:
            groups.append([])
            width = size(row)
        groups[-1].append(row)
    return groups


def copied(net: nn.Module) -> dict[str, Tensor]:
    """Return a copy of the parameters of a network, by name: an average of their values begins with it."""
    return {name: p.detach().clone() for name, p in net.named_parameters()}


@torch.no_grad()
def follow(average: Mapping[str, Tensor], net: nn.Module, kept: float) -> None:
    """Move averaged parameters towards those of a network by the share 1 - `kept`."""
    for name, p in net.named_parameters():
        average[name].lerp_(p, 1 - kept)


def write(path: str | Path, state: Any) -> None:
    """Write anything that torch can save to a file beside, then move it to `path`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def load(path: str | Path) -> Any:
    """Read what `write` wrote."""
    return torch.load(path, map_location="cpu", weights_only=True)
