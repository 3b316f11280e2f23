"""A command without memory ends with one line and exit code 2, any other end is handed on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unchurn import cli
from unchurn.cli.guard import NO_MEMORY

OURS = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
BEGIN = """
import os, signal, sys, time
sys.argv = ["unchurn", "compare"]
from unchurn.cli.guard import run_watched
"""


def watched(code, **options):
    """A process that watches this code as it would a command."""
    script = f"{BEGIN}\ndef run():\n    {code}\nrun_watched(run)\n"
    return subprocess.Popen(
        [sys.executable, "-c", script], env=OURS, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "expected", "out", "err"),
    [
        ("print('x'); sys.exit(3)", 3, "x\n", ""),
        ("sys.stderr.write('why'); sys.exit(2)", 2, "", "why"),
        ("os.write(2, b'panicked'); sys.exit(2)", 2, "", ""),  # it became an error of one line
        ("os.write(2, b'panicked'); sys.exit(70)", 70, "", "panicked"),
        ("os.write(2, b'memory allocation of 9 bytes failed'); os.abort()", 2, "",
         f"unchurn: {NO_MEMORY}\n"),
        ("os.write(2, b'assertion failed'); os.abort()", -signal.SIGABRT, "", "assertion failed"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 2, "", f"unchurn: {NO_MEMORY}\n"),
    ],
)  # fmt: skip
def test_ends_are_handed_on(code, expected, out, err):
    process = watched(code)
    assert (*process.communicate(), process.returncode) == (out, err, expected)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_command(number):
    ready = f"signal.signal({int(number)}, lambda *_: sys.exit(5)); print('on', flush=True)"
    process = watched(f"{ready}; time.sleep(60)")
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 5


def test_too_little_memory_is_one_line(tmp_path):
    n = 10_000_000
    table = pl.DataFrame({"id": np.arange(n), "prediction": np.zeros(n, int)})
    table.write_parquet(tmp_path / "a.parquet")
    command = f"ulimit -v 1000000; exec {sys.executable} -m unchurn compare a.parquet a.parquet"
    done = subprocess.run(
        ["/bin/bash", "-c", command], cwd=tmp_path, env=OURS, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"unchurn: {NO_MEMORY}\n"
