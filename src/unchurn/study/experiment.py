"""Settings × runs → trainings: what decides their results, and which are shared.

Every setting's run r is paired with every other's (see the streams in `training.loop`), so plain
fits serve several: control's runs, the references of k-NN smoothing and anchor, the members of an
ensemble.
"""

from __future__ import annotations

import hashlib
import inspect
import io
from collections import ChainMap
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from types import CodeType
from typing import Any, ClassVar

import cloudpickle
import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError
from unchurn.datasets.base import SPLIT_SEED, Dataset
from unchurn.methods import Control, Method
from unchurn.study.settings import Setting
from unchurn.training.learners.function import Learner, fit_learner
from unchurn.training.loop import (
    Predictor,
    Training,
    fit_run,
    reference_stream,
)
from unchurn.training.networks import Factory, make_factory

SEMANTICS = 1  # raised when a change of ours gives equal identities other results
VALIDATION_SIZE = 0.2  # of the training part, held out to choose settings on
Float32 = npt.NDArray[np.float32]
REFERENCE_FIT = 1
Trainer = Callable[..., Predictor]  # method, x, y, n_classes, and seed, run, fit, reference by name


@dataclass(frozen=True, eq=False)
class Experiment:
    """All that decides the results: the data, the settings, the network, how often and how.

    A `learner` of another framework takes the place of `model`. With `validation`, a fixed part of
    the training data is held out, and settings are chosen on it.
    """

    data: Dataset
    settings: tuple[Setting, ...]
    model: str | Factory = "mlp"
    training: Training = field(default_factory=Training)
    runs: int = 5
    seed: int = 0
    validation: bool = False
    learner: Learner | None = None

    def __post_init__(self) -> None:
        unfit = [s.name for s in self.settings if not s.method.only_targets]
        if self.learner is not None and unfit:
            raise InputError(f"{unfit[0]} changes more than the targets: it needs a torch model")

    @cached_property
    def parts(self) -> Parts:
        """The arrays to train on and to predict."""
        return _split(self.data) if self.validation else Parts.whole(self.data)

    @property
    def n_steps(self) -> int:
        """Steps of one training."""
        return self.training.n_steps(len(self.parts.x_train))

    def identity(self, job: Job) -> dict[str, Any]:
        """What decides the result of a job: no paths, no number of workers."""
        return {
            "semantics": SEMANTICS,
            "data": self.data.fingerprint,
            "validation": self.validation,
            "model": self._model_identity,
            "training": asdict(self.training),
            "seed": self.seed,
            "run": job.run,
            "fit": job.fit,
            "method": type(job.method).__name__,
            "parameters": job.method.get_params(),
        }

    @cached_property
    def _model_identity(self) -> str:
        """A network's name; of own code, its name and a hash of all that makes it what it is.

        That is the object itself (closures, arguments of a partial, attributes) and the file that
        its code is in; not what that file imports.
        """
        own: Any = self.learner or self.model
        if isinstance(own, str):
            return own
        digest = hashlib.sha256(_Canonical.bytes_of(own))
        while isinstance(own, partial):
            own = own.func
        code = own if inspect.isroutine(own) or inspect.isclass(own) else type(own)
        with suppress(OSError, TypeError):  # code typed into a notebook is in the object already
            digest.update(inspect.getsource(inspect.getmodule(code) or code).encode())
        return f"{getattr(code, '__qualname__', 'own')}:{digest.hexdigest()}"

    @property
    def trainer(self) -> Trainer:
        """What trains a run, here or in another process."""
        if self.learner is not None:
            return partial(fit_learner, self.learner)
        return partial(_fit_network, self.model, self.training)


class _Canonical(cloudpickle.Pickler):  # type: ignore[misc]
    """Own code as bytes that are the same in every process; never to be read back."""

    @classmethod
    def bytes_of(cls, own: Any) -> bytes:
        """What makes an object what it is."""
        file = io.BytesIO()
        cls(file).dump(own)
        return file.getvalue()

    @staticmethod
    def _code(code: CodeType) -> tuple[type, tuple[Any]]:
        """What code does: not where it stands, nor the order of a set in it, which is random."""
        constants = [
            sorted(map(repr, c)) if isinstance(c, frozenset) else c for c in code.co_consts
        ]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        return list, ([code.co_code, code.co_exceptiontable, constants, names, counts],)

    dispatch_table: ClassVar = ChainMap({CodeType: _code}, cloudpickle.Pickler.dispatch_table)


