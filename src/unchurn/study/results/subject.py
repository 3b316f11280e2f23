"""`Subject`: the facts of a study that tables and pages show; without data or learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.datasets.base import TEXT, as_labels
from unchurn.metrics.budget import Budget
from unchurn.study.design.experiment import Experiment
from unchurn.study.results.history import History
from unchurn.study.results.ids import find_ids
from unchurn.study.scenarios import Replay, Scenario, make_scenario

Classes = npt.NDArray[np.integer]


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """Facts about a dataset, without its examples."""

    name: str
    classes: tuple[str, ...]
    fingerprint: str
    n_train: int  # examples that runs are trained on, without those held out
    n_validation: int
    notes: tuple[str, ...]
    label_dtype: str = TEXT  # of the table's target, as NumPy names it
    id_column: str = ""  # the table's column of ids; empty if rows are numbered

    @property
    def label_values(self) -> Array:
        """The classes in the type of the table's target."""
        return as_labels(self.classes, self.label_dtype)


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """The data, learner, number of runs, scenario and budget, and the true classes by part."""

    data: DataFacts
    labels: Mapping[str, Classes]
    learner: Mapping[str, Any]  # its identity
    learner_label: str
    learner_facts: Mapping[str, str]
    length: str  # of a training, in words
    runs: int
    seed: int
    scenario: Scenario = field(default_factory=make_scenario)
    budget: Budget = field(default_factory=Budget)  # chooses settings, if it has limits
    history: History | None = None  # only in the scenario replay
    ids: Array | None = None  # of test rows; None if positions in the test part identify them

    @property
    def chosen_on(self) -> str:
        """The part of the data on which settings are chosen."""
        return "validation" if "validation" in self.labels else "test"

    @property
    def are_too_few(self) -> bool:
        """Whether runs, or older models, are too few to tell a difference from chance."""
        return self.scenario.are_too_few(self.runs)

    @property
    def is_of_networks(self) -> bool:
        """Whether networks were trained, rather than trees or other models."""
        return "network" in self.learner_facts

    def to_dict(self) -> dict[str, Any]:
        """All but the arrays, as plain values."""
        apart = ("labels", "budget", "history", "ids")
        plain = {n: value for n, value in vars(self).items() if n not in apart}
        budget = {"budget": self.budget.given} if self.budget.given else {}
        history = {"history": self.history.to_dict()} if self.history is not None else {}
        made = {"data": asdict(self.data), "scenario": self.scenario.text}
        return {**plain, **made, **budget, **history}

    @classmethod
    def from_dict(
        cls,
        given: Mapping[str, Any],
        labels: Mapping[str, Classes],
        tested_by: Mapping[str, Classes],
        ids: Array | None,
    ) -> Self:
        """Make a subject from `to_dict`'s values and the arrays; InputError if they do not fit."""
        data = dict(given["data"])
        facts = DataFacts(
            **{**data, "classes": tuple(data["classes"]), "notes": tuple(data["notes"])}
        )
        scenario = make_scenario(given["scenario"])
        budget = Budget(**given.get("budget", {}))  # older folders have none
        scenario.limits(budget)
        made = {"data": facts, "scenario": scenario, "budget": budget, "labels": labels, "ids": ids}
        if ("history" in given) is not (scenario.name == Replay.name):
            raise InputError(f"a history is of the scenario {Replay.name}, not of {scenario.name}")
        if "history" in given:
            sizes = {part: len(classes) for part, classes in labels.items()}
            made["history"] = History.from_dict(given["history"], tested_by, sizes)
        return cls(**{**given, **made})


def subject_of(experiment: Experiment) -> Subject:
    """The facts of an experiment that tables and pages show."""
    data, parts, learner = experiment.data, experiment.parts, experiment.learner
    scenario = experiment.scenario
    id_column, ids = find_ids(data, experiment.id or scenario.joined_by, scenario.columns)
    return Subject(
        data=DataFacts(
            name=data.name,
            classes=data.classes,
            fingerprint=data.fingerprint,
            n_train=len(parts.y_train),
            n_validation=len(parts.y.get("validation", ())),
            notes=data.notes,
            label_dtype=data.label_dtype,
            id_column=id_column,
        ),
        labels=parts.y,
        learner=learner.identity,
        learner_label=learner.label,
        learner_facts=learner.facts,
        length=learner.length,
        runs=experiment.runs,
        seed=experiment.seed,
        scenario=scenario,
        budget=experiment.budget,
        history=scenario.history,
        ids=ids,
    )
