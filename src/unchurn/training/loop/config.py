"""`Training`: how networks are trained (epochs, batch size, learning rate and device)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unchurn.core.arrays import as_number, as_whole
from unchurn.core.errors import InputError


@dataclass(frozen=True)
class Training:
    """How networks are trained; the defaults are the paper's where it gives them."""

    epochs: int = 20
    batch_size: int = 128
    learning_rate: float = 0.001
    epsilon: float = 1e-7  # of Adam; the paper's framework's default, not torch's
    device: str = "cpu"

    def __post_init__(self) -> None:
        # NumPy's numbers become plain ones, so that equal trainings are equal on disk.
        object.__setattr__(self, "epochs", as_whole(self.epochs, 1, "epochs"))
        object.__setattr__(self, "batch_size", as_whole(self.batch_size, 1, "batch_size"))
        for name in ("learning_rate", "epsilon"):
            value = as_number(getattr(self, name), 0, name)
            if value == 0:
                raise InputError(f"{name} must be above 0")
            object.__setattr__(self, name, value)
        if self.device != "cpu":
            _check_device(self.device)

    @property
    def length(self) -> str:
        """The number of epochs in words."""
        return f"{self.epochs} epoch{'s' * (self.epochs > 1)}"

    def n_steps(self, n: int) -> int:
        """Number of steps on n examples, including the last, partial batch of each epoch."""
        return self.epochs * math.ceil(n / self.batch_size)


def _check_device(device: str) -> None:
    """Refuse a device that torch cannot use here."""
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(f"device {device!r} cannot be used: {error}") from error
