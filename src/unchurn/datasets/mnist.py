"""MNIST and Fashion-MNIST: four gzipped IDX files each."""

from __future__ import annotations

import gzip
import math
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError
from unchurn.core.numpy_files import DEFLATE
from unchurn.datasets.base import Dataset, RemoteFile, Source, as_unit
from unchurn.datasets.find import obtain

CLOTHES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip


def _load(
    name: str, classes: tuple[str, ...], files: tuple[RemoteFile, ...], data_dir: Path | None = None
) -> Dataset:
    """Load images (n, 28, 28) in [0, 1] and their labels."""
    paths, notes = obtain(files, data_dir)
    x_train, y_train = _read_part(paths[0], paths[1], len(classes))
    x_test, y_test = _read_part(paths[2], paths[3], len(classes))
    if x_train.shape[1:] != x_test.shape[1:]:
        raise InputError(f"{paths[2]}: images of {x_test.shape[1:]}, not {x_train.shape[1:]}")
    return Dataset(
        name=name,
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        classes=classes,
        notes=notes,
    )


def _read_part(images: Path, labels: Path, n_classes: int) -> tuple[Float32, npt.NDArray[np.int64]]:
    """Read images and their labels, and check that they belong together."""
    x, y = read_idx(images, n_dimensions=3), read_idx(labels, n_dimensions=1)
    if x.size == 0:
        raise InputError(f"{images}: holds no image")
    if len(x) != len(y):
        raise InputError(f"{labels}: {len(y)} labels for the {len(x)} images of {images.name}")
    if y.max(initial=0) >= n_classes:
        raise InputError(f"{labels}: label {y.max()} is not one of {n_classes} classes")
    return as_unit(x), y.astype(np.int64)


def read_idx(path: Path, n_dimensions: int) -> npt.NDArray[np.uint8]:
    """Read a gzipped IDX file of bytes: 0, 0, 8, number of dimensions, the dimensions, the data."""
    try:
        with gzip.open(path) as file:
            shape = _read_shape(path, file.read(4 + 4 * n_dimensions), n_dimensions)
            needed = math.prod(shape)
            if needed > DEFLATE * path.stat().st_size:
                raise InputError(f"{path}: claims {needed:,} bytes, more than its size can hold")
            content = file.read(needed + 1)  # one byte more shows a file that is too long
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged or truncated gzip file: {error}") from error
    if len(content) != needed:
        found = "more" if len(content) > needed else len(content)
        raise InputError(f"{path}: {found} bytes of data where {shape} needs {needed}")
    return np.frombuffer(content, np.uint8).reshape(shape)


def _read_shape(path: Path, header: bytes, n_dimensions: int) -> tuple[int, ...]:
    """The dimensions in an IDX file's header."""
    if len(header) < 4 + 4 * n_dimensions or header[:4] != bytes([0, 0, 8, n_dimensions]):
        raise InputError(f"{path}: not an IDX file of bytes in {n_dimensions} dimension(s)")
    return tuple(int(size) for size in np.frombuffer(header, ">u4", offset=4))


def _source(
    name: str,
    classes: tuple[str, ...],
    home: str,
    checksums: dict[str, tuple[str, int]],
) -> Source:
    """The source of four files: train images, train labels, test images, test labels."""
    folder = name.replace("_", "-")
    files = tuple(
        RemoteFile(path=f"{folder}/{file}", url=home + file, sha256=sha256, size=size)
        for file, (sha256, size) in checksums.items()
    )
    return Source(
        name=name,
        n_train=60000,
        n_test=10000,
        n_classes=10,
        load=partial(_load, name, classes, files),
        files=files,
    )


MNIST = _source(
    "mnist", tuple(str(digit) for digit in range(10)),
    "https://ossci-datasets.s3.amazonaws.com/mnist/", {
        "train-images-idx3-ubyte.gz":
            ("440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", 9912422),
        "train-labels-idx1-ubyte.gz":
            ("3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c", 28881),
        "t10k-images-idx3-ubyte.gz":
            ("8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6", 1648877),
        "t10k-labels-idx1-ubyte.gz":
            ("f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6", 4542),
    },
)  # fmt: skip
FASHION_MNIST = _source(
    "fashion_mnist", CLOTHES,
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/", {
        "train-images-idx3-ubyte.gz":
            ("3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84", 26421880),
        "train-labels-idx1-ubyte.gz":
            ("a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845", 29515),
        "t10k-images-idx3-ubyte.gz":
            ("346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073", 4422102),
        "t10k-labels-idx1-ubyte.gz":
            ("67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5", 5148),
    },
)  # fmt: skip
