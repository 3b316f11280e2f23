"""`OlderRows`: the training rows that a base saw, given by a column or a date."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.study.design.parts import Mask, Parts, make_parts


@dataclass(frozen=True, eq=False, kw_only=True)
class OlderRows:
    """The training examples that a base saw, and their classes."""

    rows: IntArray
    known: Mask | None  # the classes among them; None if all
    digest: str  # of the mask of these rows among all training rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Parted:
    """Data with older rows: the data, their parts, and the older rows."""

    data: Dataset
    parts: Parts
    older: OlderRows


def part_rows(
    data: Dataset, is_old: Mask, words: str, *, validation: bool, comes_later: bool
) -> Parted:
    """Split off the base's rows: the mask `is_old`, training rows first; `words` describe them.

    If the other rows came later, only they serve for tests and validation, as they are more like
    future rows. Older test rows are then trained on: they would be of no use otherwise.
    """
    n = len(data.y_train)
    if is_old[:n].all():
        raise InputError(f"every training row is one {words}: there is nothing new to train on")
    if comes_later:
        old_test = is_old[n:]
        if old_test.all():
            raise InputError(f"every test row is one {words}: there is nothing to test on")
        data = data.tested_on(~old_test)
        if old_test.any():
            moved = f"{old_test.sum():,} test rows {words} are trained on: tests are on later ones"
            data = replace(data, notes=(*data.notes, moved))
        is_old = np.concatenate([is_old[:n], old_test[old_test]])
    old = is_old[: len(data.y_train)]
    parts = make_parts(data, validation=validation, among=~old if comes_later else None)
    rows = np.flatnonzero(old[parts.rows["train"]])
    known = np.bincount(parts.y_train[rows], minlength=parts.n_classes) > 0
    return Parted(
        data=data,
        parts=parts,
        older=OlderRows(
            rows=rows,
            known=None if known.all() else known,
            digest=hashlib.sha256(np.packbits(old).tobytes()).hexdigest(),
        ),
    )


def with_classes(parted: Parted, words: str) -> Parted:
    """Add notes on missing classes; InputError if the base's rows have fewer than two classes."""
    data, parts, older = parted.data, parted.parts, parted.older
    known = np.ones(parts.n_classes, bool) if older.known is None else older.known
    if known.sum() < 2:
        raise InputError(
            f"a base needs rows of at least 2 classes: {len(older.rows):,} training rows are ones "
            f"{words}, of {known.sum()} classes"
        )
    lacking = [f"no row that a base is trained on is of class {name}: it does not know it"
               for name in _names(data, ~known)]  # fmt: skip
    tested = np.bincount(data.y_test, minlength=parts.n_classes) > 0
    lacking += [f"no test row is of class {name}" for name in _names(data, ~tested)]
    return replace(parted, data=replace(data, notes=(*data.notes, *lacking)))


def _names(data: Dataset, which: Mask) -> list[str]:
    return [name for name, is_there in zip(data.classes, which, strict=True) if is_there]
