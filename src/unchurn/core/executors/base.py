"""`Executor`: the interface of objects that make calls, here or elsewhere, and yield results.

with executor:                          entered before use, left when all is done
    executor.share(value)               put a value where workers can read it; pass on what it
                                        returns, a handle, instead of the value
    executor.execute(calls, killed)     make the calls; yield the key and result of each
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from types import TracebackType
from typing import Any, Protocol, Self


@dataclass(frozen=True)
class Call:
    """A function, its arguments (some may be handles), and a key that identifies its result."""

    key: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    _: KW_ONLY
    gpus: int = 0
    stays: bool = False  # the result is only for other calls: a handle of it is returned
    seconds: float | None = None  # estimated, if known
    imports: tuple[str, ...] = ()  # modules that it needs; importing them must start no threads


class Executor(Protocol):
    """Makes many calls, on this machine or elsewhere."""

    @property
    def workers(self) -> int | None:
        """Number of calls at a time; None for one per core of a cluster."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def share(self, value: Any) -> Any:
        """Put a value where workers can read it; returns a handle to pass instead.

        A function whose argument is a handle is called with the value itself.
        """

    def execute(self, calls: deque[Call], killed: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Make the calls in order, also those added meanwhile; yield keys and results.

        A call with `stays` gives a handle of its result. A call whose process is killed, as for
        want of memory, is made again, finally with fewer at a time. If it is killed even then, its
        result is that of `killed`.
        """
