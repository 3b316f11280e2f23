"""Where runs execute: an engine makes calls, here or elsewhere, and yields what comes back.

    Engine(…)                               entered (`with`) before use, left when all is done
    .share(value)                           give what many calls take, once; it stands for the value
    .execute(calls, killed)                 make the calls; yield the key and result of each

`study.run` knows no engine by name: `local.py` is this machine's cores, `ray.py` a Ray cluster.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from unchurn.core.errors import InputError


@dataclass(frozen=True)
class Call:
    """A function, its arguments (some of which an engine gave), and the key of its result."""

    key: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    gpus: int = 0
    stays: bool = False  # the result is for other calls only, and stays where it is


class Engine(Protocol):
    """What `run.carry_out` asks of an engine."""

    @property
    def workers(self) -> int | None:
        """Calls at a time; None for as many as there will be cores."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def share(self, value: Any) -> Any:
        """Take a value that many calls need; what is given stands for it in their arguments."""

    def execute(self, calls: deque[Call], killed: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Make the calls, in any order, also those added meanwhile; yield keys and results.

        The result of a call that stays is something that stands for it. A call whose process is
        killed, as for want of memory, is made again with fewer at a time; one that is killed then
        too gives the result of `killed`.
        """


def make_engine(
    name: str = "local", workers: int | None = None, ray_address: str | None = None
) -> Engine:
    """An engine by name; as many workers as there are cores, if not given."""
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
        if error.name != "ray":
            raise
        raise InputError("the Ray engine needs Ray: pip install 'unchurn[ray]'") from error
    return Ray(ray_address, workers)
