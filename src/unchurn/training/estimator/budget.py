"""Choose a method's setting by a budget: train all on some of the rows, measure on the others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from unchurn.core.arrays import Array, Float32, FloatArray, IntArray
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.methods import Method, combine, make_method
from unchurn.methods.grid import worth_trying
from unchurn.methods.reference import Mask
from unchurn.methods.registry import name_of, parse_method, written
from unchurn.metrics import against_base
from unchurn.metrics.budget import Budget, best_within, excess
from unchurn.metrics.registry import Runs
from unchurn.report.numbers import points
from unchurn.training.estimator.checks import as_mask
from unchurn.training.estimator.examples import Rows
from unchurn.training.estimator.fitting import Fits
from unchurn.training.learners.base import DivergedError, Predictor, RemarkWarning, levels_up
from unchurn.training.loop.streams import Stream

HELD_OUT = 0.2  # share of the rows to measure settings on
RECENT = 0.4  # share of the rows, the last ones, assumed to be new to the reference


@dataclass(frozen=True, kw_only=True, repr=False)
class Tried:
    """A setting, and its measures on the held-out rows, as shares of them or of their weights."""

    method: Method
    accuracy: float = math.nan
    bad_flips: float = math.nan  # the reference is right, the setting wrong
    churn: float = math.nan  # predicted differently from the reference
    # Mean distance between its probabilities and the reference's. Not compared: the last bits
    # depend on whether the reference was given as logits, probabilities or a model.
    distance: float = field(default=0.0, compare=False)
    failure: str = ""  # why it could not be trained, in which case nothing is measured

    def __repr__(self) -> str:
        """The setting as a user writes it, and its measures, short enough to print in a tuple."""
        found = self.failure or (
            f"accuracy={self.accuracy:.4f}, bad_flips={self.bad_flips:.4f}, churn={self.churn:.4f}"
        )
        return f"Tried({self.method}: {found})"

    def excess(self, budget: Budget) -> float:
        """The largest excess over a limit of the budget; 0 if all limits are kept."""
        limits = {name.removeprefix("max_"): limit for name, limit in budget.given.items()}
        return excess(vars(self), limits)


def settings_of(method: str | Method, n_steps: int | None) -> list[Method]:
    """The settings to try: the method's grid, with written parameters fixed; an object as it is.

    >>> settings_of("anchor(a=0.5)+ema", n_steps=1000)[0]
    Combination(methods=(Anchor(a=0.5, fixed_reference=True), Ema(decay=0.99)))
    """
    if not isinstance(method, str):
        return [make_method(method)]
    found = worth_trying(parse_method(method), n_steps)
    settings = [combine(*(one for _, one in chosen)) for chosen in found]
    return list({repr(one): one for one in settings}.values())


def hold_out(
    numbers: IntArray, seed: int, saw: Mask | None = None, weights: Float32 | None = None
) -> tuple[IntArray, IntArray]:
    """The rows to train settings on, and a fifth to measure them on, with every class if possible.

    Only rows that the reference was not trained on are held out, and at most half of them: it gets
    too many of the rows that it has memorised right. If it is unknown which these are, rows are
    assumed to be in order of time; if they are not, no harm is done. Rows of weight 0, whose labels
    mean nothing, are not held out either.
    """
    from sklearn.model_selection import train_test_split

    n = len(numbers)
    known = earlier(numbers) if saw is None else saw
    counts = np.full(n, True) if weights is None else weights > 0
    if counts.sum() < 2:
        raise InputError("sample_weight is above 0 for one row alone: nothing to measure on")
    unseen = np.flatnonzero(counts & ~known)
    if len(unseen) < 2:
        unseen = np.flatnonzero(counts)
    n_held = min(math.ceil(HELD_OUT * n), math.ceil(len(unseen) / 2))
    sizes = np.unique(numbers[unseen], return_counts=True)[1]
    can = sizes.min() > 1 and len(sizes) <= min(n_held, len(unseen) - n_held)
    draw = int(Stream(seed, 0, 0).generator("budget").integers(np.iinfo(np.int32).max))
    _, held = train_test_split(
        unseen, test_size=n_held, random_state=draw, stratify=numbers[unseen] if can else None
    )
    held = np.sort(held)
    return np.setdiff1d(np.arange(n), held), held


def seen_by_reference(saw: Any, numbers: IntArray, data: Dataset | None) -> Mask | None:
    """The rows that the reference was trained on, as the user says; None if unknown."""
    if saw is not None:
        return as_mask(saw, len(numbers), "reference_saw")
    if data is None or data.order is None:
        return None
    return earlier(numbers, data.order[: len(numbers)])  # a table's rows were shuffled


def earlier(numbers: IntArray, came: IntArray | None = None) -> Mask:
    """Mask of all rows but the RECENT ones of each class: rows may be sorted by class.

    `came` is the time rank of each row; if not given, rows are in order of time.
    """
    earlier = np.zeros(len(numbers), np.bool_)
    in_order = np.arange(len(numbers)) if came is None else np.argsort(came, kind="stable")
    for number in np.unique(numbers):
        rows = in_order[numbers[in_order] == number]
        earlier[rows[: round((1 - RECENT) * len(rows))]] = True
    return earlier


def choose_setting(
    method: str | Method,
    budget: Budget,
    *,
    rows: Rows,
    n_labelled: int,
    fitting: Fits,
    why_not: Callable[[Method], str | None] = lambda method: None,
) -> tuple[Method, tuple[Tried, ...]]:
    """Train all settings of a method on four fifths of the labelled rows; return the best, and all.

    The best is the most accurate that keeps the budget on the other rows; if none does, the one
    that exceeds it least, with a warning. The unlabelled rows, which come after the labelled ones,
    are trained on in every trial. Settings that `why_not` gives a reason against are not tried.
    """
    every = settings_of(method, fitting.n_steps(len(rows.inputs)))
    settings = [one for one in every if why_not(one) is None]
    if not settings:
        raise InputError(f"{written(every[0])} {why_not(every[0])}")
    labelled = rows.take(np.arange(n_labelled))
    kept, held = hold_out(labelled.numbers, fitting.seed, labelled.saw, labelled.weights)
    seen = rows.take(np.append(kept, np.arange(n_labelled, len(rows.inputs))))
    tried = _try_all(settings, seen, rows.take(held), fitting)
    good = [one for one in tried if not one.failure]
    # Settings may tie on the held-out rows: the one nearest to the reference flips least elsewhere.
    good = sorted(good, key=lambda one: one.distance)
    best = good[
        best_within(
            [one.accuracy for one in good],
            [one.churn for one in good],
            [one.excess(budget) for one in good],
        )
    ]
    has_steps = fitting.n_steps(len(rows.inputs)) is not None
    said = _on_the_budget(
        best, good, budget, len(held), instead="anchor+safe_ema" if has_steps else "anchor"
    )
    if said:
        warnings.warn(said, RemarkWarning, stacklevel=levels_up())
    return best.method, tried


def _on_the_budget(
    best: Tried, good: Sequence[Tried], budget: Budget, n: int, *, instead: str
) -> str:
    """That none of the settings keeps the budget, or that keeping it costs accuracy; else empty."""
    limits = " and ".join(f"{name}={limit:g}" for name, limit in budget.given.items())
    if (over := best.excess(budget)) > 0:
        blind = best.method.reference() is None
        return (
            f"no setting of {name_of(best.method)} keeps {limits}: {written(best.method)} comes "
            f"nearest, {points(over).removeprefix('+')} above it on {n:,} rows held out. "
            f"{f'It does not look at the reference: {instead} does. ' if blind else ''}"
            "unchurn.Stay(base, new).choose keeps a budget by serving the old model, too"
        )
    free = max(good, key=lambda one: one.accuracy)
    lost = n * (free.accuracy - best.accuracy)
    # Where both answer as the reference does, they agree: no more rows than these tell them apart.
    if lost - 1 <= math.sqrt(n * (free.churn + best.churn)):  # one standard error, as for drift
        return ""
    more, above = (points(by).removeprefix("+") for by in (lost / n, free.excess(budget)))
    return (
        f"{limits} seems to cost accuracy: on {n:,} rows held out, {written(free.method)} has "
        f"{more} more right, {above} above the limit; where the older model is outdated, allow more"
    )


def _try_all(
    settings: Sequence[Method], rows: Rows, held: Rows, fitting: Fits
) -> tuple[Tried, ...]:
    """The measures of each setting; raises an error only if no setting can be trained."""
    found: dict[str, Tried] = {}
    errors = []
    for together in _together(settings):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RemarkWarning)  # shown by the final training
                fitted = fitting.fit(together, rows)
            for one, method in zip(fitted, together, strict=True):
                found[repr(method)] = _measured(method, one, held)
        except (DivergedError, InputError) as error:  # such as: more neighbours than rows
            errors.append(error)
            for method in together:
                found.setdefault(repr(method), Tried(method=method, failure=str(error)))
    tried = tuple(found[repr(method)] for method in settings)
    if all(one.failure for one in tried):
        raise errors[0]
    return tried


def _together(settings: Sequence[Method]) -> list[list[Method]]:
    """Group settings that differ only in which weights serve: each group needs one training."""
    groups: dict[str, list[Method]] = {}
    for method in settings:
        groups.setdefault(repr(method.trained()), []).append(method)
    return list(groups.values())


def _measured(method: Method, fitted: Predictor, held: Rows) -> Tried:
    """The measures of a fitted setting against the reference, on held-out rows."""
    if held.said is None:
        raise ValueError("there is no reference to hold it against")
    new, before = fitted.probabilities(held.inputs), held.said.logits
    found = measured(method, new.argmax(axis=1), held.numbers, before.argmax(axis=1), held.weights)
    moved = np.abs(new - softmax(before.astype(np.float64), axis=1)).sum(axis=1) / 2
    return replace(found, distance=float(np.average(moved, weights=held.weights)))


def measured(
    method: Method, answers: Array, labels: Array, before: Array, weights: FloatArray | None = None
) -> Tried:
    """Accuracy, bad flips and churn of answers (n,) compared with an older model's (n,)."""
    runs = Runs(predictions=answers[None], labels=labels, base=before[None])

    def share(mask: Mask) -> float:
        return float(np.average(mask[0], weights=weights))

    return Tried(
        method=method,
        accuracy=share(against_base.right(runs)),
        bad_flips=share(against_base.bad_flips(runs)),
        churn=share(against_base.moved(runs)),
    )
