"""Warn when always answering the commonest class would get most test rows right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unchurn.core.arrays import IntArray

MOST = 0.8  # of the test rows


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
