"""MNIST and Fashion-MNIST: tiny IDX files are read, and bad ones named."""

import gzip
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from unchurn.core.errors import InputError
from unchurn.datasets import load


def write_idx(path: Path, array: np.ndarray) -> None:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(header + array.tobytes()))


def write_idx_dataset(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28), np.uint8)
    labels = np.array([7, 0, 1, 9, 3], np.uint8)
    for part, rows in (("train", slice(3)), ("t10k", slice(3, 5))):
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images[rows])
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", labels[rows])
    return images, labels


@pytest.mark.parametrize(
    ("name", "folder"), [("mnist", "mnist"), ("fashion_mnist", "fashion-mnist")]
)
def test_idx_files(tmp_path, name, folder):
    images, _ = write_idx_dataset(tmp_path / folder)
    data = load(name, tmp_path)
    np.testing.assert_allclose(data.x_train, images[:3] / 255, rtol=1e-6)
    np.testing.assert_allclose(data.x_test, images[3:] / 255, rtol=1e-6)
    assert data.x_train.dtype == np.float32
    assert (data.y_train.tolist(), data.y_test.tolist()) == ([7, 0, 1], [9, 3])
    assert len(data.classes) == 10
    assert len(data.notes) == 4
    assert "train-images-idx3-ubyte.gz: not the published file" in data.notes[0]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda raw: raw[:-20], "damaged or truncated gzip"),
        (lambda raw: b"not gzip at all", "damaged or truncated gzip"),
        (lambda raw: gzip.compress(gzip.decompress(raw)[:-1]), "2351 bytes of data where"),
        (lambda raw: gzip.compress(b"\0\0\x08\x01" + bytes(9)), "not an IDX file"),
        (lambda raw: gzip.compress(b""), "not an IDX file"),
    ],
)
def test_damaged_idx_files(tmp_path, damage, message):
    write_idx_dataset(tmp_path / "mnist")
    path = tmp_path / "mnist/train-images-idx3-ubyte.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=f"train-images-idx3-ubyte.gz: .*{message}"):
        load("mnist", tmp_path)


def test_idx_files_that_claim_or_hold_gigabytes_are_refused_before(tmp_path):
    """A header's dimensions are held against the file's size, and no more than them is unpacked."""
    write_idx_dataset(tmp_path / "mnist")
    path = tmp_path / "mnist/train-images-idx3-ubyte.gz"
    claims = struct.pack(">BBBB3I", 0, 0, 8, 3, 2**31, 28, 28)
    path.write_bytes(gzip.compress(claims + bytes(100)))
    bomb = gzip.compress(struct.pack(">BBBB3I", 0, 0, 8, 3, 1, 28, 28) + bytes(300_000_000), 1)
    tracemalloc.start()
    with pytest.raises(InputError, match="claims 1,683,627,180,032 bytes, more than its size"):
        load("mnist", tmp_path)
    path.write_bytes(bomb)
    with pytest.raises(InputError, match=r"more bytes of data where \(1, 28, 28\) needs 784"):
        load("mnist", tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000


def test_idx_labels_that_do_not_fit(tmp_path):
    write_idx_dataset(tmp_path / "mnist")
    labels = tmp_path / "mnist/train-labels-idx1-ubyte.gz"
    write_idx(labels, np.array([1, 2], np.uint8))
    with pytest.raises(InputError, match="2 labels for the 3 images"):
        load("mnist", tmp_path)
    write_idx(labels, np.array([1, 2, 10], np.uint8))
    with pytest.raises(InputError, match="label 10 is not one of 10 classes"):
        load("mnist", tmp_path)


def test_idx_images_that_do_not_fit(tmp_path):
    write_idx_dataset(tmp_path / "mnist")
    write_idx(tmp_path / "mnist/t10k-images-idx3-ubyte.gz", np.zeros((2, 5, 5), np.uint8))
    with pytest.raises(InputError, match=r"images of \(5, 5\), not \(28, 28\)"):
        load("mnist", tmp_path)
    write_idx(tmp_path / "mnist/train-images-idx3-ubyte.gz", np.zeros((0, 28, 28), np.uint8))
    with pytest.raises(InputError, match="holds no image"):
        load("mnist", tmp_path)
