"""Adam, and AdamW where weights decay, as torch computes them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.adamw import adamw

BETAS = 0.9, 0.999


class Adam:
    """The same steps as `torch.optim.Adam`, by calling torch's function directly.

    torch's class imports torch's compiler at its first step, which takes a second and is never used
    here. `decay` above 0 makes it AdamW.
    """

    def __init__(self, parameters: Sequence[Tensor], *, epsilon: float, decay: float) -> None:
        self.parameters, self.epsilon, self.decay = parameters, epsilon, decay
        # For every parameter that has had a gradient: both averages, and its number of steps.
        self._states: dict[int, tuple[Tensor, Tensor, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move every parameter that has a gradient."""
        moved = [(i, p) for i, p in enumerate(self.parameters) if p.grad is not None]
        for number, parameter in moved:
            if number not in self._states:
                averages = torch.zeros_like(parameter), torch.zeros_like(parameter)
                n_steps = torch.zeros((), dtype=torch.float32, device=parameter.device)
                self._states[number] = *averages, n_steps
        states = [self._states[number] for number, _ in moved]
        move = adamw if self.decay > 0 else adam
        move(
            [parameter for _, parameter in moved],
            [parameter.grad for _, parameter in moved if parameter.grad is not None],
            [mean for mean, _, _ in states],
            [square for _, square, _ in states],
            [],  # for AMSGrad only
            [n_steps for _, _, n_steps in states],
            fused=True,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=rate,
            weight_decay=self.decay,
            eps=self.epsilon,
            maximize=False,
        )
