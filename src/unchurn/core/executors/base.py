"""What an executor is: it makes calls, here or elsewhere, and yields what comes back.

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
    """A function, its arguments (some may be handles), and the key that its result comes with."""

    key: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    _: KW_ONLY
    gpus: int = 0
    stays: bool = False  # the result is for other calls only: a handle of it comes back
    seconds: float | None = None  # about how long it takes, if known
    imports: tuple[str, ...] = ()  # modules that it needs, which have no threads when imported


class Executor(Protocol):
    """Where calls run: what those who have many calls to make ask of it."""

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
        """Put a value where workers can read it; returns a handle to pass instead.

        A function whose argument is a handle is called with the value itself.
        """

    def execute(self, calls: deque[Call], killed: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Make the calls, the first ones first, also those added meanwhile; yield keys and results.

        The result of a call that stays is a handle of it. A call whose process is killed, as for
        want of memory, is made again with fewer at a time; one that is killed then too gives the
        result of `killed`.
        """
