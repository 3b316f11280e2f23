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
SPLIT_SEED = 0  # of every split that is ours to make; changing it changes every result


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A published file: where it lies below a data folder, where it comes from, its checksum."""

    path: str
    url: str
    sha256: str
    size: int  # bytes
    instead: str | None = None  # a local file or folder that serves as well


@dataclass(frozen=True, kw_only=True)
class Source:
    """A dataset by name: its published size, the files it is from and how to load it."""

    name: str
    n_train: int
    n_test: int
    n_classes: int
    load: Callable[[Path | None], Dataset]
    files: tuple[RemoteFile, ...] = ()
    is_embedded: bool = False  # needs no files, though those of a data folder go before


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test examples.

    `x_*` are float32, images as (n, height, width[, channels]) in [0, 1]; `y_*` are class numbers
    (int64) into `classes`, which are text; `labels` has them as the table's target has, of which
    `label_dtype` is the type. `notes` says what a reader of results should know about the files.

    If the data are a table, `train_rows` and `test_rows` hold the two parts as its owner knows
    them, and `preparation` turns new rows into inputs. `order` has the table's row of every
    example, and `aside` the columns that are no features; both training rows first, then test rows.
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
    order: IntArray | None = None  # None: as they stand
    label_dtype: str = TEXT  # as NumPy names it

    @property
    def labels(self) -> Array:
        """The classes as their owner has them: text, numbers or booleans."""
        return as_labels(self.classes, self.label_dtype)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content, arrays and classes, whatever the name or the files."""
        digest = hashlib.sha256(repr(self.classes).encode())
        for array in (self.x_train, self.y_train, self.x_test, self.y_test):
            little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            digest.update(f"{array.dtype.name}{array.shape}".encode())
            digest.update(little_endian.data)
        return digest.hexdigest()

    def column_aside(self, name: str) -> pl.Series:
        """A column that is no feature, of all training rows and then all test rows."""
        if self.aside is None or name not in self.aside.columns:
            how = f"load the table with aside= {name}" if self.order is not None else (
                "only a table of your own has such columns"
            )  # fmt: skip
            raise InputError(f"{self.name} has no column {name!r} aside: {how}")
        return self.aside[name]

    def tested_on(self, kept: npt.NDArray[np.bool_]) -> Dataset:
        """The same with some of its test rows only; the others are trained on, as the last."""
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
        """The same with some of its training rows only, without what else is known of them."""
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
        """The dataset in words, with parts of these sizes: some may be held out of training."""
        parts = " + ".join(f"{size:,} {part}" for part, size in sizes.items())
        text = (
            f"Dataset {self.name}: {parts} examples of shape {self.x_train.shape[1:]}, "
            f"{len(self.classes)} classes"
        )
        return "\n".join([text, *(f"  note: {note}" for note in self.notes)])


def as_labels(classes: Sequence[str], dtype: str) -> Array:
    """Names of classes as values of a type, as NumPy names it.

    >>> as_labels(["2", "10"], "int8").tolist(), as_labels(["False", "True"], "bool").tolist()
    ([2, 10], [False, True])
    """
    names = np.array(classes)
    return names == "True" if dtype == "bool" else names.astype(dtype)


def split(x: Array, y: Array, *, test_size: float, stratify: bool) -> list[Array]:
    """x_train, x_test, y_train, y_test by scikit-learn's fixed shuffle."""
    n_test = math.ceil(test_size * len(y))
    if 0 < n_test < len(y):
        drawn = stratified(y, n_test, SPLIT_SEED) if stratify else (
            shuffled(len(y), n_test, SPLIT_SEED)
        )  # fmt: skip
        if drawn is not None:
            train, test = drawn
            return [x[train], x[test], y[train], y[test]]
    from sklearn.model_selection import train_test_split  # which says why it cannot be

    parts: list[Array] = train_test_split(
        x, y, test_size=test_size, random_state=SPLIT_SEED, stratify=y if stratify else None
    )
    return parts


def as_unit(images: npt.NDArray[np.uint8]) -> Float32:
    """Bytes 0 … 255 as float32 in [0, 1]."""
    return np.divide(images, np.float32(255), dtype=np.float32)
