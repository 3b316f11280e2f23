"""Make equal seeds give equal bytes: control torch's global random state and threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_RANDOMNESS = threading.RLock()  # reentrant: a factory may load a saved model as its backbone


@contextmanager
def own_randomness(device: str) -> Iterator[None]:
    """A context that owns torch's global random state and restores it at the end.

    Networks draw only from that state, so fits in several threads must take turns.
    """
    with _RANDOMNESS, torch.random.fork_rng(_cuda_devices(device)):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)  # the type in which weights are drawn
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def seed_generators(device: str, seed: int) -> None:
    """Seed the generators that a network on this device draws from, and no others."""
    torch.default_generator.manual_seed(seed)
    for number in _cuda_devices(device):
        torch.cuda.default_generators[number].manual_seed(seed)


RandomState = list[torch.Tensor]  # of the CPU, then of each GPU in use


def random_state(device: str) -> RandomState:
    """The state of the random generators of this device."""
    gpus = [torch.cuda.get_rng_state(number) for number in _cuda_devices(device)]
    return [torch.get_rng_state(), *gpus]


def set_random_state(device: str, state: RandomState) -> None:
    """Restore the state of the random generators of this device."""
    torch.set_rng_state(state[0])
    for number, own in zip(_cuda_devices(device), state[1:], strict=True):
        torch.cuda.set_rng_state(own, number)


def _cuda_devices(device: str) -> list[int]:
    """The numbers of the GPUs whose random state must be restored."""
    kind = torch.device(device)
    return [kind.index or 0] if kind.type == "cuda" else []


_THREADS = threading.Lock()
_callers: list[int] = []  # for each active `one_thread`, the number of threads to restore


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread; when the last caller leaves, restore the original number."""
    with _THREADS:
        _callers.append(_callers[0] if _callers else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _THREADS:
            before = _callers.pop()
            if not _callers:
                torch.set_num_threads(before)
