"""`Pool`: the worker processes of this machine, and the call that each is making."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pipe, connection
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle

from unchurn.core.executors.base import Call
from unchurn.core.executors.memory import Shared, memory

START = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given.pop('path'); "
    "from unchurn.core.executors.worker import main; main(**given)"
)
FORKS = sys.platform == "linux"  # elsewhere libraries may start threads when imported
# Libraries read these when they are loaded. BLAS has one thread, whatever the number of workers:
# with more, sums may differ in their last bits.
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS")
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                "VECLIB_MAXIMUM_THREADS")  # fmt: skip


class KilledError(RuntimeError):
    """The process that made a call was killed."""


@dataclass(frozen=True)
class Failure:
    """The error that a call raised, and its cause."""

    error: BaseException
    cause: BaseException | None


class Pool:
    """Processes that make one call at a time; if one is killed, the others go on."""

    def __init__(self, imports: tuple[str, ...], threads: int) -> None:
        self.imports, self.threads = imports, threads
        self.busy: dict[Connection, Call] = {}
        self._idle: list[Connection] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def grow(self, workers: int) -> None:
        """Start processes until there are at least `workers`."""
        missing = max(0, workers - len(self.busy) - len(self._idle))
        pipes = [Pipe() for _ in range(missing)]
        for together in [pipes] if FORKS and pipes else [[pipe] for pipe in pipes]:
            self._processes.append(self._process([theirs for _, theirs in together]))
        self._idle += [ours for ours, _ in pipes]
        for _, theirs in pipes:
            theirs.close()

    def _process(self, connections: list[Connection]) -> subprocess.Popen[bytes]:
        """Start a process that becomes as many workers as it is given connections."""
        numbers = [each.fileno() for each in connections]
        given = {
            "path": [place for place in sys.path if isinstance(place, str)],
            "connections": numbers, "imports": self.imports, "folder": str(memory()),
        }  # fmt: skip
        usual = dict.fromkeys(THREADS, str(self.threads)) | dict.fromkeys(BLAS_THREADS, "1")
        with _interrupts_held():
            return subprocess.Popen(  # noqa: S603
                # -P: no file of the current folder is taken for one of Python's.
                [sys.executable, "-P", "-c", START, json.dumps(given)],
                env=usual | os.environ,
                stdin=subprocess.DEVNULL,
                pass_fds=numbers,
            )

    def start(self, call: Call) -> None:
        """Send a call to an idle process."""
        worker = self._idle.pop()
        self.busy[worker] = call
        arguments = [one.parcel if isinstance(one, Shared) else one for one in call.arguments]
        message = cloudpickle.dumps((call.stays, call.function, arguments))
        with contextlib.suppress(OSError):  # it is gone, which `wait` will notice
            worker.send_bytes(message)

    def wait(self) -> list[tuple[Call, Any]]:
        """Wait for calls to end; return their results, or a Failure or KilledError instead."""
        ended: list[tuple[Call, Any]] = []
        ready = connection.wait(list(self.busy))
        for worker in [worker for worker in self.busy if worker in ready]:
            call = self.busy.pop(worker)
            try:
                is_made, result = cloudpickle.loads(worker.recv_bytes())
            except (EOFError, OSError):
                worker.close()
                ended.append((call, KilledError()))
                continue
            self._idle.append(worker)
            if not is_made:
                result = Failure(*result)
            elif call.stays:
                result = Shared(parcel=result)
            ended.append((call, result))
        return ended

    def close(self) -> None:
        """End all processes, busy or not."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait()
        for worker in (*self._idle, *self.busy):
            worker.close()


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block Ctrl-C while a process starts, until it ignores it: only this process handles it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
