"""Warn when retrainings seem to be of another recipe than base: their churn is then no noise."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray
from unchurn.report.numbers import percent

FARTHER = 1.5  # times as far from base as the two farthest retrainings are from each other
STRIKING = 3  # standard errors that are no accident of the examples


def caution_on_recipe(
    moved: npt.NDArray[np.bool_], said: IntArray, clusters: IntArray | None = None
) -> str | None:
    """Warn when retrainings agree far more with each other than base does with any; else None.

    `moved` marks differences from base, `said` has the classes that each of R retrainings predicts,
    (R, n). A base of the same recipe is like one more retraining, and is rarely so far from all.
    """
    if len(said) < 2:
        return None
    of_base = moved.mean(axis=1)
    beyond = moved.mean(axis=0)
    pairs = list(combinations(said, 2))
    of_pairs = []
    for one, two in pairs:
        differs = one != two
        of_pairs.append(float(differs.mean()))
        beyond -= differs / len(pairs)
    if max(of_pairs) == 0:  # copies of one model: see `cautions_on_copies`
        return None
    if of_base.min() < FARTHER * max(of_pairs) or not _is_striking(beyond, clusters):
        return None
    among, away = (f"{percent(min(x))} to {percent(max(x))}" for x in (of_pairs, of_base.tolist()))
    return (
        f"retrainings differ by {among} from one another, but by {away} from base: they seem to be "
        "of another recipe than base's, and then their churn is not that of retraining alone"
    )


def _is_striking(beyond: npt.NDArray[np.float64], clusters: IntArray | None) -> bool:
    """Whether the sum over examples, or clusters of them, is above zero beyond chance."""
    units = beyond if clusters is None else np.bincount(clusters, beyond)
    return float(units.sum()) > STRIKING * math.sqrt(float((units**2).sum()))
