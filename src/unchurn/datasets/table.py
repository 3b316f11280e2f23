"""`load_csv`: your own table, CSV or Parquet, as a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.tables import read_table, text_among_numbers
from unchurn.datasets.base import Dataset, split
from unchurn.datasets.registry import DATASETS

if TYPE_CHECKING:
    import polars as pl

MAX_CATEGORIES = 1000  # a text column with more distinct values is taken for an identifier


def load_csv(path: str | Path, target: str, *, test_size: float = 0.25) -> Dataset:
    """Read a table and split it, the same way every time, with every class in both parts.

    Numbers are standardised by the training part's mean and standard deviation; text, boolean and
    categorical columns become one column of 0 and 1 for each value.

    Parameters
    ----------
    path
        A .csv or .parquet file with a row per example.
    target
        The column to predict: text, whole numbers or booleans, at least two distinct values.
    test_size
        The fraction of rows held out for the test part.
    """
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{path}: the name must end in .csv or .parquet")
    if not 0 < test_size < 1:
        raise InputError(f"test_size must be between 0 and 1, not {test_size}")
    table = read_table(path)
    if target not in table.columns:
        raise InputError(f"{path}: no column {target!r}; there are {', '.join(table.columns)}")
    if table.height == 0:
        raise InputError(f"{path}: has no rows")
    if table.width < 2:
        raise InputError(f"{path}: {target!r} is its only column: nothing to predict from")
    for column in table:
        _check_complete(path, column)
    classes, y = _classes(path, table[target])
    features = [_feature(path, column) for column in table.drop(target)]
    try:
        train, test, y_train, y_test = split(
            np.arange(len(y)), y, test_size=test_size, stratify=True
        )
    except ValueError as error:  # too few rows for every class to be in both parts
        raise InputError(f"{path}: too few rows to split: {error}") from error
    x = np.hstack([_standardised(f, train) if f.shape[1] == 1 else f for f in features])
    with np.errstate(over="ignore"):
        x = x.astype(np.float32)
    if not np.isfinite(x).all():
        row = int((~np.isfinite(x)).any(axis=1).argmax())
        raise InputError(f"{path}: row {row} has a number too far from those of the training part")
    rows = table.drop(target)[test]
    # By the name of a published dataset, it would be taken for that.
    name = path.name if path.stem in DATASETS else path.stem
    return Dataset(
        name=name,
        x_train=x[train],
        y_train=y_train,
        x_test=x[test],
        y_test=y_test,
        classes=classes,
        test_rows=rows,
    )


def _check_complete(path: Path, column: pl.Series) -> None:
    """Refuse gaps: how to fill them is the owner's decision."""
    if gaps := column.null_count():
        first = column.is_null().arg_max()
        raise InputError(
            f"{path}: column {column.name!r} has {gaps} missing value(s), first in row {first}: "
            "fill or drop them"
        )
    if (row := text_among_numbers(column)) is not None:
        raise InputError(
            f"{path}: column {column.name!r} is numbers but for {column[row]!r} in row {row}: "
            "fill or drop it"
        )


def _classes(path: Path, column: pl.Series) -> tuple[tuple[str, ...], Array]:
    """Names of the classes, sorted, and each row's class number."""
    import polars as pl

    if not (column.dtype.is_integer() or _is_category(column)):
        raise InputError(
            f"{path}: target {column.name!r} is {column.dtype}; "
            "it must be text, whole numbers or booleans"
        )
    if column.dtype.is_integer() and column.cast(pl.Int64, strict=False).null_count():
        raise InputError(f"{path}: target {column.name!r} holds integers beyond 64 bits")
    values, numbers = np.unique(_plain(column), return_inverse=True)
    if len(values) < 2:
        raise InputError(f"{path}: target {column.name!r} has a single class, {values[0]!s}")
    rare = values[np.bincount(numbers) < 2]
    if rare.size:
        raise InputError(
            f"{path}: class {rare[0]!s} of {column.name!r} has a single row; at least 2 are needed"
        )
    return tuple(str(value) for value in values), numbers


def _feature(path: Path, column: pl.Series) -> Array:
    """(n, 1) numbers, or (n, categories) of 0 and 1."""
    import polars as pl

    if column.dtype.is_numeric():
        numbers = column.cast(pl.Float64).to_numpy()
        if not np.isfinite(numbers).all():
            row = int((~np.isfinite(numbers)).argmax())
            raise InputError(f"{path}: column {column.name!r} has {numbers[row]} in row {row}")
        return numbers[:, None]
    if not _is_category(column):
        raise InputError(
            f"{path}: column {column.name!r} is {column.dtype}: turn it into numbers or text"
        )
    values, which = np.unique(_plain(column), return_inverse=True)
    if len(values) > MAX_CATEGORIES:
        raise InputError(
            f"{path}: column {column.name!r} has {len(values):,} distinct texts, as an identifier "
            "would: drop it, or turn it into numbers"
        )
    return np.asarray(which[:, None] == np.arange(len(values)), np.float64)


def _is_category(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum)


def _plain(column: pl.Series) -> Array:
    """Values as NumPy's own integers, booleans or strings."""
    import polars as pl

    if column.dtype.is_integer():
        column = column.cast(pl.Int64)  # beyond 64 bits there is no NumPy integer
    array = column.to_numpy()
    return array.astype(str) if array.dtype.kind == "O" else array


def _standardised(values: Array, train: Array) -> Array:
    """Centre and scale by the training rows; a column that is constant there becomes 0."""
    if values[train].min() == values[train].max():  # a computed deviation may be rounding, not 0
        return np.zeros_like(values)
    # By a power of two, which costs no digits: squares of the largest and least numbers must fit.
    with np.errstate(over="ignore"):
        values = np.ldexp(values, -np.frexp(np.abs(values[train]).max())[1])
    known = values[train]
    scaled: Array = (values - known.mean()) / known.std()
    return scaled
