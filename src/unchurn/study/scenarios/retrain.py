"""Retraining, as in the paper: the same data, another seed; every run against every other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import accuracy_difference, churn_difference
from unchurn.metrics.registry import METRICS, Metric
from unchurn.study.scenarios.base import Classes, Scenario


class Retrain(Scenario):
    """Runs of one setting are compared in pairs."""

    name: ClassVar[str] = "retrain"

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """All that there are."""
        return METRICS

    def differences(self, ours: Classes, theirs: Classes, labels: Classes) -> dict[str, Interval]:
        """In accuracy over runs, and in churn over pairs of runs."""
        return {
            "accuracy": accuracy_difference(ours, theirs, labels),
            "churn": churn_difference(ours, theirs),
        }

    def note(self) -> str:
        """Over what each metric is a mean."""
        return (
            "Percent, mean (sd): accuracy over runs, churn over pairs of runs; correct, incorrect: "
            "churn among what a pair's first run got right, wrong."
        )
