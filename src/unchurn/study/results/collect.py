"""`collect`: make the result of a study from its finished trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unchurn.datasets.base import Dataset
from unchurn.metrics.registry import Runs
from unchurn.study.results.examples import flipping_examples
from unchurn.study.results.history import History
from unchurn.study.results.result import Classes, Result, SettingResult
from unchurn.study.results.subject import subject_of
from unchurn.study.trainings.run import Trainings
from unchurn.study.trainings.store import TrainedRun


def collect(trainings: Trainings) -> Result:
    """The result of a schedule whose trainings are all finished."""
    schedule = trainings.schedule
    experiment = schedule.experiment
    bases = [[trainings.by_key[key]] for key in schedule.bases]
    settings = []
    of_settings = zip(experiment.settings, schedule.members, schedule.before, strict=True)
    for setting, last, before in of_settings:
        chains = [
            [[trainings.by_key[key] for key in release] for release in (*earlier, own)]
            for own, earlier in zip(last, before, strict=True)
        ]
        failures = tuple(
            f"run {number}: {reason}"
            for number, chain, base in zip(
                experiment.run_numbers, chains, bases or [[]] * len(chains), strict=True
            )
            if (reason := _failure([*(one for release in chain for one in release), *base]))
        )
        parts = {} if failures else experiment.parts.y
        found = {
            part: _runs_on(part, labels, chains, bases, experiment.scenario.history)
            for part, labels in parts.items()
        }
        settings.append(SettingResult(setting.facts(experiment.scenario), found, failures))
    records = [run.record for run in trainings.by_key.values()]
    result = Result(
        subject=subject_of(experiment),
        settings=settings,
        notes=(*experiment.scenario.cautions, *trainings.notes),
        made_by=tuple(sorted({maker(record) for record in records})),
        seconds=sum(record.get("seconds", 0) for record in records),
    )
    return _with_examples(result, experiment.data)


def _with_examples(result: Result, data: Dataset) -> Result:
    """Add the examples that flip most to the result: only here are the data at hand."""
    repeated = result.repeated
    if repeated is None:
        return result
    return replace(result, examples=flipping_examples(repeated.runs["test"], data))


def _runs_on(
    part: str,
    labels: Classes,
    chains: Sequence[Sequence[Sequence[TrainedRun]]],
    bases: Sequence[Sequence[TrainedRun]],
    history: History | None,
) -> Runs:
    """Predictions of runs on a part; in a chain, each example's by the release that tests it."""
    if history is None:
        last = [chain[-1] for chain in chains]
        base = _stacked(bases, part) if bases else None
        return Runs(predictions=_stacked(last, part), labels=labels, base=base)
    every = np.stack([_stacked(chain, part) for chain in chains])  # (runs, releases, n)
    by, examples = history.tested_by[part], np.arange(len(labels))
    return Runs(
        predictions=every[:, by, examples],
        labels=labels,
        base=every[:, by - 1, examples],
        first=every[:, 0],
    )


def _failure(members: Sequence[TrainedRun]) -> str | None:
    """The first reason why a member of a run failed; None if none did."""
    return next((m.record["failure"] for m in members if m.record["failure"]), None)


def _stacked(runs: Sequence[Sequence[TrainedRun]], part: str) -> Classes:
    """Classes predicted by runs on a part, (R, n)."""
    return np.stack([_classes(members, part) for members in runs])


def _classes(members: Sequence[TrainedRun], part: str) -> Classes:
    """Classes predicted by a run; with several members, by the mean of their probabilities."""
    if len(members) == 1:
        alone = members[0].arrays[part]
        return alone if alone.ndim == 1 else np.asarray(alone.argmax(axis=1))
    total = np.sum([member.arrays[part] for member in members], axis=0, dtype=np.float64)
    return np.asarray(total.argmax(axis=1))


def maker(record: dict[str, Any]) -> str:
    """The versions and the machine that made a run, in one line."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return f"{versions} on {record['machine']}"
