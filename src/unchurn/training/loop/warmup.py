"""Compile the kernels of LeNet5's training ahead of their first use."""

from __future__ import annotations

import time


def warmup() -> float:
    """Compile the kernels of a LeNet5 step, or read them from Numba's cache; returns the seconds.

    Without this call, the first training compiles them.
    """
    start = time.perf_counter()
    import torch

    from unchurn.training.loop.determinism import own_randomness
    from unchurn.training.networks.factories import lenet5

    with own_randomness("cpu"):
        net = lenet5((16, 16), 2)
        net(torch.zeros(1, 16, 16)).sum().backward()
    return time.perf_counter() - start
