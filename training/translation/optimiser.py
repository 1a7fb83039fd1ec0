"""Muon for the hidden matrices, Adam for the rest.

Muon (Keller Jordan and others, 2024): the momentum of a matrix, its singular values all brought near one by five
Newton-Schulz steps; scaled so that an entry moves about as far as under Adam (Liu and others, 2025).
"""

import torch


def orthogonal(batch):
    """(n, rows, columns), rows <= columns -> the same with singular values near one."""
    x = batch / (batch.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x


class Muon(torch.optim.Optimizer):
    def __init__(self, matrices, lr, momentum=0.95, weight_decay=0.01):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
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
                for (p, _), update in zip(members, batch):
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(update, alpha=-group["lr"] * 0.2 * max(rows, columns) ** 0.5)


class Both:
    """Two optimisers as one."""

    def __init__(self, net, lr):
        shared = net.model.shared.weight
        matrices = [p for p in net.parameters() if p.ndim == 2 and p is not shared]
        rest = [p for p in net.parameters() if p.ndim != 2]
        self.parts = [Muon(matrices, lr), torch.optim.Adam([shared, *rest], lr=lr, betas=(0.9, 0.98))]

    def step(self, lr):
        for part in self.parts:
            part.param_groups[0]["lr"] = lr
            part.step()
            part.zero_grad(set_to_none=True)

    def state_dict(self):
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states):
        for part, state in zip(self.parts, states):
            part.load_state_dict(state)
