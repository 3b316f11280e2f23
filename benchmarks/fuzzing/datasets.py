"""The published datasets' files, in small."""

import gzip
import io
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from fuzzing.base import Target

MAT_TEXT = 116  # bytes of text at the beginning of a MATLAB file


def dataset_targets() -> Iterator[Target]:
    """The published datasets' files, in small."""
    from scipy.io import savemat

    from unchurn.datasets import load
    from unchurn.datasets.phishing import FEATURES, TARGET

    rng = np.random.default_rng(0)

    def idx(array: np.ndarray) -> bytes:
        header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        return gzip.compress(header + array.tobytes(), mtime=0)

    mnist = {}
    for part in ("train", "t10k"):
        images, labels = rng.integers(0, 256, (5, 4, 4), np.uint8), rng.integers(0, 10, 5, np.uint8)
        mnist[f"mnist/{part}-images-idx3-ubyte.gz"] = idx(images)
        mnist[f"mnist/{part}-labels-idx1-ubyte.gz"] = idx(labels)
    yield Target("mnist", mnist, lambda rng: _load(load, "mnist"))

    table = rng.integers(-1, 2, (20, 31))
    table[:, -1] = np.where(table[:, -1] == 0, 1, table[:, -1])
    csv = "\n".join([",".join((*FEATURES, TARGET)), *(",".join(map(str, row)) for row in table)])
    attributes = [f"@attribute {name} {{ -1,0,1 }}" for name in (*FEATURES, TARGET)]
    rows = [",".join(map(str, row)) for row in table]
    arff = "\n".join(["@relation phishing", *attributes, "@data", *rows]) + "\n"
    yield Target(
        "phishing .csv",
        {"phishing/phishing.csv": csv.encode()},
        lambda rng: _load(load, "phishing"),
    )
    yield Target(
        "phishing .arff",
        {"phishing/Training Dataset.arff": arff.encode()},
        lambda rng: _load(load, "phishing"),
    )

    mat = io.BytesIO()
    savemat(
        mat, {"X": rng.integers(0, 256, (4, 4, 3, 3), np.uint8), "y": np.array([[1], [2], [10]])}
    )
    written = b" " * MAT_TEXT + mat.getvalue()[MAT_TEXT:]  # it says when it was made
    svhn = {f"svhn/{part}_32x32.mat": written for part in ("train", "test")}
    # Each takes a process of its own, twice.
    yield Target("svhn", svhn, lambda rng: _load(load, "svhn"), weight=1)
    yield from _celeba(lambda rng: _load(load, "celeba_smiling"))


def _load(load: Callable[..., object], name: str) -> None:
    load(name, Path())


def _celeba(call: Callable[[random.Random], None]) -> Iterator[Target]:
    from PIL import Image

    images = {}
    for number in range(1, 7):
        buffer = io.BytesIO()
        Image.new("RGB", (12, 14), (20 * number, 0, 9)).save(buffer, "JPEG")
        images[f"{number:06d}.jpg"] = buffer.getvalue()
    rows = [f"{name} -1 {1 if i % 2 else -1}" for i, name in enumerate(images)]
    lists = {
        "celeba/list_attr_celeba.txt": "\n".join(["6", "Bald Smiling", *rows, ""]).encode(),
        "celeba/list_eval_partition.txt": "".join(
            f"{name} {part}\n" for name, part in zip(images, (0, 0, 0, 1, 2, 2), strict=True)
        ).encode(),
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in images.items():
            file.writestr(zipfile.ZipInfo(f"img_align_celeba/{name}"), content)
    yield Target("celeba .zip", {**lists, "celeba/img_align_celeba.zip": archive.getvalue()}, call)
    folder = {f"celeba/img_align_celeba/{name}": content for name, content in images.items()}
    yield Target("celeba folder", {**lists, **folder}, call)
