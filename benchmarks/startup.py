"""Commands that have little to do: when they first say something, and when they are done.

Every measurement is a process of its own; contenders alternate. `--before` is a checkout of an
older commit to compare with (`git worktree add /tmp/before COMMIT`). Processor seconds are those of
a command with all its processes: what else runs on the machine moves them less.

Usage: python benchmarks/startup.py [--rounds 5] [--before FOLDER] [--only small]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from page import table

SOURCE = Path(__file__).parent.parent / "src"
MAIN = "from unchurn.cli import main; main()"
CASES = {
    "small": ("bench", "digits", "--runs", "3", "--epochs", "4"),
    "large": ("bench", "digits", "--runs", "5", "--epochs", "60"),
    "plan": ("bench", "digits", "--dry-run"),
    "help": ("--help",),
}


@dataclass(frozen=True)
class Measured:
    """Seconds of one command."""

    first: float  # until it says something
    wall: float
    processor: float


def measure(arguments: tuple[str, ...], source: Path) -> Measured:
    """Run a command of the sources in `source`, in an empty folder."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments],
            stdout=subprocess.PIPE,
            env=environment,
            cwd=folder,
        ) as process:
            said = cast(IO[bytes], process.stdout)
            said.read(1)
            first = time.perf_counter() - start
            said.read()
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return Measured(first, wall, used.ru_utime + used.ru_stime)


def contenders(case: str, before: Path | None) -> dict[str, tuple[tuple[str, ...], Path]]:
    """By name: the command, and the sources to run it from."""
    sources = {"now": SOURCE} | ({"before": before / "src"} if before else {})
    if case not in ("small", "large"):
        return {name: (CASES[case], source) for name, source in sources.items()}
    return {
        f"{name}, workers {n}": ((*CASES[case], "--workers", str(n)), source)
        for name, source in sources.items()
        for n in (2, 1)
    }


def main() -> None:
    """Alternate the contenders; print medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    options = parser.parse_args()
    rows = []
    for case in (case for case in CASES if options.only in case):
        those = contenders(case, options.before)
        found: dict[str, list[Measured]] = {name: [] for name in those}
        for _ in range(options.rounds):
            for name, (arguments, source) in those.items():
                found[name].append(measure(arguments, source))
        for name, each in found.items():
            medians = {
                what: statistics.median(getattr(one, what) for one in each)
                for what in ("first", "wall", "processor")
            }
            rows.append([case, name, *(f"{seconds:.2f}" for seconds in medians.values())])
    print(table(["case", "who", "first output, s", "done, s", "processor seconds"], rows))


if __name__ == "__main__":
    main()
