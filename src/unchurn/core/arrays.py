"""Turn what callers pass (arrays, lists, series, CPU tensors) into checked NumPy arrays."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.floating[Any]]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer[Any]]
NUMBER = int | float | np.integer | np.floating
# Up to so many columns, one column is a fair part of every cache line that it touches.
SHORT_ROW = 16
LAST_LETTER = 0x10FFFF  # of Unicode; NumPy's text may hold numbers beyond
SURROGATES = (0xD800, 0xDFFF)  # halves of letters, which are no letters alone


def as_array(values: npt.ArrayLike, name: str) -> Array:
    """View `values` as a NumPy array; a CPU torch tensor shares its memory."""
    if hasattr(values, "detach"):  # a torch tensor, recognised without importing torch
        tensor: Any = values
        if tensor.device.type != "cpu":
            raise InputError(f"{name} is a tensor on {tensor.device}: pass {name}.cpu()")
        try:
            return np.asarray(tensor.detach())
        except TypeError as error:  # bfloat16 and its like have no NumPy counterpart
            raise InputError(f"{name} has dtype {tensor.dtype}: pass {name}.float()") from error
    array = np.asarray(values)
    # Beside text, NumPy turns a missing value into the text "nan", which would be a class.
    if array.dtype.kind == "U" and isinstance(values, list | tuple) and any(map(is_nan, values)):
        return np.array(values, object)
    return array


def is_nan(value: Any) -> bool:
    """Whether a value, of any type, is NaN."""
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)


def is_gap(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA or NaT."""
    # Recognised by type, without importing pandas: NA is not even unequal to itself.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or is_nan(value)


def is_unicode(array: Array) -> bool:
    """Whether an array of text is valid Unicode; true for any other array."""
    if array.dtype.kind != "U" or not array.dtype.itemsize:
        return True
    order = array.dtype.byteorder
    codes = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(order))
    low, high = SURROGATES
    return not ((codes > LAST_LETTER) | ((codes >= low) & (codes <= high))).any()


def have_one_index(*given: Any) -> bool:
    """Whether all pandas objects among the arguments have the same index."""
    indexes = [one.index for one in given if hasattr(one, "iloc")]
    return all(index.equals(indexes[0]) for index in indexes[1:])


def as_labels(values: npt.ArrayLike, name: str) -> Array:
    """Check a 1-D array of labels: integers, or text as NumPy's `str`."""
    array = as_array(values, name)
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension (a label per example), not {array.ndim}")
    if array.size == 0:
        raise InputError(f"{name} is empty")
    if array.dtype.kind in "OT":  # objects, or NumPy's strings of variable length
        array = _from_objects(array.astype(object), name)
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind in "iuU":
        return array
    hint = " (of probabilities, take the argmax first)" if array.dtype.kind == "f" else ""
    raise InputError(f"{name} must be integers or strings, not {array.dtype}{hint}")


def _from_objects(array: Array, name: str) -> Array:
    """Give an object array (pandas, Polars) the one type that all of its elements share."""
    kinds = [type(value) for value in array]
    if all(issubclass(kind, str) for kind in kinds):
        return array.astype(str)
    if all(issubclass(kind, int | np.integer) for kind in kinds):
        try:
            return array.astype(np.int64)
        except OverflowError as error:
            raise InputError(f"{name} holds integers beyond 64 bits") from error
    good = [issubclass(kind, str | int | np.integer) for kind in kinds]
    odd = (
        good.index(False) if False in good else kinds.index(next(k for k in kinds if k != kinds[0]))
    )
    raise InputError(f"{name} must be all integers or all strings: row {odd} is {array[odd]!r}")


def as_classes(labels: npt.ArrayLike, n_classes: int | None, *, n: int | None = None) -> IntArray:
    """Check labels that index classes: integers in 0 … n_classes − 1, `n` of them."""
    array = as_labels(labels, "labels")
    if array.dtype.kind == "U":
        raise InputError(
            "labels must be class numbers here, not strings: "
            "use classes, labels = numpy.unique(labels, return_inverse=True)"
        )
    if n is not None and array.size != n:
        raise InputError(f"{array.size} labels for {n} rows")
    if n_classes is not None and n_classes < 1:
        raise InputError(f"n_classes must be at least 1, not {n_classes}")
    bad = array < 0 if n_classes is None else (array < 0) | (array >= n_classes)
    if bad.any():
        row = int(bad.argmax())
        allowed = "0 or more" if n_classes is None else f"in 0 … {n_classes - 1}"
        raise InputError(f"label {array[row]} at row {row} must be {allowed}")
    return array


def distinct_rows(rows: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """Distinct rows of a 2-D array of numbers, sorted, and the position of every row in them."""
    rows = np.ascontiguousarray(rows) + 0  # −0.0 becomes 0.0, so that equal numbers are equal bytes
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, which = np.unique(as_bytes, return_index=True, return_inverse=True)
    return rows[first], which


def extent(points: Float64) -> tuple[Float64, Float64]:
    """The lowest and highest coordinates of points."""
    if points.shape[1] > SHORT_ROW:
        return points.min(axis=0), points.max(axis=0)
    # Over short rows NumPy takes many times as long as over columns.
    return np.array([c.min() for c in points.T]), np.array([c.max() for c in points.T])


def as_fraction(value: float, name: str) -> float:
    """Check a fraction: a number from 0 to 1."""
    if not (isinstance(value, NUMBER) and 0 <= value <= 1):  # also catches NaN
        raise InputError(f"{name} must be from 0 to 1, not {value!r}")
    return float(value)


def as_number(value: float, low: float, name: str) -> float:
    """Check a finite number of at least `low`."""
    if not (isinstance(value, NUMBER) and math.isfinite(value) and value >= low):
        raise InputError(f"{name} must be a number of at least {low}, not {value!r}")
    return float(value)


def as_whole(value: int, low: int, name: str) -> int:
    """Check a whole number of at least `low`."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < low:
        raise InputError(f"{name} must be a whole number of at least {low}, not {value!r}")
    return int(value)
