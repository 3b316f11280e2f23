"""`Learner`: what trains a method, of whatever framework, behind one protocol.

A study knows learners only by what stands here: `torch.py` trains networks, `sklearn.py` estimators
with scikit-learn's interface (boosted trees among them), `function.py` any function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from unchurn.core.arrays import Array, Float32, IntArray, distinct_rows
from unchurn.core.errors import InputError
from unchurn.methods import Method, Reference
from unchurn.methods.reference import Weights


class DivergedError(RuntimeError):
    """The loss of a run became infinite or NaN."""


class RemarkWarning(UserWarning):
    """What a user should know of a training, such as that it is too short for its method."""


class Predictor(Protocol):
    """What is trained, of whatever framework."""

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities."""

    def logits(self, x: Array) -> Float32:
        """(n, L) logits."""

    def weights(self) -> Weights:
        """Of a network, by name; InputError where there are none."""


@dataclass(frozen=True)
class Probe:
    """About how long a plain fit on all examples takes, and what was trained to tell."""

    seconds: float
    fitted: Predictor


class Learner(Protocol):
    """Trains one run of a method. It is sent to other processes, so it must be picklable."""

    @property
    def label(self) -> str:
        """What a person calls it."""

    @property
    def identity(self) -> dict[str, Any]:
        """What decides its results besides data, method and stream, for a run's identity."""

    @property
    def length(self) -> str:
        """How long it trains, in words; empty where there is nothing to say."""

    @property
    def versions(self) -> dict[str, str]:
        """The libraries on which its results depend."""

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of it."""

    @property
    def n_gpus(self) -> int:
        """GPUs that a training takes."""

    @property
    def imports(self) -> tuple[str, ...]:
        """Modules that a process can import before it becomes several that train."""

    @property
    def remark(self) -> str | None:
        """What a user should know of it before it trains; None: nothing."""

    def why_not(self, method: Method) -> str | None:
        """Why it cannot train a method; None if it can."""

    def n_steps(self, n: int) -> int | None:
        """Steps of a training on n examples; None where there are no such things."""

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
        """Train a run of methods whose training is the same, at the price of one.

        `fit` is the number of its first stream in the run.
        """

    def probe(self, x: Float32, y: IntArray, n_classes: int) -> Probe | None:
        """A plain fit tried on a few examples; None if it fails."""


def score_distinct(fitted: Predictor, x: Float32) -> Float32:
    """Logits of x, each distinct input scored once: equal inputs have equal logits, to the bit."""
    distinct, which = distinct_rows(x.reshape(len(x), -1))
    return fitted.logits(distinct.reshape(-1, *x.shape[1:]))[which]


def check_neighbours(method: Method, n: int) -> None:
    """Refuse a method that asks for more neighbours than there are examples."""
    if (k := most_neighbours(method)) > n:
        raise InputError(f"k must be from 1 to the number of points, {n}, not {k}")


def most_neighbours(method: Method) -> int:
    """The largest k that a method asks of its reference; 0 if of none."""
    need = method.reference()
    return max(need.ks, default=0) if need is not None else 0
