"""Run readers that may crash in a separate process, so that a crash is an error of one line.

A module with such a reader is also a program: `run_apart` starts it, and in it `work_apart` does
the work. Results are passed in files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

from unchurn.core.errors import InputError

REFUSED = 3  # exit code of the process if it gives a reason


def run_apart(module: str, *arguments: str, kind: str) -> None:
    """Run a module as a program; any failure in it is an InputError."""
    # -P: nothing is imported from the current folder.
    command = [sys.executable, "-P", "-m", module, *arguments]
    # The other process imports unchurn from the same place.
    search = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(  # noqa: S603
        command,
        env={**os.environ, "PYTHONPATH": search, "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    # The reason comes last, after anything that libraries print.
    said = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason"])[-1]
    if done.returncode == REFUSED:
        raise InputError(said)
    if done.returncode < 0:
        ended = signal.Signals(-done.returncode).name
        raise InputError(f"damaged, or too large: reading it was ended by {ended}")
    if done.returncode:
        raise InputError(f"damaged, or not {kind}: {said}")


def work_apart(work: Callable[..., None], kind: str) -> None:
    """Do the work in that process, with its arguments; on failure, write the reason as a line."""
    try:
        work(*sys.argv[1:])
    except InputError as error:
        reason = str(error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of Rust is no Exception
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        reason = f"damaged, or not {kind}: {said}"
    else:
        return
    sys.stderr.write("\n" + " ".join(reason.split()))
    sys.exit(REFUSED)
