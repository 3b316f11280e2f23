"""Run a command in a child process, and report in one line if it ran out of memory.

Polars is written in Rust, which aborts a process that gets no memory (SIGABRT, exit code 134).
Nothing inside that process can prevent it.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from types import FrameType
from typing import IO

WATCHED = ("compare", "gate", "blend", "plan")  # commands whose work is done by Polars
NO_ANSWER, CRASH = 2, 70  # exit codes: bad input, and a bug in unchurn
NO_MEMORY = "out of memory: compare fewer rows or columns at once, or where there is more of it"
DIE_WITH_PARENT = 1  # Linux's PR_SET_PDEATHSIG


def run_watched(run: Callable[[], None]) -> None:
    """Run a command, which ends the process; only WATCHED commands get a child process.

    The process forks before Polars is loaded, because Polars' threads would not survive a fork.
    """
    is_watched = sys.argv[1:2] and sys.argv[1] in WATCHED
    if not is_watched or not hasattr(os, "fork") or "polars" in sys.modules:
        run()
        return
    with tempfile.TemporaryFile() as noise:
        child = os.fork()
        if child == 0:
            _keep_apart(noise)
            run()
            return
        status = _wait(child)
        noise.seek(0)
        _end(status, noise.read())


def _keep_apart(noise: IO[bytes]) -> None:
    """In the child: send to a file what Rust prints as it aborts, but not what Python prints."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    real = os.dup(2)
    sys.stderr.flush()
    sys.stderr = open(  # noqa: SIM115, PTH123
        real, "w", buffering=1, encoding=sys.stderr.encoding, errors=sys.stderr.errors
    )
    os.dup2(noise.fileno(), 2)


def _wait(child: int) -> int:
    """In the parent: wait for the child to end, and pass on signals that should end it."""

    def hand_on(number: int, _: FrameType | None) -> None:
        os.kill(child, number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        # A terminal sends Ctrl-C to both.
        is_given = number == signal.SIGINT and any(os.isatty(at) for at in (0, 1, 2))
        signal.signal(number, signal.SIG_IGN if is_given else hand_on)
    return os.waitpid(child, 0)[1]


def _end(status: int, noise: bytes) -> None:
    """End as the child did; if it ran out of memory, print one line."""
    if not os.WIFSIGNALED(status):
        code = os.waitstatus_to_exitcode(status)
        if code == CRASH:
            os.write(2, noise)
        sys.exit(code)
    number = os.WTERMSIG(status)
    is_starved = number == signal.SIGABRT and b"memory allocation of" in noise
    if is_starved or number == signal.SIGKILL:  # the system kills to reclaim memory
        os.write(2, f"unchurn: {NO_MEMORY}\n".encode())
        sys.exit(NO_ANSWER)
    os.write(2, noise)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
