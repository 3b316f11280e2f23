"""Kill `unchurn bench` at random moments, start it again, and compare what comes of it in the end.

    python benchmarks/killed.py [--kills 20] [--seed 0]

Runs the whole grid on digits (257 settings × 5 runs, 3 epochs) once undisturbed and once killed by
SIGKILL, by turns the driver alone and all of its processes; both must end in the same bytes.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = ("bench", "digits", "--preset", "grid", "--runs", "5", "--epochs", "3", "--out")


def main() -> None:
    """Undisturbed, then disturbed, then compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    command = [str(Path(sys.executable).with_name("unchurn")), *COMMAND]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.monotonic()
        subprocess.run([*command, folder / "whole"], check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        total = len(list((folder / "whole/runs").iterdir()))
        print(f"undisturbed: {total} trainings in {seconds:.0f} s")

        runs = folder / "killed/runs"
        kept = 0
        for kill in range(1, arguments.kills + 1):
            # Each time until a random share of what is missing has come, wherever that is.
            goal = kept + random.uniform(0, 1.5 / arguments.kills) * total
            with subprocess.Popen(
                [*command, folder / "killed"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            ) as process:
                while process.poll() is None and (
                    not runs.exists() or len(list(runs.iterdir())) < goal
                ):
                    time.sleep(random.uniform(0, 0.05))
                if process.poll() is None:
                    stop = os.kill if kill % 2 else os.killpg
                    stop(process.pid, signal.SIGKILL)
            kept = len([run for run in runs.iterdir() if not run.name.startswith(".")])
            print(f"kill {kill}: {kept} trainings kept")
        subprocess.run([*command, folder / "killed"], check=True, stdout=subprocess.DEVNULL)
        for table in ("table.csv", "table.md", "table.tex"):
            one, two = ((folder / kind / table).read_bytes() for kind in ("whole", "killed"))
            print(f"{table}: {'the same bytes' if one == two else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
