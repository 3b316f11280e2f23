"""`FunctionLearner`: train by any function train(X, targets, seed) -> predict, with soft targets.

predict(X) returns (n, L) probabilities. Such a function can be trained by all methods that change
only targets or rows, including ensembles, bagging, the medoid and distillation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from unchurn.core.arrays import Array, Float32, IntArray
from unchurn.core.errors import InputError
from unchurn.core.frames import taken
from unchurn.methods import Method, Reference
from unchurn.methods.base import Rows
from unchurn.methods.reference import Weights
from unchurn.training.learners.base import (
    DivergedError,
    Predictor,
    Probe,
    check_neighbours,
    score_distinct,
)
from unchurn.training.learners.own_code import called, code_identity, own_name
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import Stream, hold_out, member_fits, reference_streams

Predict = Callable[[Array], Any]
Train = Callable[[Array, Float32, int], Predict]
CLIP = 1e-12  # least probability before taking logarithms, which stand in for logits
PROBE_ROWS = 2000


def weighted_rows(x: Any, targets: Float32) -> tuple[Any, IntArray, Float32]:
    """Turn soft targets into weighted rows: one row for every class with a nonzero target.

    The rows may be an array or a frame.

    >>> x, targets = np.array([[5], [6]]), np.array([[0.75, 0.25], [0, 1]])
    >>> rows, labels, weights = weighted_rows(x, targets)
    >>> rows.ravel().tolist(), labels.tolist(), weights.tolist()
    ([5, 5, 6], [0, 1, 1], [0.75, 0.25, 1.0])
    """
    row, label = np.nonzero(targets)
    return taken(x, row), label, targets[row, label]


@dataclass(frozen=True)
class FittedFunction:
    """A trained run: one predictor, or several of an ensemble."""

    predictors: list[Predict]
    n_classes: int
    name: str  # of the training function, for error messages

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities, averaged over the members."""
        with called(self.name):
            every = [np.asarray(predict(x), np.float32) for predict in self.predictors]
        shape = (len(x), self.n_classes)
        for given in every:
            if given.shape != shape:
                raise InputError(
                    f"the learner must predict probabilities of shape {shape}, not {given.shape}: "
                    "a column for every class, also for one that training did not see"
                )
            if not np.isfinite(given).all():
                raise DivergedError("the learner predicts probabilities that are not finite")
        return np.asarray(np.mean(every, axis=0), np.float32)

    def logits(self, x: Array) -> Float32:
        """Clipped log-probabilities, which are logits up to a constant per row."""
        return np.asarray(np.log(self.probabilities(x).clip(min=CLIP)), np.float32)

    def weights(self) -> Weights:
        """InputError: a function's model has no weights that we know of."""
        raise InputError("a model of another framework has no weights to start from")


@dataclass(frozen=True, eq=False)
class FunctionLearner:
    """Trains by a user's training function."""

    train: Train

    @property
    def label(self) -> str:
        """The function's name."""
        return getattr(self.train, "__name__", type(self.train).__name__)

    @property
    def name(self) -> str:
        """The function as `module:name`, for errors."""
        return own_name(self.train)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The function by its code. `training` is unused, but stored runs have it in their ids."""
        return {"model": code_identity(self.train), "training": asdict(Training())}

    @property
    def length(self) -> str:
        """Empty: unknown for a function."""
        return ""

    @property
    def versions(self) -> dict[str, str]:
        """Empty: unknown for a function."""
        return {}

    @property
    def facts(self) -> dict[str, str]:
        """The function's name."""
        return {"learner": self.label}

    @property
    def n_gpus(self) -> int:
        """0: whether a function uses GPUs is unknown."""
        return 0

    @property
    def imports(self) -> tuple[str, ...]:
        """None: modules that a function imports may start threads, which do not survive a fork."""
        return ()

    @property
    def remark(self) -> str | None:
        """None: nothing is known of a function."""
        return None

    def why_not(self, method: Method, shape: tuple[int, ...], n_classes: int) -> str | None:
        """Why not: a function can only be given other targets."""
        return None if method.changes == "targets" else "changes more than the targets"

    def n_steps(self, n: int) -> int | None:
        """None: unknown for a function."""
        return None

    def check(self, x: Float32, n_classes: int) -> None:
        """Check nothing: a function is only known by training."""

    def fit_together(
        self, methods: Sequence[Method], *arguments: Any, **options: Any
    ) -> Sequence[Predictor]:
        """Train each method by itself: without weights, methods cannot share one training."""
        return [self.fit(method, *arguments, **options) for method in methods]

    def fit(
        self,
        method: Method,
        x: Float32,
        y: IntArray,
        n_classes: int,
        *,
        seed: int,
        run: int,
        fit: int = 0,
        weights: Float32 | None = None,
        reference: Reference | None = None,
        targets: Float32 | None = None,
    ) -> FittedFunction:
        """Train one run on a method's targets; each fit's stream gives the function's seed.

        Examples have equal weights if none are given, and their labels as targets to begin with.
        """
        before = np.eye(n_classes, dtype=np.float32)[y] if targets is None else targets
        given = np.ones(len(x), np.float32) if weights is None else weights
        fitted = partial(FittedFunction, n_classes=n_classes, name=self.name)

        def train(what: Method, known: Reference, stream: Stream, kept: Rows) -> Predict:
            # A row's weight becomes the sum of its targets.
            own = what.weights(given, known)[:, None] * what.targets(before, known)
            rows = what.sample(stream.generator("sample"), len(kept))
            seen = kept if rows is None else kept[rows]
            own_seed = int(stream.generator("weights").integers(2**31))
            with called(self.name):
                return self.train(x[seen], own[seen], own_seed)

        def member(what: Method, known: Reference, streams: list[Stream]) -> Predict:
            kept, held = hold_out(what, streams[0], len(x))
            each = zip(what.candidates(), streams, strict=True)
            trained = [train(candidate, known, stream, kept) for candidate, stream in each]
            if len(trained) == 1:
                return trained[0]
            said = [fitted([one]).probabilities(x[held]) for one in trained]
            return trained[what.pick(said)]

        def reference_logits(stream: Stream) -> Float32:
            plain = train(Method(), known, stream, np.arange(len(x)))
            return score_distinct(fitted([plain]), x)

        check_neighbours(method, len(x))
        streams = reference_streams(method, seed, run)
        first, *more = [partial(reference_logits, stream) for stream in streams]
        known = reference or Reference(first, y, more=more)
        fits = zip(method.members(), member_fits(method, fit), strict=True)
        predictors = [
            member(one, known, [Stream(seed, run, number) for number in numbers])
            for one, numbers in fits
        ]
        return fitted(predictors)

    def probe(self, x: Float32, y: IntArray, n_classes: int) -> Probe | None:
        """Estimate the time from a fit on some examples, as proportional to their number."""
        rows = np.random.default_rng(0).permutation(len(x))[:PROBE_ROWS]
        start = time.perf_counter()
        try:
            fitted = self.fit(Method(), x[rows], y[rows], n_classes, seed=0, run=0)
        except (InputError, DivergedError):  # the first run reports it better
            return None
        return Probe((time.perf_counter() - start) * len(x) / len(rows), fitted)
