"""Readers that may crash run in a process of their own, where that is an error of one line.

A module with such a reader is a program, too: `run_apart` starts it, and there `work_apart` does
the work. What they hand over lies in files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

from unchurn.core.errors import InputError

REFUSED = 3  # the exit code of the process when it could say why


def run_apart(module: str, *arguments: str, kind: str) -> None:
    """Run a module as a program; whatever goes wrong in it is an InputError."""
    # -P: nothing is imported from the folder where we happen to be.
    command = [sys.executable, "-P", "-m", module, *arguments]
    # Where this unchurn comes from, the other process finds it, too.
    search = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(  # noqa: S603
        command,
        env={**os.environ, "PYTHONPATH": search, "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    # What libraries print goes before.
    said = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason"])[-1]
    if done.returncode == REFUSED:
        raise InputError(said)
    if done.returncode < 0:
        ended = signal.Signals(-done.returncode).name
        raise InputError(f"damaged, or too large: reading it was ended by {ended}")
    if done.returncode:
        raise InputError(f"damaged, or not {kind}: {said}")


def work_apart(work: Callable[..., None], kind: str) -> None:
    """In that process: do the work with the program's arguments; if it fails, say why in a line."""
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
