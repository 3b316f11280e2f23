"""SmeLU (Shamir & Lin 2022), a smooth ReLU, as a function and as a torch module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unchurn.core.arrays import as_number
from unchurn.core.errors import InputError


def smelu(x: Tensor, beta: float) -> Tensor:
    """A ReLU without its corner: 0 below −beta, x above beta, (x + beta)²/(4·beta) between."""
    if beta == 0:
        return torch.relu(x)
    return (x.clamp(-beta, beta) + beta).square() / (4 * beta) + torch.relu(x - beta)


class SmeLU(nn.Module):
    """`smelu` as an activation layer."""

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, x: Tensor) -> Tensor:
        """`smelu` of each element."""
        return smelu(x, self.beta)

    def extra_repr(self) -> str:
        """The parameters that `print` shows in brackets."""
        return f"beta={self.beta:g}"


def replace_relu(module: nn.Module, beta: float = 1.0) -> nn.Module:
    """Replace every `torch.nn.ReLU` in a network by a SmeLU; returns the network.

    Calls of a function, such as `torch.relu(x)`, cannot be found and stay. If nothing is found,
    InputError is raised.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"module must be a torch.nn.Module, not {type(module).__name__}")
    as_number(beta, 0, "beta")
    if not any(isinstance(layer, nn.ReLU) for layer in module.modules()):
        raise InputError(
            "there is no torch.nn.ReLU to replace by SmeLU (functions such as torch.relu(x) are "
            "not found: use the module)"
        )
    return _replaced(module, beta)


def _replaced(module: nn.Module, beta: float) -> nn.Module:
    if isinstance(module, nn.ReLU):
        return SmeLU(beta)
    for name, child in module._modules.items():  # named_children skips a module used twice
        if child is not None:
            setattr(module, name, _replaced(child, beta))
    return module
