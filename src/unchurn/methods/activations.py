"""SmeLU (Shamir & Lin 2022), a smooth ReLU, as a function and as a module of torch."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def smelu(x: Tensor, beta: float) -> Tensor:
    """0 below −beta, x above beta, and (x + beta)²/(4·beta) between: a ReLU without its corner."""
    if beta == 0:
        return torch.relu(x)
    return (x.clamp(-beta, beta) + beta).square() / (4 * beta) + torch.relu(x - beta)


class SmeLU(nn.Module):
    """`smelu` as an activation."""

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, x: Tensor) -> Tensor:
        """`smelu` of each element."""
        return smelu(x, self.beta)

    def extra_repr(self) -> str:
        """What `print` shows in brackets."""
        return f"beta={self.beta:g}"


def replace_relu(module: nn.Module, beta: float = 1.0) -> nn.Module:
    """Put a SmeLU in the place of every `torch.nn.ReLU` in a network; returns the network.

    What a network calls as a function (`torch.relu(x)`) cannot be found.
    """
    if isinstance(module, nn.ReLU):
        return SmeLU(beta)
    for name, child in module._modules.items():  # named_children leaves out what is there twice
        if child is not None:
            setattr(module, name, replace_relu(child, beta))
    return module
