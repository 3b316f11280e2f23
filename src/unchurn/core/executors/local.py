"""`Local`: run calls in worker processes of this machine, or in this process if they are short."""

from __future__ import annotations

import heapq
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from threadpoolctl import threadpool_limits

from unchurn.core.executors.base import Call
from unchurn.core.executors.memory import Shared, clear_memory
from unchurn.core.executors.pool import Failure, KilledError, Pool

START_UP = 2.5  # seconds until workers run and have imported torch and the like
TRIES = 3  # of a call that is killed while alone: it may not be its own fault
CAN_FORK = hasattr(os, "fork")  # without it, as on Windows, all calls are made in this process


class Local:
    """The executor of this machine, with `workers` processes at a time."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: Pool | None = None
        self._is_entered = False

    def __enter__(self) -> Self:
        clear_memory()
        self._is_entered = True
        return self

    def __exit__(self, *error: object) -> None:
        self._is_entered = False
        self._close()

    def share(self, value: Any) -> Any:
        """A handle of a value, whose arrays go into shared memory when a worker needs them."""
        return Shared(value)

    def execute(self, calls: deque[Call], killed: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Make calls in order: in this process until workers pay off, if they ever do.

        From then on workers make all: if one is killed, this process goes on.
        """
        try:
            while calls and self._pool is None and not self._pays_off(calls):
                call = calls.popleft()
                yield call.key, self._make_here(call)
            yield from self._send(calls, killed)
        finally:  # if the caller gave up, workers are busy with calls that nobody waits for
            if not self._is_entered or (self._pool and self._pool.busy):
                self._close()

    def _pays_off(self, calls: Sequence[Call]) -> bool:
        """Whether workers, which must start first, would finish the calls sooner."""
        if self.workers == 1 or len(calls) < 2 or not CAN_FORK:
            return False
        seconds = [call.seconds for call in calls if call.seconds is not None]
        if len(seconds) < len(calls):
            return True
        return START_UP + makespan(seconds, self.workers) < sum(seconds)

    def _make_here(self, call: Call) -> Any:
        """Make a call in this process, with one BLAS thread, so that sums are as in workers."""
        values = [one.value if isinstance(one, Shared) else one for one in call.arguments]
        with threadpool_limits(1, user_api="blas"):
            result = call.function(*values)
        return Shared(result) if call.stays else result

    @property
    def _threads(self) -> int:
        """Threads of a worker: its share of the cores."""
        return max(1, (os.cpu_count() or 1) // self.workers)

    def _send(self, calls: deque[Call], killed: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Have workers make the calls, including those added meanwhile.

        A call whose worker was killed is made again, last; with fewer at a time, if no call was
        finished since the previous kill. If it is killed TRIES times while alone, its result is
        that of `killed`.
        """
        at_a_time, is_calm = self.workers, True
        alone: Counter[Any] = Counter()  # kills of a call with nothing beside it
        ended: list[tuple[Any, Any]] = []
        while calls or ended or (self._pool and self._pool.busy):
            pool = self._pool = self._pool or self._make_pool(calls)
            pool.grow(min(at_a_time, len(pool.busy) + len(calls)))
            while calls and len(pool.busy) < at_a_time:
                pool.start(calls.popleft())
            yield from ended  # while workers are busy
            ended = []
            n_busy = len(pool.busy)
            failure: Failure | None = None
            for call, result in pool.wait() if pool.busy else ():
                if isinstance(result, Failure):
                    failure = result
                elif not isinstance(result, KilledError):
                    is_calm = True
                    ended.append((call.key, result))
                elif n_busy > 1:
                    at_a_time, is_calm = at_a_time if is_calm else max(1, at_a_time // 2), False
                    calls.append(call)
                else:
                    alone[call.key] += 1
                    if alone[call.key] < TRIES:
                        calls.append(call)
                    else:
                        ended.append((call.key, killed()))
            if failure is not None:
                yield from ended  # what ended together with it is not lost
                raise failure.error from failure.cause

    def _make_pool(self, calls: Sequence[Call]) -> Pool:
        imports = dict.fromkeys(name for call in calls for name in call.imports)
        return Pool(tuple(imports), self._threads)

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def makespan(seconds: Sequence[float], workers: int) -> float:
    """The time when the last call ends, if each is begun by the first free worker.

    >>> makespan([3, 3, 3], workers=2)
    6.0
    """
    free = [0.0] * workers
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)
