"""AdamW for vectors, filters and the head; Muon (orthogonalised momentum) for the matrices between layers."""

import torch

# Polar Express (Amsel et al. 2025): the best odd polynomials one after another.
STEPS = ((8.2873, -23.5959, 17.3004), (4.1071, -2.9478, 0.5448), (3.9487, -2.9089, 0.5518), (3.3184, -2.4885, 0.51))


def orthogonal(matrices):
    """The nearest orthogonal matrix of each, nearly, (n, rows, columns)."""
    x = matrices / (matrices.norm(dim=(1, 2), keepdim=True) * 1.01 + 1e-7)
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    for a, b, c in STEPS:
        square = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


class Muon(torch.optim.Optimizer):
    """Steps scaled so that one learning rate serves both optimisers."""

    def __init__(self, parameters, lr, momentum=0.95, decay=0.02):
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(p)
                state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                moved = p.grad.lerp(state["momentum"], group["momentum"])
                parts = moved.split(p.shape[1]) if p.shape[0] == 3 * p.shape[1] else (moved,)  # q, k, v apart
                rows = p.split(p.shape[1]) if len(parts) > 1 else (p,)
                for part, row in zip(parts, rows):
                    shapes.setdefault(part.shape, []).append((row, part))
            for shape, pairs in shapes.items():
                steps = orthogonal(torch.stack([part for _, part in pairs]))
                scale = 0.2 * max(shape) ** 0.5 * group["lr"]
                for (row, _), moved in zip(pairs, steps):
                    row.mul_(1 - group["lr"] * group["decay"]).sub_(moved, alpha=scale)


class Both:
    """The two as one; the learning rate is set before each step."""

    def __init__(self, net, aside=None, muon=True, decay=0.02):
        matrices = [p for n, p in net.named_parameters() if muon and p.dim() == 2 and not n.startswith("head")]
        kept = {id(p) for p in matrices}
        others = [p for part in (net, aside) if part is not None for p in part.parameters() if id(p) not in kept]
        self.parts = [torch.optim.AdamW(others, 1e-3, betas=(0.9, 0.98), weight_decay=decay, fused=True)]
        if matrices:
            self.parts.append(Muon(matrices, 1e-3, decay=decay))

    def kind(self):
        """What a stored state must have been made for: how many parameters each part has."""
        return [len(part.param_groups[0]["params"]) for part in self.parts]

    def step(self, lr):
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = lr
            part.step()
            part.zero_grad()

    def state_dict(self):
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states):
        for part, state in zip(self.parts, states):
            part.load_state_dict(state)