@dataclass(frozen=True)
class Parts:
    """Inputs and labels to train on, and the inputs to predict by the name of their part."""

    x_train: Float32
    y_train: npt.NDArray[np.integer]
    n_classes: int
    x: dict[str, Float32]
    y: dict[str, npt.NDArray[np.integer]]

    @classmethod
    def whole(cls, data: Dataset) -> Parts:
        """All training data to train on."""
        x, y = {"test": data.x_test}, {"test": data.y_test}
        return cls(data.x_train, data.y_train, len(data.classes), x, y)


def _split(data: Dataset) -> Parts:
    """Hold out a fixed part of each class's training data; every class stays in training."""
    rng = np.random.default_rng(SPLIT_SEED)
    is_held = np.zeros(len(data.y_train), bool)
    for number in range(len(data.classes)):
        rows = rng.permutation(np.flatnonzero(data.y_train == number))
        is_held[rows[: int(VALIDATION_SIZE * len(rows))]] = True
    if not is_held.any():
        raise InputError(f"{data.name}: too few training rows to hold some out for validation")
    whole = Parts.whole(data)
    return replace(
        whole,
        x_train=data.x_train[~is_held],
        y_train=data.y_train[~is_held],
        x={**whole.x, "validation": data.x_train[is_held]},
        y={**whole.y, "validation": data.y_train[is_held]},
    )


@dataclass(frozen=True, eq=False)
class Job:
    """One training: a method in a run, or one more plain fit of that run."""

    method: Method
    run: int
    fit: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether it is a plain fit, which several settings may share."""
        return isinstance(self.method, Control)

    @property
    def is_reference(self) -> bool:
        """Whether its logits of the training data are kept: plain fit 1 of a run is a reference."""
        return self.is_plain and self.fit == REFERENCE_FIT


@dataclass(frozen=True)
class Plan:
    """What an experiment trains: plain fits first, then k-NN labels among them, then all else."""

    plain: dict[tuple[int, int], Job]  # by run and fit
    neighbours: dict[tuple[int, int], list[int]]  # of which plain fit, for which k
    fits: list[Job]
    n_separate: int  # trainings if every run of every setting were made on its own

    @property
    def jobs(self) -> list[Job]:
        """Every training that the results need, once."""
        return [*self.plain.values(), *self.fits]


def plan(experiment: Experiment) -> Plan:
    """List the trainings, each once."""
    plain: dict[tuple[int, int], Job] = {}
    neighbours: dict[tuple[int, int], set[int]] = {}
    fits: dict[str, Job] = {}
    n_separate = 0
    for setting in experiment.settings:
        for run in range(experiment.runs):
            n_separate += setting.method.n_members + setting.method.uses_reference
            for job in members(setting.method, run):
                if job.is_plain:
                    plain.setdefault((job.run, job.fit), job)
                else:
                    fits.setdefault(f"{job.method} {run}", job)
                if (where := reference_of(experiment, job)) is not None:
                    plain.setdefault(where, Job(Control(), *where))
                    if job.method.reference_k is not None and not too_many(experiment, job):
                        neighbours.setdefault(where, set()).add(job.method.reference_k)
    return Plan(
        dict(sorted(plain.items())),
        {where: sorted(ks) for where, ks in neighbours.items()},
        list(fits.values()),
        n_separate,
    )


def too_many(experiment: Experiment, job: Job) -> bool:
    """Whether a job asks for more neighbours than there are examples."""
    return (job.method.reference_k or 0) > len(experiment.parts.x_train)


def members(method: Method, run: int) -> list[Job]:
    """The trainings whose mean is a method's run: one of its own, or an ensemble's plain fits."""
    simplest = method.simplest()
    if simplest.n_members == 1:
        return [Job(simplest, run)]
    return [Job(Control(), run, member) for member in range(simplest.n_members)]


def reference_of(experiment: Experiment, job: Job) -> tuple[int, int] | None:
    """Run and fit of the plain fit that is a job's reference, if it uses one."""
    if not job.method.uses_reference:
        return None
    stream = reference_stream(job.method, experiment.seed, job.run)
    return stream.run, stream.fit


def _fit_network(
    model: str | Factory, training: Training, method: Method, *data: Any, **streams: Any
) -> Predictor:
    """Train a run of a torch network."""
    return fit_run(method, make_factory(model), *data, training=training, **streams)
