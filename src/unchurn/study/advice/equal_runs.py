"""Explain runs that all predict the same: the seed changes nothing, or test rows are few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unchurn.study.scenarios.resample import Resample

if TYPE_CHECKING:
    from unchurn.study.results.result import Result

# If none of n rows flips, churn may still be as high as 3 / n (the rule of three): with fewer rows
# than FEW_ROWS that is above 3 %, as high as the churn of many trainings.
FEW_ROWS = 100


def n_test_rows(result: Result) -> int:
    """Number of test rows on which runs are compared."""
    return len(result.subject.labels["test"])


def all_agree(result: Result) -> bool:
    """Whether all runs of plain training predict the same class for every test row."""
    control = result.chosen.get("control")
    if control is None:
        return False
    runs = control.reported.predictions["test"]
    return bool((runs == runs[0]).all())


def ignores_seed(result: Result) -> bool:
    """Whether plain training does not depend on its seed, as far as many test rows tell.

    Either all runs that differ only in their seed agree, or an ensemble, whose members differ only
    in their seed, predicts as plain training does. Networks always depend on it, even if the
    classes that they predict agree.
    """
    if result.subject.is_of_networks or n_test_rows(result) < FEW_ROWS:
        return False
    is_seed_alone = not isinstance(result.subject.scenario, Resample)
    return (is_seed_alone and all_agree(result)) or _is_control(result, "ensemble")


def ensemble_is_plain(result: Result) -> str:
    """Say that the ensemble equals plain training because the seed changes nothing; else empty."""
    if not (ignores_seed(result) and _is_control(result, "ensemble")):
        return ""
    return (
        "The ensemble is plain training number for number: as far as "
        f"{n_test_rows(result):,} test rows tell, the model does not depend on its seed. "
    )


def note_on_equal_runs(result: Result) -> str:
    """Note that all runs of plain training agree, and what that means; empty if they do not."""
    if not all_agree(result):
        return ""
    n = n_test_rows(result)
    text = f"All runs of control agree on all {n:,} test rows"
    if n < FEW_ROWS:
        return f"{text}: so few tell little."
    if not ignores_seed(result):
        return f"{text}."
    so = (
        "and intervals are of the examples alone."
        if result.subject.scenario.has_base
        else "so there is no churn of retraining to lower."
    )
    return f"{text}: as far as they tell, plain training does not depend on its seed, {so}"


def _is_control(result: Result, name: str) -> bool:
    """Whether a method of several trainings predicts what control does, run by run."""
    chosen = result.chosen
    if name not in chosen or "control" not in chosen or chosen[name].setting.n_trained == 1:
        return False
    ours, theirs = (chosen[one].reported.predictions["test"] for one in (name, "control"))
    return np.array_equal(ours, theirs)
