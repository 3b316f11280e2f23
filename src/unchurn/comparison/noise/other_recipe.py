"""Are retrainings of another recipe than base's? Then their churn is no noise of retraining."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray
from unchurn.report.numbers import percent

FARTHER = 1.5  # times as far from base as the two farthest retrainings are from one another
STRIKING = 3  # standard errors that are no accident of the examples


def caution_on_recipe(
    moved: npt.NDArray[np.bool_], said: IntArray, clusters: IntArray | None = None
) -> str | None:
    """A warning where retrainings agree far more with one another than base does with any of them.

    `moved` is what differs from base and `said` what each of R retrainings predicts, (R, n). Of its
    own recipe base is one more of them: then it is not as far from all of them, but by chance.
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
    if max(of_pairs) == 0:  # copies of one model, of which is told elsewhere
        return None
    if of_base.min() < FARTHER * max(of_pairs) or not _is_striking(beyond, clusters):
        return None
    among, away = (f"{percent(min(x))} to {percent(max(x))}" for x in (of_pairs, of_base.tolist()))
    return (
        f"retrainings differ by {among} from one another, but by {away} from base: they seem to be "
        "of another recipe than base's, and then their churn is not that of retraining alone"
    )


def _is_striking(beyond: npt.NDArray[np.float64], clusters: IntArray | None) -> bool:
    """Whether what examples, or clusters of them, have beyond zero is more than their chance."""
    units = beyond if clusters is None else np.bincount(clusters, beyond)
    return float(units.sum()) > STRIKING * math.sqrt(float((units**2).sum()))
