"""Compile the kernels of LeNet5's training ahead of their first use."""

from __future__ import annotations

import time


def warmup() -> float:
    """Make Numba compile what a step of LeNet5 needs, or read it from its cache; gives the seconds.

    Without it, the first training does so.
    """
    start = time.perf_counter()
    import torch

    from unchurn.training.loop.determinism import own_randomness
    from unchurn.training.networks.factories import lenet5

    with own_randomness("cpu"):
        net = lenet5((16, 16), 2)
        net(torch.zeros(1, 16, 16)).sum().backward()
    return time.perf_counter() - start
