"""`Scenario`: what happens between two models, and so what a study compares.

A new one is a subclass in a file of its own, plus one line in `SCENARIOS`. Its parameters are the
fields of a dataclass, if it has any, and it is written with them: `resample(share=0.9)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError
from unchurn.core.tables import TextForm
from unchurn.datasets.base import Dataset
from unchurn.methods import Control, Method
from unchurn.methods.cost import training_cost
from unchurn.methods.registry import DEFAULT
from unchurn.metrics.budget import Budget, excess
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Metric, Runs
from unchurn.study.design.job import Job
from unchurn.study.design.parts import Mask, Parts, make_parts
from unchurn.training.learners.base import Learner
from unchurn.training.learners.own_code import code_identity
from unchurn.training.loop.streams import reference_streams

if TYPE_CHECKING:
    import altair as alt

    from unchurn.datasets.preparation import Preparation
    from unchurn.study.results.history import History
    from unchurn.study.results.result import Result
    from unchurn.study.scenarios.given_base import GivenBase

Rows = npt.NDArray[np.integer]
PlainFit = tuple[int, int]  # a plain training: its run, and its stream in the run
FEWEST_UNITS = 3  # of fewer runs, or older models, no interval is promised to hold


@dataclass(frozen=True)
class Scenario:
    """What decides how the runs of a study differ and how they are compared.

    It is sent to other processes with the trainings, so it must be picklable.
    """

    name: ClassVar[str]
    churn: ClassVar[str] = "churn"  # the metric that is to be low: settings are chosen by it
    charted: ClassVar[str] = "churn_correct"  # the metric that accuracy is charted against
    # The metrics that the limits of a budget are of.
    limited: ClassVar[Mapping[str, str]] = {"max_churn": "churn"}
    # In words: the metric that is to be low, that it falls, and what a share of it is.
    churn_words: ClassVar[str] = "churn"
    falls: ClassVar[str] = "churn falls"
    question: ClassVar[str] = "which training churns least, at no cost in accuracy?"
    says: ClassVar[str] = "with {} of its predictions changing from one retraining to the next"
    # What further metrics are, in a sentence, by their names: it goes where their columns go.
    legend: ClassVar[Mapping[tuple[str, ...], str]] = {}
    # Whether runs have a model before them: what looks at a fixed reference then looks at that.
    has_base: ClassVar[bool] = False
    # What the preset "quick" tries, where no method is named; None: as it does for retraining.
    recipes: ClassVar[tuple[str, ...] | None] = None

    @property
    def parameters(self) -> dict[str, Any]:
        """Those that are not as usual, by name."""
        given = [field for field in fields(self) if field.init]
        own = {field.name: (getattr(self, field.name), field.default) for field in given}
        return {name: value for name, (value, usual) in own.items() if value != usual}

    @property
    def text(self) -> str:
        """Its name with its parameters, from which `make_scenario` makes it again."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.name}({given})" if given else self.name

    @property
    def steadier(self) -> tuple[str, ...]:
        """What is advised where nothing helped."""
        return DEFAULT, "ensemble"

    def units(self, runs: int) -> str:
        """What of so many runs is independent, and so left out one at a time."""
        return "runs"

    def n_units(self, runs: int) -> int:
        """How many of them there are."""
        return runs

    def are_too_few(self, runs: int) -> bool:
        """Whether so many runs, or older models, are too few for any interval over them."""
        return self.n_units(runs) < FEWEST_UNITS

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table that it looks at itself, and that are no features."""
        return ()

    @property
    def joined_by(self) -> str | None:
        """The column of a table that was named as its rows' id, if one was."""
        return None

    @property
    def preparation_before(self) -> Preparation | None:
        """How the table of a model before was prepared, where there is one that says so."""
        return None

    @property
    def cautions(self) -> tuple[str, ...]:
        """What is to be read beside its figures, as they may be wrong."""
        return ()

    def scene(self, data: Dataset, *, validation: bool, form: TextForm | None = None) -> Scene:
        """What it makes of data: what is trained on and predicted, and itself, knowing them."""
        return Scene(data=data, parts=make_parts(data, validation=validation), scenario=self)

    def why_not(self, method: Method, learner: Learner, parts: Parts) -> str | None:
        """Why a method cannot take part; None if it can."""
        return None

    def identity(self) -> dict[str, Any]:
        """What of it decides a run's result, besides data, learner, method and seed."""
        return {"scenario": code_identity(self)}

    def seeded_by(self, run: int) -> int:
        """The run whose random numbers a run uses: its own, so that each has another seed."""
        return run

    def rows(self, seed: int, run: int, fit: int, n: int) -> Rows | None:
        """Which of the n training examples a training sees, by run and stream; None: all."""
        return None

    def base_of(self, run: int) -> PlainFit | None:
        """The older model that a run is held against; None: runs are compared with each other."""
        return None

    @property
    def given(self) -> GivenBase | None:
        """The older model, where it is one that was given: then it is not trained."""
        return None

    @property
    def base_may_know_tests(self) -> bool:
        """Whether the older model may have been trained on test rows: nobody says it was not."""
        return False

    def known_to(self, fit: int) -> Mask | None:
        """The classes that the plain fit of this stream knows; None: all, or nobody looked."""
        return None

    def references(self, job: Job) -> list[Job]:
        """The trainings that a job looks at, plain fits of its run; none if it looks at none."""
        is_looking = job.method.reference() is not None
        streams = reference_streams(job.method, seed=0, run=job.run) if is_looking else []
        return [Job(Control(), stream.run, stream.fit) for stream in streams]

    def chain(self, run: list[Job]) -> list[list[Job]]:
        """The models that a run trains in turn, each by its members' jobs: as a rule one."""
        return [run]

    @property
    def history(self) -> History | None:
        """When the models of a chain were released, where there are several."""
        return None

    def training_cost(self, method: Method) -> int:
        """How many networks a run of a method trains, without the base; plain training is 1."""
        need = method.reference()
        is_there = self.has_base and need is not None and need.is_fixed
        return training_cost(method) - (need.m if need is not None and is_there else 0)

    def note_on(self, method: Method) -> str | None:
        """What a reader of a method's results must know; of bases, `note` tells."""
        return None if self.has_base else method.note()

    def limits(self, budget: Budget) -> dict[str, float]:
        """The metrics that a budget limits, and how far; InputError if it limits what none is."""
        for name in budget.given:
            if name not in self.limited:
                raise InputError(
                    f"bad flips need an older model, and {self.name} has none: for {name}= take "
                    "the scenario upgrade"
                )
        given = budget.given
        return {metric: given[name] for name, metric in self.limited.items() if name in given}

    def excess(self, runs: Runs, limits: Mapping[str, float]) -> float:
        """By how much the mean over runs exceeds the limit that it exceeds most; 0 if none."""
        return excess({name: self.metrics[name].of(runs).mean for name in limits}, limits)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What is shown of a setting's runs, in order."""
        raise NotImplementedError

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """How the runs of two settings differ, by metric; the most important first."""
        raise NotImplementedError

    def note(self, n_test: int) -> str:
        """What the numbers of a table, of so many test rows, are; `legend` has the rest."""
        raise NotImplementedError

    def charts(self, result: Result) -> dict[str, alt.TopLevelMixin]:
        """Charts that only this scenario has, by title."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a scenario made of data: as a rule nothing, but an upgrade looks for its base."""

    data: Dataset
    parts: Parts
    scenario: Scenario
