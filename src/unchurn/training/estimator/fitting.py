"""`Fitting`: how a StableClassifier fits methods to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from unchurn.core.progress import progress_bar
from unchurn.methods import Method
from unchurn.methods.cost import n_fits
from unchurn.training.estimator.examples import Rows
from unchurn.training.learners.base import Predictor
from unchurn.training.loop.config import Training
from unchurn.training.loop.fit import Fitted, fit_together
from unchurn.training.networks.factories import Factory


class Fits(Protocol):
    """Anything that fits methods to rows."""

    @property
    def seed(self) -> int:
        """Decides every random draw."""

    def n_steps(self, n: int) -> int | None:
        """The steps of a training on n rows; None if it has none."""

    def fit(self, methods: Sequence[Method], rows: Rows) -> Sequence[Predictor]:
        """Train methods with the same training."""


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Fits methods with one network factory, training and seed."""

    factory: Factory
    training: Training
    seed: int
    show: bool = False  # progress, on stderr

    def n_steps(self, n: int) -> int:
        """The steps of a training on n rows."""
        return self.training.n_steps(n)

    def fit(self, methods: Sequence[Method], rows: Rows) -> list[Fitted]:
        """Train methods that share one training (`Method.trained`), at the cost of one."""
        method, reference = methods[0], rows.reference
        n_references = 0 if (need := method.reference()) is None else need.m
        n_epochs = method.epochs(self.training.epochs) * (n_fits(method) - n_references)
        if reference is None:  # they are trained, too, plainly
            n_epochs += self.training.epochs * n_references
        with progress_bar(f"fitting {method}", n_epochs, show=self.show) as advance:
            return fit_together(
                methods,
                self.factory,
                rows.inputs,
                rows.numbers,
                rows.n_classes,
                training=self.training,
                seed=self.seed,
                weights=rows.weights,
                reference=reference,
                targets=rows.targets,
                on_epoch=lambda: advance(1),
            )
