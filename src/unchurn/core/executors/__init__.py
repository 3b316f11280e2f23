"""Executors run calls on this machine's cores (`local.py`) or a Ray cluster (`ray.py`).

Callers, such as `study.trainings.run`, do not depend on the kind of executor. On the command line
and in `bench` the choice between them is called `engine`.
"""

from __future__ import annotations

import os

from unchurn.core.arrays import as_whole
from unchurn.core.errors import InputError
from unchurn.core.executors.base import Call, Executor
from unchurn.core.extras import what_is_missing

__all__ = ["Call", "Executor", "make_executor"]


def make_executor(
    name: str = "local", workers: int | None = None, ray_address: str | None = None
) -> Executor:
    """An executor by name, "local" or "ray"; as many workers as there are cores, if not given."""
    if workers is not None:
        as_whole(workers, 1, "workers")
    if name == "local":
        from unchurn.core.executors.local import Local

        if ray_address is not None:
            raise InputError("a Ray address is for the engine ray")
        return Local(workers or os.cpu_count() or 1)
    if name != "ray":
        raise InputError(f"no engine {name!r}: there are local, ray")
    try:
        from unchurn.core.executors.ray import Ray
    except ModuleNotFoundError as error:
        if missing := what_is_missing(error, "the engine ray"):
            raise InputError(missing) from error
        raise
    return Ray(ray_address, workers)
