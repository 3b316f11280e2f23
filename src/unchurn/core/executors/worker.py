"""A worker process, which makes the calls sent through its connection until that is closed.

The first process imports the modules that calls need, then forks one worker per connection: torch
is imported once, and is in memory once. It forks before any library has threads.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Never

import cloudpickle
import numpy as np

from unchurn.core.executors.memory import Parcel, pack
from unchurn.core.leftovers import remove


def main(connections: Sequence[int], imports: Sequence[str], folder: str) -> None:
    """Import, fork, and end when all workers have; a single connection is served without a fork."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that sends calls handles Ctrl-C
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for name in imports:
        with contextlib.suppress(ImportError):  # the call that needs it will explain it better
            import_module(name)
    if len(connections) == 1:
        _serve(Connection(connections[0]), Path(folder))
    workers: list[int] = []

    def end(*_: Any) -> None:
        for worker in workers:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):  # it just ended
                os.kill(worker, signal.SIGKILL)
                os.waitpid(worker, 0)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    for number, own in enumerate(connections):
        worker = os.fork()
        if worker == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for other in connections[number + 1 :]:  # held by two workers, it would not be closed
                os.close(other)
            _serve(Connection(own), Path(folder))
        workers.append(worker)
        os.close(own)
    while workers:
        workers.remove(os.wait()[0])


def _serve(connection: Connection, folder: Path) -> Never:
    """Make calls, one after another; end when the process that sends them ends."""
    np.random.seed()  # noqa: NPY002 (forked, all would draw alike where own code sets no seed)
    messages: SimpleQueue[bytes] = SimpleQueue()

    def read() -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                messages.put(connection.recv_bytes())
        remove(folder)  # the sender was killed, and could not do so itself
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    while True:
        connection.send_bytes(_answer(messages.get(), folder))


def _answer(message: bytes, folder: Path) -> bytes:
    """Make a call; return its pickled result, or the error that it raised."""
    try:
        stays, function, arguments = cloudpickle.loads(message)
        return _pickled((True, _made(stays, function, arguments, folder)))
    except BaseException as error:  # whatever own code raises
        error.add_note(f"In a worker process:\n{traceback.format_exc()}")
        for sent in ((error, error.__cause__), (error, None)):
            answer = _as_answer(sent)
            if answer is not None:
                return answer
        return _pickled((False, (RuntimeError(traceback.format_exc()), None)))
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()  # output of the user's code; this process is killed in the end


def _made(stays: bool, function: Callable[..., Any], arguments: Sequence[Any], folder: Path) -> Any:
    values = [one.value() if isinstance(one, Parcel) else one for one in arguments]
    result = function(*values)
    return pack(result, folder) if stays else result


def _as_answer(sent: tuple[BaseException, BaseException | None]) -> bytes | None:
    """The pickled error with its cause, which its own pickle omits; None if it is unreadable."""
    try:
        answer = _pickled((False, sent))
        cloudpickle.loads(answer)  # fails for some classes with an `__init__` of their own
    except Exception:  # whatever own code raises
        return None
    return answer


def _pickled(answer: tuple[bool, Any]) -> bytes:
    return bytes(cloudpickle.dumps(answer))
