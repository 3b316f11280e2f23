"""Read MATLAB files in a separate process: SciPy's reader may crash on a damaged file.

As a program (`python -m unchurn.datasets.mat FILE FOLDER NAME…`) this module writes the named
arrays into a folder. `read_mat` runs that program and reads the arrays from the folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.isolated import run_apart, work_apart
from unchurn.core.leftovers import temporary_folder
from unchurn.core.numpy_files import load_array, save_array

KIND = "a MATLAB file"


def read_mat(path: Path, names: Sequence[str]) -> dict[str, Array]:
    """The named arrays of a file; InputError if they cannot be read."""
    with path.open("rb"):  # a missing or unreadable file raises its own error
        pass
    with temporary_folder() as folder:
        run_apart("unchurn.datasets.mat", str(path), str(folder), *names, kind=KIND)
        return {name: load_array(folder / f"{name}.npy") for name in names}


def _copy_arrays(path: str, folder: str, *names: str) -> None:
    """Read a file's arrays and write them into a folder."""
    from scipy.io import loadmat

    content = loadmat(path, variable_names=names)
    if missing := [name for name in names if name not in content]:
        raise InputError(f"needs the arrays {' and '.join(names)}, has no {missing[0]}")
    for name in names:
        save_array(Path(folder) / f"{name}.npy", content[name])


if __name__ == "__main__":
    work_apart(_copy_arrays, KIND)
