"""The scenario upgrade: new models, trained on more data, are compared with an older one."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unchurn.core.arrays import as_fraction, as_whole
from unchurn.core.errors import InputError
from unchurn.core.tables import TextForm
from unchurn.datasets.base import Dataset
from unchurn.datasets.side_columns import flags, is_before
from unchurn.methods import Control, Method, make_method
from unchurn.methods.registry import FROM_ANSWERS, PLUS, has_name, with_all
from unchurn.metrics import against_base
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import AGAINST_BASE, Metric, Runs
from unchurn.study.design.job import Job
from unchurn.study.design.parts import Mask, Parts
from unchurn.study.scenarios.base import UPGRADES, PlainFit, Rows, Scenario, Scene
from unchurn.study.scenarios.base_rows import Named
from unchurn.study.scenarios.given_base import (
    GivenBase,
    open_base,
    places_among,
    read_base,
    with_cautions,
)
from unchurn.study.scenarios.older_rows import OlderRows, Parted, part_rows, with_classes
from unchurn.training.estimator.references import is_ours, needs_weights
from unchurn.training.estimator.scaling import preparation_of
from unchurn.training.learners.base import Learner
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.streams import BASE_FIT, Stream

if TYPE_CHECKING:
    from unchurn.datasets.preparation import Preparation

BASE_SHARE = 0.5
PER_BASE = 2
GIVEN = "given"  # stands in the scenario's text for a base that is no file
MAY_KNOW_TESTS = (
    "nothing says that the base was not trained on test rows: if it was, it has too many of them "
    "right, and bad flips are overstated; if rows have dates, give time= with split= the day on "
    "which its rows end"
)
WAYS = ("base_share", "base_column", "time", "base")  # that define the base: give one of them


@dataclass(frozen=True)
class Upgrade(Scenario):
    """Every run trains on all training data, and is compared with a base, the older model.

    The base is the reference of methods with a fixed one, such as `anchor`.

    Parameters
    ----------
    base_share
        A base is plainly trained on this share of the training rows, drawn for each base; half, by
        default.
    base_column
        A base is trained on the training rows where this column of the table is true.
    time, split
        A base is trained on the rows whose column `time` is before `split`, a date or a number.
        Tests are on the test rows from then on, as they are more like future rows. With a given
        `base`, these say which rows it was trained on. Numbers are scaled once, by rows of all
        times, so that training can start from the base's weights.
    per_base
        Number of runs that share a base, 2 by default: no result depends on a single lucky base,
        and churn between runs of one base is measured, too. Bases differ in their seed.
    base
        The base itself, one for all runs; nothing is trained for it. A StableClassifier or the path
        of a saved one; any fitted model with `predict_proba` and `classes_`, which is given a
        table's own columns, or the prepared inputs if it was fitted to these; or its probabilities
        or logits for every row of the table, as an array, a frame, a file that `compare` reads, or
        .npy. For a dataset given by name, training rows come first, then test rows. Classes are
        matched by name; columns of an array, and numbers in place of names, stand for the classes
        in sorted order. The base may lack some classes. If it was trained on test rows, it gets too
        many of them right, and bad flips are overstated.
    id
        The column by which rows of the table and of `base` are joined. If not given, it is the
        table's id (see `bench`) if `base` has that column, too; else rows are matched by position.
        A note says which.
    """

    base_share: float | None = None
    per_base: int | None = None
    base_column: str | None = None
    time: str | None = None
    split: str | float | datetime.date | np.generic | None = None
    base: Any = None
    id: str | None = None
    # Set by `scene`: the base's rows, and a given base's predictions.
    _older: OlderRows | None = field(default=None, init=False, repr=False, compare=False)
    _given: GivenBase | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "upgrade"
    has_base: ClassVar[bool] = True
    churn: ClassVar[str] = "bad_flips"
    charted: ClassVar[str] = "bad_flips"
    limited: ClassVar[Mapping[str, str]] = {
        "max_bad_flips": "bad_flips",
        "max_churn": "churn_to_base",
    }
    churn_words: ClassVar[str] = "bad flips"
    falls: ClassVar[str] = "bad flips fall"
    question: ClassVar[str] = "which successor breaks least, at no cost in accuracy?"
    legend: ClassVar[Mapping[tuple[str, ...], str]] = {
        ("good_flips",): "Good flips: wrong in the base and right now.",
        ("flip_index",): "Flip index: bad flips among what is wrong now.",
        ("churn_among",): "Churn of two: between runs of one base.",
    }
    says: ClassVar[str] = "with {} of its predictions wrong where the model before was right"

    def __post_init__(self) -> None:
        # NumPy's numbers become plain ones, which the scenario's text can have.
        if self.base_share is not None:
            object.__setattr__(self, "base_share", as_fraction(self.base_share, "base_share"))
        if self.base_share == 0:
            raise InputError("base_share must be above 0: a base is trained on something")
        if self.per_base is not None:
            object.__setattr__(self, "per_base", as_whole(self.per_base, 1, "per_base"))
        ways = [way for way in WAYS if getattr(self, way) is not None]
        if len(ways) > 1 and ways != ["time", "base"]:  # a given base may have a date
            raise InputError(f"{ways[0]} and {ways[1]} both say what the base is: give one of them")
        if self.time is not None and self.split is None:
            raise InputError("where do the rows of the base end? Give split= a date or a number")
        if self.time is None and self.split is not None:
            raise InputError("which column is to be split? Give time=")
        if self.base is not None and self.per_base is not None:
            raise InputError("per_base is for bases that are trained: one that is given is for all")
        if self.id is not None and self.base is None:
            raise InputError("id joins rows to those of a base: give base= too")
        split = self.split.item() if isinstance(self.split, np.generic) else self.split
        if isinstance(split, datetime.date):  # a datetime is one, too
            split = split.isoformat()
        object.__setattr__(self, "split", split)

    @property
    def _share(self) -> float:
        """Share of the training rows that a base sees, if no column or date says which."""
        return BASE_SHARE if self.base_share is None else self.base_share

    @property
    def _per_base(self) -> int:
        """Number of runs that share a trained base."""
        return PER_BASE if self.per_base is None else self.per_base

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that were given; GIVEN stands for a base that is no file."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.init}
        if self.base is not None:
            given["base"] = str(self.base) if isinstance(self.base, str | Path) else GIVEN
        return {name: value for name, value in given.items() if value is not None}

    @property
    def steadier(self) -> tuple[str, ...]:
        """A method that starts from the base's weights, unless a given base may have none."""
        return ("warm_start+focal+safe_ema",) if self.base is None else ("focal+safe_ema",)

    def units(self, runs: int) -> str:
        """Bases are independent, or runs if there is only one base."""
        return "bases" if self._n_bases(runs) > 1 else "runs, all of one base,"

    def n_units(self, runs: int) -> int:
        """Number of bases; of runs, if there is only one base."""
        n_bases = self._n_bases(runs)
        return n_bases if n_bases > 1 else runs

    def _n_bases(self, runs: int) -> int:
        return 1 if self.base is not None else -(-runs // self._per_base)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that say which rows the base saw, or by which it is joined."""
        return tuple(c for c in (self.base_column, self.time, self.id) if c is not None)

    @property
    def joined_by(self) -> str | None:
        """The column by which a given base is joined, if the user named one."""
        return self.id

    @property
    def preparation_before(self) -> Preparation | None:
        """How a StableClassifier as base prepares its table; None if unknown."""
        base = open_base(self.base)
        return preparation_of(base) if is_ours(base) else None

    def scene(self, data: Dataset, *, validation: bool, form: TextForm | None = None) -> Scene:
        """Find the base's rows in the data, and read the predictions of a given base."""
        if self.time is None and self.base_column is None:
            scene, older = super().scene(data, validation=validation), None
        else:
            parted = self._parted(data, validation)
            scene = Scene(data=parted.data, parts=parted.parts, scenario=self)
            older = parted.older
        if self.base is None:
            return self._knowing(scene, older, None)
        parts = places_among(data, scene.data, scene.parts)
        by = Named(id=self.id, others=self.columns)
        given = with_cautions(read_base(self.base, data, parts, by, form), scene.parts)
        known = (MAY_KNOW_TESTS,) if self.base_may_know_tests else ()
        notes = (*scene.data.notes, *known, *given.notes, *given.cautions)
        noted = replace(scene.data, notes=notes)
        scene = replace(scene, data=noted)
        return self._knowing(scene, older, given)

    def _parted(self, data: Dataset, validation: bool) -> Parted:
        """Split the data by the column or the date that tells which rows the base saw."""
        comes_later = self.time is not None
        if comes_later:
            is_old = is_before(data, str(self.time), self.split)
        else:
            is_old = flags(data, str(self.base_column))
        words = self._which_rows
        parted = part_rows(data, is_old, words, validation=validation, comes_later=comes_later)
        return parted if self.base is not None else with_classes(parted, words)

    def _knowing(self, scene: Scene, older: OlderRows | None, given: GivenBase | None) -> Scene:
        """The scene with a copy of the scenario that has the base's rows and predictions."""
        # Without a base model itself: the scenario is sent to other processes.
        knowing = replace(self, base=self.parameters.get("base"))
        object.__setattr__(knowing, "_older", older)
        object.__setattr__(knowing, "_given", given)
        return replace(scene, scenario=knowing)

    @property
    def _which_rows(self) -> str:
        """Words for the rows that a base saw."""
        if self.time is not None:
            return f"with {self.time} before {self.split}"
        return f"where {self.base_column} is true"

    @property
    def given(self) -> GivenBase | None:
        """The predictions of a given base for the data's rows."""
        return self._given

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings that a given base may have been misunderstood."""
        return () if self._given is None else self._given.cautions

    @property
    def base_may_know_tests(self) -> bool:
        """True for a given base, unless a date separates its rows from the test rows."""
        return self.base is not None and self.time is None

    def known_to(self, fit: int) -> Mask | None:
        """Mask of a base's classes, if it or its rows were given; None if all, or unknown."""
        found = self._given or self._older
        return found.known if found is not None and fit == BASE_FIT else None

    def why_not(self, method: Method, learner: Learner, parts: Parts) -> str | None:
        """A method that starts from a given base's weights needs weights that fit."""
        if needs_weights(method) and (reason := self._no_weights(learner, parts)):
            return f"needs the base's weights: {reason}"
        return super().why_not(method, learner, parts)

    def _no_weights(self, learner: Learner, parts: Parts) -> str:
        """Why a learner cannot start from a given base's weights; empty if it can."""
        if self._given is None or not isinstance(learner, TorchLearner):  # or trains no such method
            return ""
        if self._given.weights is None:
            return self._given.no_weights
        own = {name: np.shape(value) for name, value in self._given.weights.items()}
        if own != learner.weight_shapes(parts.x_train.shape[1:], parts.n_classes):
            return f"it is another network than {learner.label}"
        return ""

    def recipes(self, learner: Learner, parts: Parts) -> tuple[str, ...]:
        """What `upgrade` trains, and others; what starts from the base's weights is its network."""
        starting = [one for one in UPGRADES if needs_weights(make_method(one))]
        part = self.network_before
        if not has_name(part) or self._no_weights(learner, parts):
            return (*(one for one in UPGRADES if one not in starting), FROM_ANSWERS)
        own = "" if type(part) is Control else with_all(part) + PLUS
        return tuple(own + one if one in starting else one for one in UPGRADES)

    @property
    def network_before(self) -> Method:
        """What the base's method changed of the network."""
        return Control() if self._given is None else self._given.network

    def identity(self) -> dict[str, Any]:
        """The rows that bases see and how many runs share one; for a given base, its digest."""
        rows: dict[str, Any] = {}
        if self._older is not None:
            rows = {"base_rows": self._older.digest, "later": self.time is not None}
        if self._given is not None:
            return {"scenario": {"name": self.name, "base": self._given.digest, **rows}}
        rows = rows or {"base_share": self._share}
        return {"scenario": {"name": self.name, **rows, "per_base": self._per_base}}

    def rows(self, seed: int, run: int, fit: int, n: int) -> Rows | None:
        """The base's rows if `fit` is a base; all (None) for other fits."""
        if fit != BASE_FIT:
            return None
        if self._older is not None:
            return self._older.rows
        if self._given is not None:
            return np.arange(0)  # as far as we know
        order = Stream(seed, run, BASE_FIT).generator("resample").permutation(n)
        return np.sort(order[: max(round(self._share * n), 1)])

    def base_of(self, run: int) -> PlainFit:
        """The base of a run: one for every `per_base` runs, or the given one for all."""
        return 0 if self.base is not None else run // self._per_base, BASE_FIT

    def references(self, job: Job) -> list[Job]:
        """The base if the method's reference is fixed; else plain fits of the run itself."""
        need = job.method.reference()
        if need is None or not need.is_fixed:
            return super().references(job)
        return [Job(Control(), *self.base_of(job.run))]

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics of runs against an older model."""
        return AGAINST_BASE

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """Differences in bad flips, churn to the base and accuracy, over bases."""
        return against_base.differences(ours, theirs, against_base.same_base(ours))

    def note(self, n_test: int) -> str:
        """A note on what runs are compared with, and what bad flips are."""
        return (
            f"Every run is held against {self._base_in_words(n_test)}. Percent, mean over runs. "
            "Bad flips: right in the base and wrong now."
        )

    def _base_in_words(self, n_test: int) -> str:
        if self.base is not None:
            name = self.parameters["base"]
            said = "the base that was given" + ("" if name == GIVEN else f", {name}")
            rows = f"the {n_test:,} with {self.time} from {self.split} on"
            return said if self.time is None else f"{said}; test rows are {rows}"
        rows = f"{self._share:.4g} of the training data"
        if self.columns:
            rows = f"the training rows {self._which_rows}"
        several = f" ({self._per_base} runs share a base)" if self._per_base > 1 else ""
        later = f"; test rows are the {n_test:,} from then on" if self.time is not None else ""
        return f"a base, plainly trained on {rows}{several}{later}"
