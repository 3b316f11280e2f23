"""`Experiment`: everything that decides the results of a study, and the identity of each job."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from unchurn.core.arrays import as_whole
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.methods import Method
from unchurn.metrics.budget import Budget
from unchurn.study.design.costs import Costs
from unchurn.study.design.job import Job
from unchurn.study.design.parts import Parts
from unchurn.study.design.settings import Setting, plain_parameters
from unchurn.study.scenarios import Scenario, make_scenario
from unchurn.study.trainings.store import key_of
from unchurn.training.learners.base import Learner
from unchurn.training.learners.own_code import code_identity
from unchurn.training.learners.torch import TorchLearner

SEMANTICS = 1  # increased when a change in unchurn alters the results of equal identities

MOST_RUNS = 10_000  # of a setting: for a mistyped number, listing the trainings would never end


@dataclass(frozen=True, eq=False, kw_only=True)
class Experiment:
    """The data, settings, learner, number of runs and scenario of a study."""

    data: Dataset
    parts: Parts  # of the data, to train on and to predict (see `make_parts`)
    settings: tuple[Setting, ...]
    learner: Learner = field(default_factory=TorchLearner)
    runs: int = 5
    seed: int = 0
    first_run: int = 0  # number of the first run; streams depend on run numbers
    scenario: Scenario = field(default_factory=make_scenario)
    budget: Budget = field(default_factory=Budget)  # to choose settings by; does not affect runs
    id: str | None = None  # the id column that the user named; does not affect runs

    def __post_init__(self) -> None:
        # NumPy's numbers become plain ones, which can be written.
        object.__setattr__(self, "seed", as_whole(self.seed, 0, "seed"))
        object.__setattr__(self, "runs", as_whole(self.runs, 1, "runs"))
        if self.runs < 2:
            raise InputError(f"churn needs at least 2 runs, not {self.runs}")
        if self.runs > MOST_RUNS:
            raise InputError(f"runs must be at most {MOST_RUNS:,}, not {self.runs:,}")
        self.scenario.limits(self.budget)  # InputError for a limit that the scenario lacks
        given = self.parts.x_train.shape[1:], self.parts.n_classes
        for setting in self.settings:
            if (reason := self.learner.why_not(setting.method, *given)) is not None:
                raise InputError(f"{setting.name} {reason}: {self.learner.label} cannot train it")
            reason = self.scenario.why_not(setting.method, self.learner, self.parts)
            if reason is not None:
                raise InputError(f"{setting.name} {reason}")

    @cached_property
    def costs(self) -> Costs | None:
        """Estimated seconds of each step of a training; None if the probe fails."""
        return Costs.measure(self.learner, self.parts)

    @property
    def run_numbers(self) -> range:
        """The numbers of the runs of every setting."""
        return range(self.first_run, self.first_run + self.runs)

    @property
    def chosen_on(self) -> str:
        """The part of the data on which settings are chosen."""
        return "validation" if "validation" in self.parts.y else "test"

    def identity(self, job: Job) -> dict[str, Any]:
        """All facts that decide the result of a job; neither paths nor the number of workers."""
        return {
            "semantics": SEMANTICS,
            "data": self.data.fingerprint,
            "validation": self.chosen_on == "validation",
            **self.learner.identity,
            **self.scenario.identity(),
            "seed": self.seed,
            "run": job.run,
            "fit": job.fit,
            **method_identity(job.method),
        }

    def key(self, job: Job) -> str:
        """The hash of a job's identity, which names its result."""
        return key_of(self.identity(job))


def method_identity(method: Method) -> dict[str, Any]:
    """A method's class and parameters, with the code of a user's own class.

    A combination is identified by all of its methods.
    """
    if len(method.combined) > 1:
        each = [method_identity(one) for one in method.combined]
        return {"method": "Combination", "parameters": {"methods": each}}
    kind = type(method)
    is_ours = kind.__module__.startswith("unchurn.methods.")
    name = kind.__name__ if is_ours else code_identity(kind)
    return {"method": name, "parameters": plain_parameters(method)}
