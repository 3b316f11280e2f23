"""`Scenario`: base class that decides how runs of a study differ and how they are compared.

A new scenario is a subclass in a file of its own, plus one line in `SCENARIOS`. Its parameters are
the fields of a dataclass, and appear in its text: `resample(share=0.9)`.
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
from unchurn.methods.registry import DEFAULT, FROM_WEIGHTS
from unchurn.metrics.budget import Budget, excess
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Metric, Runs
from unchurn.study.design.job import Job
from unchurn.study.design.parts import Mask, Parts, make_parts
from unchurn.training.estimator.network_part import why_no_way_back
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
FEWEST_UNITS = 3  # with fewer runs, or older models, no interval can be relied on
# What the preset "quick" tries where there is an older model; docs/upgrade.md shows why.
UPGRADES = (
    "control", "safe_ema", "anchor(a=0.5)+safe_ema", "rcp+safe_ema", "focal+safe_ema",
    "warm_start+safe_ema", FROM_WEIGHTS, "warm_start+focal+safe_ema", "stay+safe_ema",
)  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """Decides how the runs of a study differ and how they are compared.

    It is sent to other processes with the trainings, so it must be picklable.
    """

    name: ClassVar[str]
    churn: ClassVar[str] = "churn"  # the metric that should be low; settings are chosen by it
    charted: ClassVar[str] = "churn_correct"  # the metric that accuracy is charted against
    # The metric that each limit of a budget is about.
    limited: ClassVar[Mapping[str, str]] = {"max_churn": "churn"}
    # That metric in words: its name, that it falls, and what a share of it means.
    churn_words: ClassVar[str] = "churn"
    falls: ClassVar[str] = "churn falls"
    question: ClassVar[str] = "which training churns least, at no cost in accuracy?"
    says: ClassVar[str] = "with {} of its predictions changing from one retraining to the next"
    # Sentences that explain further metrics, by their names; dropped with the metrics' columns.
    legend: ClassVar[Mapping[tuple[str, ...], str]] = {}
    # Whether runs have an older model. Methods with a fixed reference then look at it.
    has_base: ClassVar[bool] = False

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, by name."""
        given = [field for field in fields(self) if field.init]
        own = {field.name: (getattr(self, field.name), field.default) for field in given}
        return {name: value for name, (value, usual) in own.items() if value != usual}

    @property
    def text(self) -> str:
        """Name and parameters, from which `make_scenario` makes the scenario again."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.name}({given})" if given else self.name

    @property
    def steadier(self) -> tuple[str, ...]:
        """Methods advised if none that was tried helped."""
        return DEFAULT, "ensemble"

    def units(self, runs: int) -> str:
        """Name of the independent units that the jackknife leaves out one at a time."""
        return "runs"

    def n_units(self, runs: int) -> int:
        """Number of independent units among this number of runs."""
        return runs

    def are_too_few(self, runs: int) -> bool:
        """Whether runs, or their older models, are too few for any interval over them."""
        return self.n_units(runs) < FEWEST_UNITS

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table that the scenario itself uses, so that they are not features."""
        return ()

    @property
    def joined_by(self) -> str | None:
        """The column by which a given base is joined, if the user named one."""
        return None

    @property
    def preparation_before(self) -> Preparation | None:
        """How the table of the older model was prepared; None if unknown."""
        return None

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings to read beside the figures, because these may be wrong."""
        return ()

    def scene(self, data: Dataset, *, validation: bool, form: TextForm | None = None) -> Scene:
        """Apply the scenario to the data: return data, parts, and a scenario bound to them."""
        return Scene(data=data, parts=make_parts(data, validation=validation), scenario=self)

    def why_not(self, method: Method, learner: Learner, parts: Parts) -> str | None:
        """Why a method cannot be used; None if it can."""
        return why_no_way_back(self.network_before, method)

    def recipes(self, learner: Learner, parts: Parts) -> tuple[str, ...] | None:
        """Methods that the preset "quick" tries if none are named; None for those of retraining."""
        return None

    @property
    def network_before(self) -> Method:
        """What the method of fixed references changed of the network: they are plain fits."""
        return Control()

    def identity(self) -> dict[str, Any]:
        """The scenario's facts that decide a run's result, besides data, learner, method, seed."""
        return {"scenario": code_identity(self)}

    def seeded_by(self, run: int) -> int:
        """The number of the run whose random streams a run uses: its own, so that seeds differ."""
        return run

    def rows(self, seed: int, run: int, fit: int, n: int) -> Rows | None:
        """Rows, of n training examples, that a run's fit (its stream) sees; None if all."""
        return None

    def base_of(self, run: int) -> PlainFit | None:
        """The older model that a run is compared with; None if there is not one per run."""
        return None

    @property
    def given(self) -> GivenBase | None:
        """The older model, if the user gave one; otherwise it is trained."""
        return None

    @property
    def base_may_know_tests(self) -> bool:
        """Whether the older model may have been trained on test rows, as far as is known."""
        return False

    def known_to(self, fit: int) -> Mask | None:
        """Mask of the classes that the fit of this stream has seen; None if all, or unknown."""
        return None

    def references(self, job: Job) -> list[Job]:
        """The reference trainings that a job needs: plain fits of its run, or of run 0 if fixed."""
        is_looking = job.method.reference() is not None
        streams = reference_streams(job.method, seed=0, run=job.run) if is_looking else []
        return [Job(Control(), stream.run, stream.fit) for stream in streams]

    def chain(self, run: list[Job]) -> list[list[Job]]:
        """The models that a run trains in turn, each a list of its members' jobs; usually one."""
        return [run]

    @property
    def history(self) -> History | None:
        """The releases of a chain; None if a run trains one model."""
        return None

    def training_cost(self, method: Method) -> int:
        """Number of networks that a run of a method trains, without the base; 1 if plain."""
        need = method.reference()
        is_there = self.has_base and need is not None and need.is_fixed
        return training_cost(method) - (need.m if need is not None and is_there else 0)

    def note_on(self, method: Method) -> str | None:
        """A note on a method for the table; None with an older model, which `note` explains."""
        return None if self.has_base else method.note()

    def limits(self, budget: Budget) -> dict[str, float]:
        """A budget's limits by metric; InputError for a limit that the scenario does not have."""
        for name in budget.given:
            if name not in self.limited:
                raise InputError(
                    f"bad flips need an older model, and {self.name} has none: for {name}= take "
                    "the scenario upgrade"
                )
        given = budget.given
        return {metric: given[name] for name, metric in self.limited.items() if name in given}

    def excess(self, runs: Runs, limits: Mapping[str, float]) -> float:
        """The largest excess of a mean over runs above its limit; 0 if all are kept."""
        return excess({name: self.metrics[name].of(runs).mean for name in limits}, limits)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics shown for a setting's runs, in order."""
        raise NotImplementedError

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """Differences between the runs of two settings, by metric; the most important first."""
        raise NotImplementedError

    def note(self, n_test: int) -> str:
        """The note below a table that explains its main numbers; `legend` explains the rest."""
        raise NotImplementedError

    def charts(self, result: Result) -> dict[str, alt.TopLevelMixin]:
        """Charts that only this scenario has, by title."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A scenario applied to data: the data, their parts, and the scenario bound to them."""

    data: Dataset
    parts: Parts
    scenario: Scenario
