"""`Learner`: the protocol of everything that trains a method, in any framework.

A study uses learners only through this protocol. `torch.py` trains networks, `sklearn.py` trains
estimators with scikit-learn's interface (including boosted trees), and `function.py` calls any
training function.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from unchurn.core.arrays import Array, Float32, IntArray, distinct_rows
from unchurn.core.errors import InputError
from unchurn.methods import Method, Reference
from unchurn.methods.reference import Weights


class DivergedError(RuntimeError):
    """The loss of a run became infinite or NaN."""


class RemarkWarning(UserWarning):
    """A remark for the user about a training, such as that it is too short for its method."""


def levels_up() -> int:
    """The `stacklevel` of its caller's warnings that points at the line that called unchurn."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _package(frame) == "unchurn":
        frame, level = frame.f_back, level + 1
    return level


def _package(frame: FrameType) -> str:
    """The package whose code a frame runs; code without a name, as in `exec`, has none."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


class Predictor(Protocol):
    """A trained model of any framework."""

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities."""

    def logits(self, x: Array) -> Float32:
        """(n, L) logits."""

    def weights(self) -> Weights:
        """The network's weights, by name; InputError if there are none."""


@dataclass(frozen=True)
class Probe:
    """The estimated seconds of a plain fit on all examples, and the model of the trial."""

    seconds: float
    fitted: Predictor


class Learner(Protocol):
    """Trains one run of a method. It must be picklable, as it is sent to other processes."""

    @property
    def label(self) -> str:
        """Its name in reports."""

    @property
    def identity(self) -> dict[str, Any]:
        """All facts besides data, method and stream that determine its results."""

    @property
    def length(self) -> str:
        """The length of a training, in words; empty if unknown."""

    @property
    def versions(self) -> dict[str, str]:
        """The libraries on which its results depend."""

    @property
    def facts(self) -> dict[str, str]:
        """Facts for reports, by name."""

    @property
    def n_gpus(self) -> int:
        """Number of GPUs that a training uses."""

    @property
    def imports(self) -> tuple[str, ...]:
        """Modules that a process can import before it forks into workers."""

    @property
    def remark(self) -> str | None:
        """A remark for the user before it trains; None if there is none."""

    def why_not(self, method: Method, shape: tuple[int, ...], n_classes: int) -> str | None:
        """Why it cannot train a method on inputs of a shape; None if it can."""

    def n_steps(self, n: int) -> int | None:
        """Number of steps of a training on n examples; None if it has no steps."""

    def check(self, x: Float32, n_classes: int) -> None:
        """Raise InputError, before any training, if it cannot take these inputs."""

    def fit_together(
        self,
        methods: Sequence[Method],
        x: Float32,
        y: IntArray,
        n_classes: int,
        *,
        seed: int,
        run: int,
        fit: int = 0,
        reference: Reference | None = None,
    ) -> Sequence[Predictor]:
        """Train one run of methods that share one training, at the cost of one.

        `fit` is the number of the run's first stream.
        """

    def probe(self, x: Float32, y: IntArray, n_classes: int) -> Probe | None:
        """Try a plain fit on a few examples; None if it fails."""


def score_distinct(fitted: Predictor, x: Float32) -> Float32:
    """Logits of x; each distinct input is scored once, so equal inputs have identical logits."""
    distinct, which = distinct_rows(x.reshape(len(x), -1))
    return fitted.logits(distinct.reshape(-1, *x.shape[1:]))[which]


def check_neighbours(method: Method, n: int) -> None:
    """Refuse a method that asks for more neighbours than there are examples."""
    if (k := most_neighbours(method)) > n:
        raise InputError(f"k must be from 1 to the number of points, {n}, not {k}")


def most_neighbours(method: Method) -> int:
    """The largest number of neighbours that a method asks for; 0 if it asks for none."""
    need = method.reference()
    return max(need.ks, default=0) if need is not None else 0
