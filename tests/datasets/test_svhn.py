"""SVHN: tiny MATLAB files are read, and bad ones named."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from unchurn.core.errors import InputError
from unchurn.datasets import load


def write_svhn(folder: Path, **changes: np.ndarray) -> np.ndarray:
    x = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 4), np.uint8)
    y = np.array([[1], [10], [9], [2]], np.uint8)
    (folder / "svhn").mkdir(exist_ok=True)
    for part in ("train", "test"):
        savemat(folder / f"svhn/{part}_32x32.mat", {"X": x, "y": y} | changes)
    return x


def test_svhn_files(tmp_path):
    x = write_svhn(tmp_path)
    data = load("svhn", tmp_path)
    assert data.x_train.shape == (4, 32, 32, 3)
    np.testing.assert_allclose(data.x_train[2], x[:, :, :, 2] / 255, rtol=1e-6)
    assert data.y_train.tolist() == [1, 0, 9, 2]  # label 10 is the digit 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.array([[1], [2]], np.uint8)}, "y must be 4 labels from 1 to 10"),
        ({"y": np.array([[0], [1], [2], [3]], np.uint8)}, "y must be 4 labels from 1 to 10"),
        ({"y": np.array([[1], [np.nan], [2], [3]])}, "y must be 4 labels from 1 to 10"),
        ({"y": np.array(["a", "b", "c", "d"])}, "y must be 4 labels from 1 to 10"),
        ({"X": np.zeros((32, 32, 3, 0), np.uint8)}, "holds no image"),
        ({"X": np.zeros((4, 32, 32), np.uint8)}, "X must be bytes"),
        ({"X": np.zeros((32, 32, 3, 4))}, "X must be bytes"),
    ],
)
def test_svhn_arrays_that_do_not_fit(tmp_path, changes, message):
    write_svhn(tmp_path, **changes)
    with pytest.raises(InputError, match=rf"train_32x32\.mat: {message}"):
        load("svhn", tmp_path)


def test_damaged_svhn_files(tmp_path):
    write_svhn(tmp_path)
    path = tmp_path / "svhn/train_32x32.mat"
    whole = path.read_bytes()
    for size in (0, 100, 200, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"train_32x32\.mat: damaged, or not a MATLAB file"):
            load("svhn", tmp_path)
    savemat(path, {"Z": np.zeros(3)})
    with pytest.raises(InputError, match="needs the arrays X and y, has no X"):
        load("svhn", tmp_path)


def test_a_file_that_crashes_its_reader_is_one_line(tmp_path):
    """SciPy's reader ends the process on this one, found by mutation."""
    write_svhn(tmp_path)
    crash = Path(__file__).parents[1] / "fuzz/finds/svhn-segfault/files/svhn/train_32x32.mat"
    (tmp_path / "svhn/train_32x32.mat").write_bytes(crash.read_bytes())
    with pytest.raises(InputError, match=r"train_32x32\.mat: damaged"):
        load("svhn", tmp_path)
