"""Prepare frames with text or gaps as inputs of a network, as `load_table` prepares tables."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.frames import as_frame, check_names, is_frame
from unchurn.datasets.columns import of_new_rows
from unchurn.datasets.id_columns import is_id, no_feature, note_on_id
from unchurn.datasets.preparation import (
    CategoryColumn,
    Preparation,
    prepare,
    prepare_what_can_be,
)
from unchurn.report.numbers import percent
from unchurn.training.estimator.references import Model, is_ours
from unchurn.training.learners.base import RemarkWarning, levels_up

if TYPE_CHECKING:
    import polars as pl

MANY = 0.05  # share of rows with a category new to the reference that calls for a new preparation


def learn_preparation(
    x: Any, reference: Model | None = None, *, needs_weights: bool = False
) -> Preparation | None:
    """How to turn a frame into inputs; None if inputs are used as they are.

    Arrays and frames of only numbers are used as they are. If the reference is a StableClassifier,
    its preparation is reused; otherwise one is learned from the rows. If the frame has features
    that the reference has not learned from, a new preparation is learned, unless training
    `needs_weights` of the reference.

    A column that cannot be a feature, such as a date, is an error if there is no reference. A
    reference of another kind reads the whole frame itself and may need that column, so the new
    model leaves it out with a warning.
    """
    import polars as pl

    if not _is_frame(x):
        return None
    frame = as_frame(x)
    if frame.width == 0:
        raise InputError("X has no columns")
    before: Preparation | None = getattr(reference, "preparation_", None)
    is_anew = False
    if is_ours(reference) and before is not None:
        is_anew = _is_new_to(before, frame, needs_weights=needs_weights)
        if not is_anew:
            return before
    ids = [column.name for column in frame if is_id(column)]
    if frame.height == 0 or (not ids and all(_is_plain(column) for column in frame)):
        return None
    if ids and len(ids) < frame.width:
        for name in ids:
            warnings.warn(no_feature(name), RemarkWarning, stacklevel=levels_up())
        frame = frame.drop(ids)
    for column in frame:
        if column.dtype == pl.String and (note := note_on_id(column)) is not None:
            warnings.warn(f"{note}, drop it from X", RemarkWarning, stacklevel=levels_up())
    if reference is None:
        return prepare(frame, np.arange(frame.height), how_left_out="drop {it} from X")
    if is_ours(reference) and not is_anew:
        raise InputError(
            "the reference does not say how its table was prepared: give X as it takes it, or "
            "preparation="
        )
    preparation, left_out = prepare_what_can_be(frame)
    if not preparation.columns:
        raise InputError(f"no column of X can be learned from: {left_out}")
    if left_out:
        warnings.warn(
            f"{left_out}: left out of what the new model learns from, unless turned into numbers",
            RemarkWarning,
            stacklevel=levels_up(),
        )
    return preparation


def _is_new_to(before: Preparation, frame: pl.DataFrame, *, needs_weights: bool) -> bool:
    """Whether to prepare a frame anew: it has features that the reference has not learned from.

    A warning names them. Always False if training `needs_weights` of the reference.
    """
    others = [column.name for column in frame if column.name not in before.names]
    features = [name for name in others if not is_id(frame[name])]
    columns = prepare_what_can_be(frame.select(features))[0].names if features else []
    new = [f"column {name!r}" for name in columns]
    for column in before.columns:
        if isinstance(column, CategoryColumn) and column.name in frame.columns:
            is_unknown = column.transform(frame[column.name]).sum(axis=1) == 0
            if is_unknown.mean() >= MANY:
                new.append(f"values of {column.name!r} ({percent(is_unknown.mean())} of the rows)")
    if not new:
        return False
    what = (
        "training starts from its weights, so these are left out; a method without warm_start "
        "learns from them"
        if needs_weights
        else "the new model learns from these, too, and so cannot start from its weights"
    )
    warnings.warn(
        f"the reference has not learned from {', '.join(new)}: {what}",
        RemarkWarning,
        stacklevel=levels_up(),
    )
    return not needs_weights


def prepared(x: Any, preparation: Preparation | None) -> Any:
    """A frame's rows as inputs; anything else as it is."""
    if not _is_frame(x):
        return x
    check_names(x)
    return x if preparation is None else preparation.transform(as_frame(x))


def check_numbers(x: Any, names: Array | None) -> None:
    """Refuse gaps, times and the like in columns that were plain numbers in training.

    These are the columns in `names`, or all of them if it is None.
    """
    for column in as_frame(x) if is_frame(x) else ():
        if names is None or column.name in names:
            of_new_rows(column, "numbers")
            if _has_gaps(column):
                raise InputError(
                    f"column {column.name!r} has gaps, and X had none anywhere to learn from: fill "
                    "them before, in training, too"
                )


def check_preparation(preparation: Preparation | None, x: Any) -> None:
    """Refuse a preparation that would go unused, because X is not a frame."""
    if preparation is not None and not is_frame(x):
        raise InputError(f"preparation is for frames, and X is {type(x).__name__}")


def _is_frame(x: Any) -> bool:
    """Whether it is a Polars or pandas frame; InputError for a LazyFrame."""
    import polars as pl

    if isinstance(x, pl.LazyFrame):
        raise InputError("X is a LazyFrame: collect() it first")
    return is_frame(x)


def _is_plain(column: pl.Series) -> bool:
    """Whether a column has only numbers or booleans, and no gaps."""
    import polars as pl

    is_number = column.dtype.is_numeric() or column.dtype == pl.Boolean
    return is_number and not _has_gaps(column)


def _has_gaps(column: pl.Series) -> bool:
    """Whether any value is missing or NaN."""
    return bool(column.null_count() or (column.dtype.is_float() and column.is_nan().any()))
