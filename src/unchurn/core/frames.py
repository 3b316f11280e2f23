"""Turn frames and columns into Polars' own; pandas' are recognised without importing pandas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.core.arrays import Array, as_array, is_gap, is_unicode
from unchurn.core.errors import NO_NAME, InputError

if TYPE_CHECKING:
    import polars as pl

# What pandas calls the column of an index without a name: in CSV, read again, and in Parquet.
INDEXES = ("", "Unnamed: 0", "__index_level_0__")


def is_frame(table: Any) -> bool:
    """Whether it is a Polars or pandas frame."""
    import polars as pl

    is_pandas = hasattr(table, "iloc") and hasattr(table, "columns")  # a LazyFrame warns of these
    return isinstance(table, pl.DataFrame) or is_pandas


def is_sparse(x: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices or arrays."""
    return hasattr(x, "tocsr")


def taken(x: Any, rows: Array) -> Any:
    """Some rows of an array, a sparse matrix, or a pandas or Polars frame, as the same kind."""
    if hasattr(x, "iloc"):
        return x.iloc[rows]
    if is_sparse(x):
        x = x.tocsr()  # some formats cannot be indexed
    return x[rows] if hasattr(x, "shape") else np.asarray(x)[rows]


def n_rows(x: Any) -> int:
    """The number of rows of an array, a list, a frame or a sparse matrix, which has no length."""
    return int(x.shape[0]) if hasattr(x, "shape") else len(x)


def stacked(x: Any, more: Any) -> Any:
    """The rows of an array or a frame, and more rows below; a frame's columns are matched by name.

    A pandas category that x does not have becomes a gap: otherwise the column would become text.
    """
    if is_sparse(x):
        from scipy.sparse import vstack

        return vstack([x, more], format="csr")
    if not is_frame(x):
        return np.concatenate([np.asarray(x), np.asarray(more)])
    if hasattr(x, "iloc"):
        import pandas as pd

        below = more[list(x.columns)].copy()
        for name, kind in x.dtypes.items():
            if kind == "category":
                is_known = below[name].isin(kind.categories)
                below[name] = below[name].where(is_known).astype(kind)
        return pd.concat([x, below], ignore_index=True)
    import polars as pl

    return pl.concat([x, more.select(x.columns)], how="vertical_relaxed")


def as_frame(table: Any) -> pl.DataFrame:
    """A Polars frame, or one with the columns of a pandas frame."""
    import polars as pl

    if not is_frame(table):
        raise InputError(f"a table is a Polars or pandas frame, not {type(table).__name__}")
    if isinstance(table, pl.DataFrame):
        return table
    check_names(table)
    return pl.DataFrame({str(c): as_series(table[c]) for c in table.columns})


def check_names(frame: Any) -> None:
    """Refuse two columns of one name, which pandas allows; 1 and "1" are the same name."""
    refuse_twice([str(name) or NO_NAME for name in frame.columns])


def refuse_twice(names: Sequence[str]) -> None:
    """Refuse two columns of one name; several may be nameless, as those of a pandas index are."""
    if twice := next((name for name, n in Counter(names).items() if name and n > 1), None):
        n = names.count(twice)
        raise InputError(f"{n} columns are called {twice!r}: rename or drop some")


def as_series(values: Any) -> pl.Series:
    """A list, an array or a pandas Series as a Polars series; NaN among objects is a gap."""
    import polars as pl

    if hasattr(values, "iloc") and not isinstance(values.dtype, np.dtype) and values.isna().any():
        values = values.astype(object)  # pandas' own types: as floats, they would lose digits
    array = as_array(values, "an array")
    if array.ndim != 1:
        raise InputError(f"one value per example is needed, not an array of shape {array.shape}")
    if not is_unicode(array):
        raise InputError("its text holds what is no letter of Unicode")
    try:
        if array.dtype.kind == "S" and all(value.isascii() for value in array):
            array = array.astype(str)  # NumPy's narrow text; else bytes
        if array.dtype.kind != "O":
            return pl.Series(array, strict=False)
        plain = [None if is_gap(value) else value for value in array]
        if any(type(value) is int and value.bit_length() > 126 for value in plain):
            plain = [value if value is None else str(value) for value in plain]
        return pl.Series(plain, strict=False)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise InputError(f"an array of {array.dtype} cannot be read: {error}") from error
