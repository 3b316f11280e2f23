"""What is recorded of a setting besides its predictions: its cost, calibration, validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from unchurn.core.errors import InputError
from unchurn.metrics.calibration import calibration_error, log_loss
from unchurn.study.design.schedule import Schedule
from unchurn.study.results.result import Result
from unchurn.study.trainings.store import Store

DIGITS = 6  # decimals of the recorded numbers


def setting_facts(schedule: Schedule, store: Store, result: Result) -> list[dict[str, Any]]:
    """The facts of each setting, in order; of a failed one, its costs alone."""
    every = []
    for number, row in enumerate(result.settings):
        facts: dict[str, Any] = {"trained": row.setting.n_trained, "served": row.setting.n_models}
        if row.runs:
            facts |= _calibration(schedule, store, number)
            if result.chosen_on in row.runs and result.chosen_on != "test":
                metrics, own = result.subject.scenario.metrics, row.runs[result.chosen_on]
                names = ("accuracy", result.subject.scenario.churn)
                facts["validation"] = {n: round(metrics[n].of(own).mean, DIGITS) for n in names}
        every.append(facts)
    return every


def _calibration(schedule: Schedule, store: Store, number: int) -> dict[str, float]:
    """Mean calibration error and log loss of runs on the test part, from the store."""
    experiment = schedule.experiment
    labels = experiment.parts.y["test"]
    errors, losses = [], []
    for keys in schedule.members[number]:
        stored = [store.get(experiment.identity(schedule.jobs[key])) for key in keys]
        if None in stored:
            raise InputError(f"{store.folder}: runs are gone; run the command again")
        probabilities = np.mean([run.arrays["test"] for run in stored if run], axis=0)
        errors.append(calibration_error(probabilities, labels))
        losses.append(log_loss(probabilities, labels))
    return {
        "calibration_error": round(float(np.mean(errors)), DIGITS),
        "log_loss": round(float(np.mean(losses)), DIGITS),
    }
