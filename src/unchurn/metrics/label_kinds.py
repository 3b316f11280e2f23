"""Bring label columns to one type: 1, 1.0 and "1" are the same class, True and "true" too."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, as_array, as_labels, have_one_index
from unchurn.core.class_names import AS_BITS, plain_names
from unchurn.core.errors import InputError

EXACT = 2**53  # a float holds every whole number up to this
IN_64_BITS = "0|-?[1-9][0-9]{0,17}"


def alike(**columns: npt.ArrayLike) -> list[Array]:
    """Label columns as one type; InputError if their lengths, indexes or kinds do not match."""
    arrays = {name: _labels(values, name) for name, values in columns.items()}
    (name, array), *others = arrays.items()
    for other_name, other in others:
        if other.size != array.size:
            raise InputError(f"{name} has {array.size} labels but {other_name} has {other.size}")
    if not have_one_index(*columns.values()):
        raise InputError(
            "the pandas indexes differ: bring all into one order, as second.loc[first.index]; if "
            "they are and the indexes only number rows, drop these, reset_index(drop=True)"
        )
    texts = {name for name, labels in arrays.items() if labels.dtype.kind == "U"}
    if len(texts) in (0, len(arrays)):
        return list(arrays.values())
    number = next(name for name in arrays if name not in texts)
    for text in sorted(texts):
        arrays[text] = _numbers(arrays[text], text, f"{number} is {arrays[number].dtype}")
    return list(arrays.values())


def _labels(values: npt.ArrayLike, name: str) -> Array:
    """Labels as integers or text; floats are integers if all are whole."""
    array = as_array(values, name)
    if array.dtype.kind == "f" and bool((np.abs(array) < EXACT).all() and (array % 1 == 0).all()):
        return as_labels(array.astype(np.int64), name)
    return as_labels(values, name)


def _numbers(texts: Array, name: str, other: str) -> Array:
    """Text as the numbers that it spells; InputError if it is something else."""
    values, places = np.unique(texts, return_inverse=True)
    plain = plain_names(map(str, values))
    if {*plain} <= {*AS_BITS}:
        plain = tuple(AS_BITS[one] for one in plain)
    if not all(re.fullmatch(IN_64_BITS, one) for one in plain):
        raise InputError(f"{other} but {name} is {texts.dtype}, such as {str(values[0])!r}")
    return np.array([int(one) for one in plain])[places]
