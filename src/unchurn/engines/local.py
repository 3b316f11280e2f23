"""The cores of this machine: one process per run at a time, large arrays memory-mapped once."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import joblib

from unchurn.errors import InputError

Result = TypeVar("Result")


def execute(
    function: Callable[..., Result], arguments: Sequence[tuple[Any, ...]], workers: int
) -> Iterator[tuple[int, Result]]:
    """Call the function on each tuple of arguments; yield its number and result, in any order."""
    if workers == 1 or len(arguments) < 2:
        for number, values in enumerate(arguments):
            yield number, function(*values)
        return
    parallel = joblib.Parallel(
        n_jobs=workers, return_as="generator_unordered", pre_dispatch="2*n_jobs"
    )
    # What an interruption cancels is made by the next run; joblib would lament it on stderr.
    warnings.filterwarnings("ignore", message=r"\d+ tasks which were still being processed")
    with _interrupts_held():
        joblib.Parallel(n_jobs=workers)(joblib.delayed(os.getpid)() for _ in range(workers))
    calls = (joblib.delayed(_numbered)(n, function, values) for n, values in enumerate(arguments))
    try:
        yield from parallel(calls)
    except BrokenExecutor as error:
        raise InputError(
            "a worker process was killed, most likely for want of memory: the same command goes "
            "on; try fewer --workers"
        ) from error


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while workers start: they keep it so, and it comes to us alone."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _numbered(
    number: int, function: Callable[..., Result], values: tuple[Any, ...]
) -> tuple[int, Result]:
    _end_with_parent(os.getppid())
    return number, function(*values)


@cache
def _end_with_parent(parent: int) -> None:
    """Watch, once in a process, for the parent's death: joblib leaves workers of a killed one."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
