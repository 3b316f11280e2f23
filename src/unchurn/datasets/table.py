"""`load_table` and `load_csv`: make a dataset from your own table, a frame or a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError, unknown
from unchurn.core.frames import INDEXES, as_frame
from unchurn.core.tables import (
    TextForm,
    check_ending,
    read_table,
    stem,
    text_among_numbers,
)
from unchurn.datasets.base import TEXT, Dataset, split
from unchurn.datasets.columns import is_category, is_number, odd_text
from unchurn.datasets.id_columns import is_id, no_feature, note_on_id
from unchurn.datasets.leaks import copies_of
from unchurn.datasets.preparation import Preparation, of_each, prepare
from unchurn.datasets.registry import DATASETS

if TYPE_CHECKING:
    import polars as pl

Missing = Literal["fill", "refuse"]


def load_csv(
    path: str | Path,
    target: str,
    *,
    test_size: float = 0.25,
    missing: Missing = "fill",
    form: TextForm | None = None,
    preparation: Preparation | None = None,
    aside: str | Sequence[str] = (),
) -> Dataset:
    """Make a dataset from a file: text, Parquet, Arrow or a workbook, with a row per example.

    `form` describes a text file that is not UTF-8 with commas and decimal points. The other
    parameters are those of `load_table`.
    """
    path = Path(path)
    check_ending(path)
    # With the name of a published dataset, it would be mistaken for that.
    name = path.name if stem(path) in DATASETS else stem(path)
    try:
        table = read_table(path, form)
        return load_table(
            table, target, name=name, test_size=test_size, missing=missing,
            preparation=preparation, aside=aside,
        )  # fmt: skip
    except InputError as error:
        text = str(error)
        raise (error if str(path) in text else InputError(f"{path}: {text}")) from error


def load_table(
    table: Any,
    target: str,
    *,
    name: str = "table",
    test_size: float = 0.25,
    missing: Missing = "fill",
    preparation: Preparation | None = None,
    aside: str | Sequence[str] = (),
) -> Dataset:
    """Make a dataset from a frame: split it into training and test part, and prepare its columns.

    The split is the same every time, with every class in both parts. Numbers are standardised by
    the training part's mean and standard deviation; text, boolean and categorical columns become
    one column of 0 and 1 for each value. `Dataset.preparation` does the same to new rows.

    Parameters
    ----------
    table
        A Polars or pandas frame with a row per example. Two kinds of columns are left out: a pandas
        index that was written to a file, and an id, which is a column named `id`, `customer_id` or
        the like with a different whole number or text in every row.
    target
        The column to predict: text, whole numbers or booleans, with at least two distinct values. A
        model that is fitted to the dataset predicts values of this type.
    name
        The dataset's name in results.
    test_size
        The share of rows held out for the test part.
    missing
        What to do with gaps. "fill" replaces a missing number by the training part's median and
        adds a column that marks gaps; a missing category becomes one more category. "refuse" raises
        an error.
    preparation
        The preparation of an older model whose table had the same columns. If not given, one is
        learned from the training part.
    aside
        One or more columns to keep with the dataset that are not features, such as ids, dates, or a
        flag for rows that an older model was trained on.
    """
    if not 0 < test_size < 1:
        raise InputError(f"test_size must be between 0 and 1, not {test_size}")
    if missing not in ("fill", "refuse"):
        raise InputError(f"missing must be 'fill' or 'refuse', not {missing!r}")
    frame = as_frame(table)
    target = str(target)  # pandas may number columns; as_frame names them by text
    aside = list(dict.fromkeys([aside] if isinstance(aside, str) else map(str, aside)))
    for column in (target, *aside):
        if column not in frame.columns:
            raise InputError(unknown("column", column, frame.columns))
    if target in aside:
        raise InputError(f"{target!r} is to be predicted: it cannot be aside")
    if frame.height == 0:
        raise InputError("has no rows")
    index = [c for c in frame.columns[:1] if c in INDEXES and c not in (target, *aside)]
    known = () if preparation is None else preparation.names
    others = frame.drop(target, *index, *aside)
    ids = [column.name for column in others if column.name not in known and is_id(column)]
    kept = [*index, *ids, *aside]
    features = others.drop(ids)
    if features.width == 0:
        beside = f" beside {', '.join([*ids, *aside])}" if ids or aside else ""
        raise InputError(f"{target!r} is its only column{beside}: nothing to predict from")
    classes, y = _classes(frame[target])
    label_dtype = _label_dtype(frame[target])
    try:
        train, test, y_train, y_test = split(
            np.arange(len(y)), y, test_size=test_size, stratify=True
        )
    except ValueError as error:  # too few rows for every class to be in both parts
        raise InputError(f"too few rows to split: {error}") from error
    check = partial(_check, missing=missing)
    if preparation is None:
        preparation = prepare(features, train, check)
    else:
        of_each(features, check)
    x = preparation.transform(features)
    return Dataset(
        name=name,
        x_train=x[train],
        y_train=y_train,
        x_test=x[test],
        y_test=y_test,
        classes=classes,
        notes=(*_notes(features, frame[target], index, ids, aside), *_new(features, known)),
        test_rows=features[test],
        preparation=preparation,
        train_rows=features[train],
        aside=frame.select(kept)[np.concatenate([train, test])] if kept else None,
        order=np.concatenate([train, test]),
        label_dtype=label_dtype,
    )


def _check(column: pl.Series, missing: Missing) -> None:
    """Refuse text among numbers that is not a sign of a gap; and gaps, if `missing` is "refuse"."""
    row = text_among_numbers(column)
    if row is not None and not is_number(column):
        odd = odd_text(column)  # the text to blame, rather than a gap above it
        row = row if odd is None else odd
        raise InputError(
            f"column {column.name!r} is numbers but for {column[row]!r} in row {row}: fill or drop "
            "it"
        )
    gaps = _gaps(column)
    if missing == "refuse" and gaps.any():
        raise InputError(
            f"column {column.name!r} has {int(gaps.sum())} missing value(s), first in row "
            f"{int(gaps.argmax())}: fill or drop them, or give missing='fill'"
        )


def _gaps(column: pl.Series) -> Array:
    """Mask of the rows where a column has no value."""
    import polars as pl

    if is_number(column):
        strict = column.str.strip_chars() if column.dtype == pl.String else column
        numbers = strict.cast(pl.Float64, strict=False)
        return (numbers.is_null() | numbers.is_nan().fill_null(value=False)).to_numpy()
    return column.is_null().to_numpy()


def _notes(
    features: pl.DataFrame, target: pl.Series, index: list[str], ids: list[str], aside: list[str]
) -> tuple[str, ...]:
    """Notes on columns that were left out or filled, or that should be left out."""
    notes = [f"column {name!r} is a pandas index: it is no feature" for name in index]
    notes += [no_feature(name) for name in ids]
    notes += [f"column {name!r} is kept aside: it is no feature" for name in aside]
    notes += [
        f"column {name!r} is {target.name!r} itself: keep it aside, or models learn nothing else"
        for name in copies_of(target, features)
    ]
    notes += [
        f"{note}, keep it aside" for column in features if (note := note_on_id(column)) is not None
    ]
    filled = {column.name: int(_gaps(column).sum()) for column in features}
    filled = {name: count for name, count in filled.items() if count}
    if filled:
        shown = ", ".join(f"{name} ({count:,})" for name, count in list(filled.items())[:5])
        more = f" and {len(filled) - 5} more columns" if len(filled) > 5 else ""
        notes.append(f"missing values were filled: {shown}{more}")
    return tuple(notes)


def _new(features: pl.DataFrame, known: Sequence[str]) -> list[str]:
    """Notes on columns that a given preparation, which knows some, leaves out."""
    new = [name for name in features.columns if known and name not in known]
    return [f"column {name!r} is new to the given preparation: it is no feature" for name in new]


def _classes(column: pl.Series) -> tuple[tuple[str, ...], Array]:
    """The sorted names of the classes, and the class number of each row."""
    import polars as pl

    column = column.fill_nan(None) if column.dtype.is_float() else column
    if gaps := column.null_count():
        raise InputError(
            f"target {column.name!r} has {gaps} missing value(s), first in row "
            f"{column.is_null().arg_max()}: drop these rows"
        )
    whole = column.cast(pl.Int64, strict=False) if column.dtype.is_float() else None
    if whole is not None and not whole.null_count() and (whole == column).all():
        column = whole  # pandas turns whole numbers into floats if one was ever missing
    if not (column.dtype.is_integer() or is_category(column)):
        has, how = f"is {column.dtype}", ""
        if whole is not None:
            odd = column.filter((whole != column).fill_null(value=True))[0]
            has = f"has numbers that are not whole, such as {odd}"
            how = f": if these are classes, turn them into text, such as 'class {odd}'"
        raise InputError(
            f"target {column.name!r} {has}; it must be text, whole numbers or booleans{how}"
        )
    if column.dtype.is_integer() and column.cast(pl.Int64, strict=False).null_count():
        raise InputError(f"target {column.name!r} holds integers beyond 64 bits")
    values, numbers = np.unique(_plain(column), return_inverse=True)
    if len(values) < 2:
        raise InputError(f"target {column.name!r} has a single class, {values[0]!s}")
    rare = values[np.bincount(numbers) < 2]
    if rare.size:
        raise InputError(
            f"class {rare[0]!s} of {column.name!r} has a single row; at least 2 are needed"
        )
    return tuple(str(value) for value in values), numbers


def _label_dtype(column: pl.Series) -> str:
    """NumPy's name of the type of a target's values."""
    import polars as pl

    if column.dtype == pl.Boolean:
        return "bool"
    if not column.dtype.is_numeric():
        return TEXT
    name = str(column.dtype).lower()
    return "int64" if name.endswith("128") else name  # 128-bit integers are read as int64


def _plain(column: pl.Series) -> Array:
    """A column's values as NumPy integers, booleans or strings."""
    import polars as pl

    if column.dtype.is_integer():
        column = column.cast(pl.Int64)  # NumPy has no integers of more than 64 bits
    array = column.to_numpy()
    return array.astype(str) if array.dtype.kind == "O" else array
