"""Retraining, as in the paper: the same data, another seed; every run against every other."""

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
        """Nothing more: runs that were kept before there were scenarios are of this one."""
        return {}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """All that there are."""
        return METRICS

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """In churn over pairs of runs, and in accuracy over runs."""
        first, second = ours.predictions, theirs.predictions
        return {
            "churn": churn_difference(first, second),
            "accuracy": accuracy_difference(first, second, ours.labels),
        }

    def note(self, n_test: int) -> str:
        """Over what each metric is a mean."""
        return "Percent, mean: accuracy over runs, churn over pairs of runs."
