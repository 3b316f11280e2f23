"""The cores of this machine: one process per run at a time, large arrays memory-mapped once."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Self, TypeVar

import joblib

from unchurn.core.executors.base import Call
from unchurn.core.leftovers import clear_dead, own_name

Result = TypeVar("Result")
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (of Linux; elsewhere there is none)
LEAST_MEMORY = 2_000_000_000  # bytes of it, for arrays to be put there
# Of results that nobody takes any more, whether they are finished or not.
JOBLIBS_LAMENT = r"\d+ tasks (which were still being processed|have been successfully executed)"
TRIES = 3  # of a call that is killed when it is alone: it may not be its own fault


@dataclass(frozen=True)
class Local:
    """The executor of this machine: so many processes at a time."""

    workers: int

    def __enter__(self) -> Self:
        clear_memory()
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def share(self, value: Any) -> Any:
        """The value is its own handle: joblib memory-maps the large arrays in it."""
        return value

    def execute(self, calls: deque[Call], killed: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Make all calls that there are, then those that were added meanwhile."""
        while calls:
            batch = list(calls)
            calls.clear()
            arguments = [(call.function, *call.arguments) for call in batch]
            for number, result in execute(_made, arguments, self.workers, killed):
                yield batch[number].key, result


def _made(function: Callable[..., Result], *arguments: Any) -> Result:
    return function(*arguments)


def execute(
    function: Callable[..., Result],
    arguments: Sequence[tuple[Any, ...]],
    workers: int,
    killed: Callable[[], Result],
) -> Iterator[tuple[int, Result]]:
    """Call the function on each tuple of arguments; yield its number and result, in any order.

    A worker process that is killed, as for want of memory, takes the others with it: what was not
    finished is called again, with fewer at a time if nothing was finished in between. A call that
    is killed again and again, although it is alone, gives the result of `killed`.
    """
    left = dict(enumerate(arguments))
    broken = False
    alone = 0  # kills in a row of the first call that is left, with nothing beside it
    while left:
        before = len(left)
        try:
            for number, result in _attempt(function, left, workers, apart=broken):
                del left[number]
                alone = 0
                yield number, result
        except BrokenExecutor:
            broken = True
            if len(left) < before:
                continue
            if workers > 1:
                workers //= 2
                continue
            alone += 1
            if alone < TRIES:
                continue
            alone = 0
            number = next(iter(left))
            del left[number]
            yield number, killed()


def _attempt(
    function: Callable[..., Result], left: dict[int, tuple[Any, ...]], workers: int, *, apart: bool
) -> Iterator[tuple[int, Result]]:
    """Call the function on what is left; `apart` keeps calls that may be killed out of here."""
    if not apart and (workers == 1 or len(left) < 2):
        for number, values in list(left.items()):
            yield number, function(*values)
        return
    folder = str(_memory())
    one = workers == 1  # in a process of its own, which joblib gives from two workers on
    parallel = joblib.Parallel(
        n_jobs=max(workers, 2),
        return_as="generator_unordered",
        pre_dispatch=1 if one else "2*n_jobs",
        batch_size=1,
        temp_folder=folder,
    )
    # What an interruption cancels is made by the next run; joblib would lament it on stderr.
    warnings.filterwarnings("ignore", message=JOBLIBS_LAMENT)
    with _interrupts_held():
        joblib.Parallel(n_jobs=max(workers, 2), temp_folder=folder)(
            joblib.delayed(_belong_to)(os.getpid()) for _ in range(max(workers, 2))
        )
    calls = [
        joblib.delayed(_numbered)(n, function, values, os.getpid()) for n, values in left.items()
    ]
    yield from parallel(calls)


def _memory_places() -> list[Path]:
    """Where arrays may be put to be shared by processes, the best first: in memory, if it has room.

    As joblib chooses, which would give its folders no name that tells whose they are.
    """
    places = [Path(tempfile.gettempdir())]
    if SHARED_MEMORY.is_dir():
        roomy = shutil.disk_usage(SHARED_MEMORY).total >= LEAST_MEMORY
        places.insert(0 if roomy else 1, SHARED_MEMORY)
    if own := os.environ.get("JOBLIB_TEMP_FOLDER"):
        places.insert(0, Path(own))
    return places


@cache
def _memory() -> Path:
    """The folder of this process for arrays that its workers share; gone when it ends."""
    folder = Path(tempfile.mkdtemp(prefix=own_name(), dir=_memory_places()[0]))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def clear_memory() -> None:
    """Remove what dead processes of ours left: shared arrays, and the semaphores of their pools.

    A pool names its semaphores by its process, as anybody's pools do: only those go whose process
    is known by a folder as one of ours.
    """
    dead = set().union(*(clear_dead(place) for place in _memory_places()))
    for process in dead:
        for semaphore in SHARED_MEMORY.glob(f"sem.loky-{process}-*"):
            with suppress(OSError):  # another was faster, or it is not ours
                semaphore.unlink()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while workers start: they keep it so, and it comes to us alone."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # which, if it is started later, lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _numbered(
    number: int, function: Callable[..., Result], values: tuple[Any, ...], parent: int
) -> tuple[int, Result]:
    _belong_to(parent)
    return number, function(*values)


@cache
def _belong_to(parent: int) -> None:
    """Once in a process: leave Ctrl-C to the parent, and watch for its death.

    Joblib leaves the workers of a killed parent, and starts new ones whenever one is lost.
    """
    if os.getpid() == parent:  # within another's worker, joblib makes calls where they are
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        clear_memory()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
