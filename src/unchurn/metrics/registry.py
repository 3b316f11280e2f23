"""What a study shows of a setting's runs. A new metric is one entry here.

METRICS are of runs among each other, AGAINST_BASE of runs that are held against an older model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from unchurn.metrics import against_base
from unchurn.metrics.churn import ChurnSummary, Given, MeanSd, churn_summary


@dataclass(frozen=True, eq=False, kw_only=True)
class Runs:
    """What metrics are of: the classes that R runs predicted, (R, n), and the true ones, (n,).

    Where every run is held against an older model, `base` has what that predicted, (R, n).
    """

    predictions: npt.NDArray[np.integer]
    labels: npt.NDArray[np.integer]
    base: npt.NDArray[np.integer] | None = None
    given: Given = "either"  # of a pair, for churn among right and wrong predictions

    @cached_property
    def summary(self) -> ChurnSummary:
        """Accuracy and churn, counted once for all metrics that they serve."""
        return churn_summary(self.predictions, self.labels, given=self.given)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number of a setting's runs, as a fraction."""

    name: str  # of its column in table.csv
    heading: str
    of: Callable[[Runs], MeanSd]
    better: Literal["higher", "lower"] | None  # None: neither is, and no setting is best in it


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="accuracy",
            heading="accuracy",
            better="higher",
            of=lambda runs: runs.summary.accuracy,
        ),
        Metric(
            name="churn",
            heading="churn",
            better="lower",
            of=lambda runs: runs.summary.churn,
        ),
        Metric(
            name="churn_correct",
            heading="correct",
            better="lower",
            of=lambda runs: runs.summary.churn_correct,
        ),
        Metric(
            name="churn_incorrect",
            heading="incorrect",
            better=None,  # churn among wrong predictions may be good
            of=lambda runs: runs.summary.churn_incorrect,
        ),
    )
}

AGAINST_BASE: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        METRICS["accuracy"],
        Metric(
            name="bad_flips",
            heading="bad flips",
            better="lower",
            of=lambda runs: against_base.rate(against_base.bad_flips(runs)),
        ),
        Metric(
            name="churn_to_base",
            heading="churn to base",
            better="lower",
            of=lambda runs: against_base.rate(against_base.moved(runs)),
        ),
        Metric(
            name="good_flips",
            heading="good flips",
            better="higher",
            of=lambda runs: against_base.rate(against_base.good_flips(runs)),
        ),
        Metric(
            name="flip_index",
            heading="flip index",
            better="lower",
            of=against_base.flip_index,
        ),
        Metric(
            name="churn_among",
            heading="churn of two",
            better="lower",
            of=against_base.churn_among,
        ),
        Metric(
            name="accuracy_base",
            heading="base's accuracy",
            better=None,  # it is the same whatever comes after it
            of=lambda runs: against_base.rate(against_base.right_before(runs)),
        ),
    )
}
