"""Metrics of runs compared with an older model: bad flips, good flips, churn to it.

Masks are (R, n), of R runs and n examples; numbers are means over runs.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, IntArray
from unchurn.metrics.churn import MeanSd, mean_sd
from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import rate_difference

if TYPE_CHECKING:
    from unchurn.metrics.registry import Runs

Mask = npt.NDArray[np.bool_]


def right(runs: Runs) -> Mask:
    """Mask of the examples that each run gets right."""
    return np.asarray(runs.predictions == runs.labels)


def right_before(runs: Runs) -> Mask:
    """Mask of the examples that the older model got right."""
    return np.asarray(_base(runs) == runs.labels)


def moved(runs: Runs) -> Mask:
    """Mask of the examples that a run predicts differently from the older model."""
    return np.asarray(runs.predictions != _base(runs))


def bad_flips(runs: Runs) -> Mask:
    """Mask of the examples that were right before and are wrong now."""
    return right_before(runs) & ~right(runs)


def good_flips(runs: Runs) -> Mask:
    """Mask of the examples that were wrong before and are right now."""
    return right(runs) & ~right_before(runs)


def against_first(runs: Runs) -> Runs:
    """The same runs, compared with the first model of their chain."""
    return replace(runs, base=runs.first)


def rate(mask: Mask) -> MeanSd:
    """Mean and deviation over runs of a mask's share of the examples."""
    return mean_sd(mask.mean(axis=1))


def flip_index(runs: Runs) -> MeanSd:
    """The share of a run's wrong examples that were right before (the negative-flip index).

    Runs without an error are left out.
    """
    wrong = (~right(runs)).sum(axis=1)
    bad = bad_flips(runs).sum(axis=1)
    return mean_sd(bad[wrong > 0] / wrong[wrong > 0])


def churn_among(runs: Runs) -> MeanSd:
    """Churn between runs that are compared with the same older model, over their pairs."""
    same = same_base(runs)
    pairs = [(i, j) for i, j in combinations(range(len(same)), 2) if same[i] == same[j]]
    own = runs.predictions
    return mean_sd(np.array([np.mean(own[i] != own[j]) for i, j in pairs]))


def same_base(runs: Runs) -> IntArray:
    """A number for each run, equal for runs whose older models predict the same."""
    numbers: dict[bytes, int] = {}  # np.unique would sort the rows: a hundred times as slow
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in _base(runs)])


def _base(runs: Runs) -> Array:
    if runs.base is None:
        raise ValueError("these runs are held against no older model")
    return runs.base


def differences(ours: Runs, theirs: Runs, groups: Array | None = None) -> dict[str, Interval]:
    """Differences in bad flips, churn to the base and accuracy; `groups` tells each run's base."""
    masks = {"bad_flips": bad_flips, "churn_to_base": moved, "accuracy": right}
    same = np.array_equal(ours.predictions, theirs.predictions)
    return {
        name: rate_difference(of(ours), of(theirs), groups, same=same) for name, of in masks.items()
    }
