"""`Dataset`: a loaded dataset; `Source`: facts about a dataset before it is loaded."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float32, IntArray
from unchurn.core.errors import InputError
from unchurn.datasets.splits import shuffled, stratified

if TYPE_CHECKING:
    import polars as pl

    from unchurn.datasets.preparation import Preparation

TEXT = "str"  # the type of labels that are text
SPLIT_SEED = 0  # for datasets that come without a split; changing it changes every result


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A published file: its path in a data folder, its URL, checksum and size."""

    path: str
    url: str
    sha256: str
    size: int  # bytes
    instead: str | None = None  # the path of a file or folder that can replace it


@dataclass(frozen=True, kw_only=True)
class Source:
    """A dataset before it is loaded: its published size, its files and how to load it."""

    name: str
    n_train: int
    n_test: int
    n_classes: int
    load: Callable[[Path | None], Dataset]
    files: tuple[RemoteFile, ...] = ()
    is_embedded: bool = False  # needs no files; but files in a data folder take precedence


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A loaded dataset: training and test examples.

    `x_train` and `x_test` are float32 inputs; images are (n, height, width[, channels]) in [0, 1].
    `y_train` and `y_test` are class numbers (int64), positions in `classes`. `classes` are the
    names of the classes as text, and `labels` the same values in the type of the table's target,
    `label_dtype`. `notes` are remarks on the files for readers of results.

    A dataset made from a table has more. `train_rows` and `test_rows` are the features of the two
    parts before preparation, and `preparation` turns new rows into inputs. `aside` holds the
    columns that are not features, and `order` the row of each example in the table; both have the
    training rows first, then the test rows.
    """

    name: str
    x_train: Float32
    y_train: IntArray
    x_test: Float32
    y_test: IntArray
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    test_rows: pl.DataFrame | None = None
    preparation: Preparation | None = None
    train_rows: pl.DataFrame | None = None
    aside: pl.DataFrame | None = None
    order: IntArray | None = None  # None if unchanged
    label_dtype: str = TEXT  # NumPy's name of the type

    @property
    def labels(self) -> Array:
        """The classes in the type of the table's target: text, numbers or booleans."""
        return as_labels(self.classes, self.label_dtype)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the arrays and classes, independent of the name and the files."""
        digest = hashlib.sha256(repr(self.classes).encode())
        for array in (self.x_train, self.y_train, self.x_test, self.y_test):
            little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            digest.update(f"{array.dtype.name}{array.shape}".encode())
            digest.update(little_endian.data)
        return digest.hexdigest()

    def column_aside(self, name: str) -> pl.Series:
        """A column that is not a feature: values of all training rows, then all test rows."""
        if self.aside is None or name not in self.aside.columns:
            how = f"load the table with aside= {name}" if self.order is not None else (
                "only a table of your own has such columns"
            )  # fmt: skip
            raise InputError(f"{self.name} has no column {name!r} aside: {how}")
        return self.aside[name]

    def tested_on(self, kept: npt.NDArray[np.bool_]) -> Dataset:
        """The same dataset with only some test rows; the others become the last training rows."""
        n = len(self.y_train)
        rows = np.concatenate([np.arange(n), n + np.flatnonzero(~kept), n + np.flatnonzero(kept)])
        order = np.arange(n + len(self.y_test)) if self.order is None else self.order
        train_rows, test_rows = self.train_rows, self.test_rows
        if train_rows is not None and test_rows is not None:
            train_rows = train_rows.vstack(test_rows.filter(~kept))
            test_rows = test_rows.filter(kept)
        return replace(
            self,
            x_train=np.concatenate([self.x_train, self.x_test[~kept]]),
            y_train=np.concatenate([self.y_train, self.y_test[~kept]]),
            x_test=self.x_test[kept],
            y_test=self.y_test[kept],
            train_rows=train_rows,
            test_rows=test_rows,
            aside=None if self.aside is None else self.aside[rows],
            order=order[rows],
        )

    def trained_on(self, kept: IntArray) -> Dataset:
        """The same dataset with only some training rows; drops `train_rows`, `aside`, `order`."""
        return replace(
            self,
            x_train=self.x_train[kept],
            y_train=self.y_train[kept],
            train_rows=None,
            aside=None,
            order=None,
        )

    def __repr__(self) -> str:
        return self.described({"train": len(self.x_train), "test": len(self.x_test)})

    def described(self, sizes: Mapping[str, int]) -> str:
        """The dataset in words, with the sizes of these parts."""
        parts = " + ".join(f"{size:,} {part}" for part, size in sizes.items())
        text = (
            f"Dataset {self.name}: {parts} examples of shape {self.x_train.shape[1:]}, "
            f"{len(self.classes)} classes"
        )
        return "\n".join([text, *(f"  note: {note}" for note in self.notes)])


def as_labels(classes: Sequence[str], dtype: str) -> Array:
    """Convert names of classes to values of a NumPy type.

    >>> as_labels(["2", "10"], "int8").tolist(), as_labels(["False", "True"], "bool").tolist()
    ([2, 10], [False, True])
    """
    names = np.array(classes)
    return names == "True" if dtype == "bool" else names.astype(dtype)


def split(x: Array, y: Array, *, test_size: float, stratify: bool) -> list[Array]:
    """Split into x_train, x_test, y_train, y_test as scikit-learn does with a fixed seed."""
    n_test = math.ceil(test_size * len(y))
    if 0 < n_test < len(y):
        drawn = stratified(y, n_test, SPLIT_SEED) if stratify else (
            shuffled(len(y), n_test, SPLIT_SEED)
        )  # fmt: skip
        if drawn is not None:
            train, test = drawn
            return [x[train], x[test], y[train], y[test]]
    from sklearn.model_selection import train_test_split  # its error says why it cannot split

    parts: list[Array] = train_test_split(
        x, y, test_size=test_size, random_state=SPLIT_SEED, stratify=y if stratify else None
    )
    return parts


def as_unit(images: npt.NDArray[np.uint8]) -> Float32:
    """Scale bytes, 0 to 255, to float32 in [0, 1]."""
    return np.divide(images, np.float32(255), dtype=np.float32)
