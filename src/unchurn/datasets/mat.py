"""MATLAB files, read in a process of their own: on a damaged one SciPy's reader may crash.

As a program (`python -m unchurn.datasets.mat FILE FOLDER NAME…`) it writes the arrays of these
names into a folder; `read_mat` runs that and reads them from there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.leftovers import temporary_folder
from unchurn.core.numpy_files import load_array, save_array

REFUSED = 3  # the exit code of the process when it could say why


def read_mat(path: Path, names: Sequence[str]) -> dict[str, Array]:
    """The arrays of these names in a file; whatever goes wrong is an InputError."""
    with path.open("rb"):  # not there, or not ours to read, is an error of its own
        pass
    with temporary_folder() as folder:
        # -P: nothing is imported from the folder where we happen to be.
        command = [sys.executable, "-P", "-m", "unchurn.datasets.mat", str(path), str(folder)]
        # Where this unchurn comes from, the other process finds it, too.
        search = os.pathsep.join(filter(None, sys.path))
        done = subprocess.run(  # noqa: S603
            [*command, *names],
            env={**os.environ, "PYTHONPATH": search, "PYTHONWARNINGS": "ignore"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode == REFUSED:
            raise InputError(done.stderr.decode("utf-8", "replace").strip())
        if done.returncode < 0:
            ended = signal.Signals(-done.returncode).name
            raise InputError(f"damaged: reading it was ended by {ended}")
        if done.returncode:
            reason = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason"]
            raise InputError(f"damaged, or not a MATLAB file: {reason[-1]}")
        return {name: load_array(folder / f"{name}.npy") for name in names}


def main() -> None:
    """Read a file's arrays and write them into a folder."""
    from scipy.io import loadmat

    path, folder, *names = sys.argv[1:]
    try:
        content = loadmat(path, variable_names=names)
        if missing := [name for name in names if name not in content]:
            raise InputError(f"needs the arrays {' and '.join(names)}, has no {missing[0]}")
        for name in names:
            save_array(Path(folder) / f"{name}.npy", content[name])
    except InputError as error:
        reason = str(error)
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        reason = f"damaged, or not a MATLAB file: {said}"
    else:
        return
    sys.stderr.write(reason)
    sys.exit(REFUSED)


if __name__ == "__main__":
    main()
