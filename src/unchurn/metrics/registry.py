"""The metrics that a study shows of a setting's runs. A new metric is one entry here.

METRICS compare runs with each other, AGAINST_BASE with an older model, and OVER_RELEASES each model
of a chain with the one before and the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from unchurn.metrics import against_base
from unchurn.metrics.churn import ChurnSummary, Given, MeanSd, churn_summary

Better = Literal["higher", "lower"] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Runs:
    """The input of metrics: classes predicted by R runs, (R, n), and the true ones, (n,).

    `base` has the predictions of the older model that each run is compared with, (R, n); `first`
    those of the first model, if runs are chains of models.
    """

    predictions: npt.NDArray[np.integer]
    labels: npt.NDArray[np.integer]
    base: npt.NDArray[np.integer] | None = None
    first: npt.NDArray[np.integer] | None = None
    given: Given = "either"  # see `churn_summary`

    @cached_property
    def summary(self) -> ChurnSummary:
        """Accuracy and churn, computed once for all metrics."""
        return churn_summary(self.predictions, self.labels, given=self.given)

    def only(self, kept: npt.NDArray[np.bool_]) -> Runs:
        """The runs restricted to some examples."""
        return replace(
            self,
            predictions=self.predictions[:, kept],
            labels=self.labels[kept],
            base=None if self.base is None else self.base[:, kept],
            first=None if self.first is None else self.first[:, kept],
        )


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number of a setting's runs, as a fraction."""

    name: str  # its column in table.csv
    heading: str
    of: Callable[[Runs], MeanSd]
    better: Better  # None if neither direction is better


def _share(
    name: str, heading: str, better: Better, mask: Callable[[Runs], npt.NDArray[np.bool_]]
) -> Metric:
    """A metric: the share of a run's examples in a mask."""
    return Metric(
        name=name,
        heading=heading,
        better=better,
        of=lambda runs: against_base.rate(mask(runs)),
    )


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
        _share("bad_flips", "bad flips", "lower", against_base.bad_flips),
        _share("churn_to_base", "churn to base", "lower", against_base.moved),
        _share("good_flips", "good flips", "higher", against_base.good_flips),
        Metric(name="flip_index", heading="flip index", better="lower", of=against_base.flip_index),
        Metric(
            name="churn_among", heading="churn of two", better="lower", of=against_base.churn_among
        ),
        # Neither direction is better: it does not depend on the runs.
        _share("accuracy_base", "base's accuracy", None, against_base.right_before),
    )
}


def _share_to_first(
    name: str, heading: str, better: Better, mask: Callable[[Runs], npt.NDArray[np.bool_]]
) -> Metric:
    """A metric: the share of a run's examples in a mask against the first model."""
    return _share(name, heading, better, lambda runs: mask(against_base.against_first(runs)))


OVER_RELEASES: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        METRICS["accuracy"],
        AGAINST_BASE["bad_flips"],
        replace(AGAINST_BASE["churn_to_base"], heading="churn"),
        AGAINST_BASE["good_flips"],
        _share_to_first("bad_flips_first", "bad flips to first", "lower", against_base.bad_flips),
        _share_to_first("churn_first", "churn to first", None, against_base.moved),
        replace(AGAINST_BASE["accuracy_base"], heading="accuracy before"),
        _share_to_first("accuracy_first", "accuracy of first", None, against_base.right_before),
    )
}
