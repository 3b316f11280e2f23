"""SVHN: cropped street-view house numbers, 32×32×3, two MATLAB files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError
from unchurn.core.files import reading
from unchurn.datasets.base import Dataset, RemoteFile, Source, as_unit
from unchurn.datasets.find import obtain
from unchurn.datasets.mat import read_mat


def load(data_dir: Path | None = None) -> Dataset:
    """Load images (n, 32, 32, 3) in [0, 1]; the files' label 10 is the digit 0."""
    (train, test), notes = obtain(SVHN.files, data_dir)
    x_train, y_train = _read(train)
    x_test, y_test = _read(test)
    return Dataset(
        name="svhn",
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        classes=tuple(str(digit) for digit in range(10)),
        notes=notes,
    )


def _read(path: Path) -> tuple[Float32, npt.NDArray[np.int64]]:
    """Read one part and check its arrays X (height, width, 3, n) and y (n, 1)."""
    with reading(path, "a MATLAB file"):
        content = read_mat(path, ("X", "y"))
    x, y = content["X"], content["y"].reshape(-1)
    if x.ndim != 4 or x.shape[2] != 3 or x.dtype != np.uint8:
        raise InputError(f"{path}: X must be bytes (height, width, 3, n), not {x.dtype} {x.shape}")
    if x.size == 0:
        raise InputError(f"{path}: holds no image")
    if x.shape[3] != len(y) or y.dtype.kind not in "iuf" or not np.isin(y, range(1, 11)).all():
        raise InputError(f"{path}: y must be {x.shape[3]} labels from 1 to 10")
    return as_unit(np.ascontiguousarray(x.transpose(3, 0, 1, 2))), y.astype(np.int64) % 10


HOME = "https://ufldl.stanford.edu/housenumbers/"
SVHN = Source(
    name="svhn",
    n_train=73257,
    n_test=26032,
    n_classes=10,
    load=load,
    files=(
        RemoteFile(
            path="svhn/train_32x32.mat",
            url=HOME + "train_32x32.mat",
            sha256="435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
            size=182040794,
        ),
        RemoteFile(
            path="svhn/test_32x32.mat",
            url=HOME + "test_32x32.mat",
            sha256="cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
            size=64275384,
        ),
    ),
)
