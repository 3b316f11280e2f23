"""`BenchConfig`: the options of `unchurn bench`, from the command line and a TOML file, checked."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unchurn.core.errors import InputError, field_problem
from unchurn.core.tables import TextForm, stem
from unchurn.core.toml_json import read_plain
from unchurn.metrics.budget import Budget
from unchurn.study.api import check_asked, joining, make_experiment
from unchurn.study.design.data import is_table, load_data
from unchurn.study.design.experiment import Experiment
from unchurn.study.scenarios import Retrain, Scenario, make_scenario
from unchurn.training.learners.make import OF_NETWORKS, check_for_networks, make_learner
from unchurn.training.loop.config import Training

# Fields that are parameters of scenarios.
OF_SCENARIOS = ("share", "same_seed", "base_share", "per_base", "base_column", "time", "split",
                "base", "every")  # fmt: skip


class BenchConfig(BaseModel):
    """The fields of a TOML file, and options of the same names; defaults as in `bench`."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    data: str = "phishing"
    target: str | None = None
    aside: str | tuple[str, ...] = ()  # a text is split at commas
    id: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    methods: str | list[str] | None = None
    preset: str = "quick"
    model: str = "mlp"
    model_args: dict[str, Any] = Field(default_factory=dict)
    runs: int = Field(default=5, ge=2)
    epochs: int = Field(default=20, ge=1)
    batch_size: int = Field(default=128, ge=1)
    learning_rate: float = Field(default=0.001, gt=0)
    device: str = "cpu"
    seed: int = Field(default=0, ge=0)
    select_on: Literal["test", "validation"] | None = None
    scenario: str = "retrain"
    share: float | None = None
    same_seed: bool | None = None
    base_share: float | None = None
    per_base: int | None = None
    base_column: str | None = None
    time: str | None = None
    split: str | int | float | datetime | date | None = None
    every: str | int | None = None
    base: str | None = None
    max_bad_flips: float | None = None
    max_churn: float | None = None
    out: Path | None = None
    engine: Literal["local", "ray"] = "local"
    ray_address: str | None = None
    workers: int | None = Field(default=None, ge=1)

    @property
    def folder(self) -> Path:
        """The folder of finished runs and results."""
        name = stem(Path(self.data)) if is_table(self.data) else self.data
        kind = self._scenario().name
        return self.out or Path(
            "-".join(["bench", name, *([kind] if kind != Retrain.name else [])])
        )

    def check(self) -> None:
        """Check names and budget before anything slow; InputError if one is wrong."""
        check_asked(self.methods, self.preset, self._scenario(), self._budget)

    @property
    def _aside(self) -> tuple[str, ...]:
        if isinstance(self.aside, tuple):
            return self.aside
        return tuple(name.strip() for name in self.aside.split(",") if name.strip())

    @property
    def _budget(self) -> Budget:
        return Budget(max_bad_flips=self.max_bad_flips, max_churn=self.max_churn)

    def experiment(self) -> Experiment:
        """The experiment for these fields, as `unchurn.bench` makes it."""
        self.check()
        scenario = self._scenario()
        form = TextForm(delimiter=self.delimiter, decimal=self.decimal, encoding=self.encoding)
        training = Training(self.epochs, self.batch_size, self.learning_rate, device=self.device)
        learner = make_learner(self.model, training, self.model_args)
        check_for_networks([n for n in OF_NETWORKS if n in self.model_fields_set], learner)
        return make_experiment(
            load_data(self.data, self.target, form, scenario, self._aside, self.id),
            self.methods,
            preset=self.preset,
            learner=learner,
            runs=self.runs,
            seed=self.seed,
            validation=None if self.select_on is None else self.select_on == "validation",
            scenario=scenario,
            budget=self._budget,
            form=form,
            id=self.id,
        )

    def _scenario(self) -> Scenario:
        """The scenario, with the parameters that were given."""
        given = {name: getattr(self, name) for name in OF_SCENARIOS}
        there = {name: value for name, value in given.items() if value is not None}
        return joining(make_scenario(self.scenario, **there), self.id)


def make_config(path: Path | None, options: dict[str, Any]) -> BenchConfig:
    """Read a TOML file, if given; options that were given override it."""
    fields: dict[str, Any] = {}
    if path is not None:
        fields = read_plain(path)
    fields |= {name: value for name, value in options.items() if value is not None}
    try:
        return BenchConfig(**fields)
    except ValidationError as error:
        there = list(BenchConfig.model_fields)
        problems = [field_problem(e, "field", there) for e in error.errors()]
        raise InputError("; ".join(problems)) from error
