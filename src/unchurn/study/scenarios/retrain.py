"""The scenario retrain, as in the paper: same data, another seed; runs are compared in pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import accuracy_difference, churn_difference
from unchurn.metrics.registry import METRICS, Metric, Runs
from unchurn.study.scenarios.base import Scenario


class Retrain(Scenario):
    """Runs of one setting are compared in pairs."""

    name: ClassVar[str] = "retrain"
    legend: ClassVar[Mapping[tuple[str, ...], str]] = {
        ("churn_correct", "churn_incorrect"): "Correct, incorrect: churn among what a run of the "
        "pair got right, wrong, on average of the two.",
    }

    def identity(self) -> dict[str, Any]:
        """Empty, so that runs stored before there were scenarios belong to this one alone."""
        return {} if type(self) is Retrain else super().identity()

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Accuracy and churn between pairs of runs."""
        return METRICS

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """Differences in churn over pairs of runs, and in accuracy over runs."""
        first, second = ours.predictions, theirs.predictions
        return {
            "churn": churn_difference(first, second),
            "accuracy": accuracy_difference(first, second, ours.labels),
        }

    def note(self, n_test: int) -> str:
        """A note on what the means in a table are taken over."""
        return "Percent, mean: accuracy over runs, churn over pairs of runs."
