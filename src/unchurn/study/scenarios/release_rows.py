"""Split a time-ordered table into the train and test rows of each release.

A row is tested by the release in use when it came, and only later releases are trained on it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.study.design.parts import Mask, Parts, held_out
from unchurn.study.results.history import History, as_text
from unchurn.study.scenarios.periods import Periods


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseRows:
    """A history, with the rows and classes that each release is trained on."""

    history: History
    periods: IntArray  # period of each training example; release k sees those up to period k
    known: Mask  # (releases, classes): the classes of which a release saw a row
    digest: str  # of the table, and of each row's period


def play(
    data: Dataset, periods: Periods, *, validation: bool
) -> tuple[Dataset, Parts, ReleaseRows]:
    """Split all rows of a table, training and test rows alike, by their period.

    Release k, from 0, is trained on periods 0 … k and tested on period k + 1. Test rows are those
    of all releases but the first. With `validation`, some of these are held out of all training, to
    choose settings on.
    """
    x = np.concatenate([data.x_train, data.x_test])
    y = np.concatenate([data.y_train, data.y_test])
    of = periods.numbers
    is_tested = of >= 2
    is_held = held_out(data, y, is_tested) if validation else np.zeros(len(y), bool)
    rows: dict[str, IntArray] = {
        "train": np.flatnonzero(~is_held & (of < len(periods) - 1)),
        "test": np.flatnonzero(is_tested & ~is_held),
        **({"validation": np.flatnonzero(is_held)} if validation else {}),
    }
    train, predicted = rows["train"], [part for part in rows if part != "train"]
    parts = Parts(
        x_train=x[train],
        y_train=y[train],
        n_classes=len(data.classes),
        x={part: x[rows[part]] for part in predicted},
        y={part: y[rows[part]] for part in predicted},
        rows=rows,
    )
    releases = range(len(periods) - 1)
    counts = [np.bincount(y[train][of[train] <= k], minlength=len(data.classes)) for k in releases]
    known = np.array(counts) > 0
    history = History(
        times=periods.begins[1:],
        trained_on=tuple(int(count.sum()) for count in counts),
        tested_by={part: of[rows[part]] - 1 for part in predicted},
    )
    digest = hashlib.sha256(data.fingerprint.encode() + of.astype("<i4").tobytes()).hexdigest()
    _check_first(data, history, known[0])
    played = ReleaseRows(history=history, periods=of[train], known=known, digest=digest)
    return _data_of(data, parts, [*_notes(data, periods, known)]), parts, played


def _check_first(data: Dataset, history: History, known: Mask) -> None:
    """Refuse a first release that cannot be trained."""
    if known.sum() < 2:
        raise InputError(
            f"the first release needs rows of at least 2 classes: {history.trained_on[0]:,} rows "
            f"of {data.name} came before {as_text(history.times[0])}, all of class "
            f"{data.classes[int(known.argmax())]}: give every= more"
        )


def _data_of(data: Dataset, parts: Parts, notes: list[str]) -> Dataset:
    """The data with the replay's training and test rows; a row may be in both."""
    train, test = parts.rows["train"], parts.rows["test"]
    both = np.concatenate([train, test])
    table = None
    if data.train_rows is not None and data.test_rows is not None:
        table = data.train_rows.vstack(data.test_rows)
    return replace(
        data,
        x_train=parts.x_train,
        y_train=parts.y_train,
        x_test=parts.x["test"],
        y_test=parts.y["test"],
        notes=(*data.notes, *notes),
        train_rows=None if table is None else table[train],
        test_rows=None if table is None else table[test],
        aside=None if data.aside is None else data.aside[both],
        order=both if data.order is None else data.order[both],
    )


def _notes(data: Dataset, periods: Periods, known: Mask) -> list[str]:
    """Notes on releases, empty periods and classes that appear late."""
    begins = [as_text(time) for time in periods.begins]
    notes = [
        f"{len(begins) - 1} releases, from {begins[1]} to {begins[-1]}: the first, from the rows "
        f"since {begins[0]}, is trained plainly for all methods"
    ]
    if periods.n_empty:
        n = periods.n_empty
        notes.append(
            f"{n} period{'s' * (n > 1)} without any row {'are' if n > 1 else 'is'} skipped"
        )
    late = [
        f"no row of class {name} came before {begins[int(column.argmax()) or -1]}: "
        "releases until then do not know it"
        for name, column in zip(data.classes, known.T, strict=True)
        if not column[0]
    ]
    return notes + late
