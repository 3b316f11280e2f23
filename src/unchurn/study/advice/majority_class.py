"""Warn when always answering the commonest class gets most test rows right, or more than all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unchurn.core.arrays import IntArray
from unchurn.metrics.against_base import right
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    from unchurn.study.results.result import Result

MOST = 0.8  # share of the test rows


def note_on_commonest(labels: IntArray, classes: Sequence[str]) -> str | None:
    """Note the accuracy of always answering the commonest class; None if that is below MOST.

    >>> note_on_commonest(np.array([0, 1, 1, 1]), ["no", "yes"])
    >>> note_on_commonest(np.array([0, 0, 0, 0, 1]), ["no", "yes"])
    "always answering 'no' has 80.0% of the test rows right: hold accuracy against that; ..."
    """
    counts = np.bincount(labels)
    share = counts.max() / len(labels)
    if share < MOST:
        return None
    commonest = classes[int(counts.argmax())]
    return (
        f"always answering {commonest!r} has {share:.1%} of the test rows right: "
        "hold accuracy against that; what moves in each class is told by unchurn compare, of two "
        "files of predictions, with --slices label"
    )


def on_the_commonest(result: Result) -> str:
    """Say that always answering the commonest class beats all methods, if that is beyond chance."""
    rights = [right(row.reported.runs["test"]).mean(axis=0) for row in result.chosen.values()]
    if not rights:
        return ""
    labels = result.subject.labels["test"]
    number = int(np.bincount(labels).argmax())
    always = labels == number
    gained = always - max(rights, key=np.mean)  # of each test row
    if gained.mean() <= 2 * gained.std() / math.sqrt(len(gained)):
        return ""
    return (
        f" But always answering {result.subject.data.classes[number]!r} has "
        f"{percent(always.mean())} of the test rows right, more than any of these."
    )
