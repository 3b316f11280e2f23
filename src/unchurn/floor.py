"""The noise floor: how much retraining alone moves predictions, and is a candidate beyond it?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.errors import InputError
from unchurn.pairing import pair
from unchurn.predictions import ID, Predictions
from unchurn.stats import Interval, churn_over_runs, excess_over_runs, prediction_interval

SEED_ONLY = (
    "retrainings that vary only the seed give the noise of the seed alone: new data or code may "
    "move more"
)


@dataclass(frozen=True)
class Floor:
    """Churn between base and retrainings of its recipe, and what the candidate has beyond it.

    `churn` is the mean over retrainings; `excess` is the candidate's churn less that mean, for this
    base and this candidate; `expected` is where the churn of one more retraining lies.
    """

    n: int
    each: tuple[float, ...]
    churn: Interval
    candidate: float
    excess: Interval
    expected: tuple[float, float]
    notes: tuple[str, ...]

    @property
    def is_another_retraining(self) -> bool | None:
        """Whether the candidate moves as one more retraining would; None if that cannot be said."""
        low, high = self.expected
        candidate = max(self.candidate, 0.5 / self.n)  # no flip counts as half, as there
        return None if math.isnan(low) else low <= candidate <= high

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        low, high = (None if math.isnan(end) else end for end in self.expected)
        return {
            "n": self.n,
            "retrains": list(self.each),
            "churn": self.churn.to_dict(),
            "excess": self.excess.to_dict(),
            "expected": {"low": low, "high": high},
            "is_another_retraining": self.is_another_retraining,
        }


def retraining_files(paths: list[Path], base: Path | None = None) -> list[Path]:
    """The files of retrainings but base: as given; of a bench's folder, runs of plain training."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted((path / "predictions").glob("control-*.parquet"))
            if not found:
                raise InputError(
                    f"{path}: no predictions/control-*.parquet is there, as unchurn bench writes"
                )
            files += found
        else:
            files.append(path)
    others = [path for path in files if base is None or path.resolve() != base.resolve()]
    if not others:
        raise InputError("the only retraining is base itself")
    return others


def noise_floor(base: Predictions, candidate: Predictions, retrains: list[Predictions]) -> Floor:
    """Compare base with each retraining and the candidate, on the rows that all of them have."""
    moved = what_moved(base, [candidate, *retrains])
    return floor_of(moved[1:], moved[0], base.table.height)


def what_moved(base: Predictions, others: list[Predictions]) -> npt.NDArray[np.bool_]:
    """Where each of the others differs from base, (others, n), on the rows that all have."""
    import polars as pl

    common = base.table.select(ID)
    for other in others:
        kept = pl.DataFrame({ID: pair(base, other).ids})
        if kept.height < common.height:
            common = common.join(kept, on=ID, how="semi", maintain_order="left")
    if common.height == 0:
        raise InputError("the retrainings have no example in common with both models")
    flips = []
    for other in others:
        paired = pair(base, other)
        moved = paired.base != paired.candidate
        if paired.n > common.height:
            at = pl.DataFrame({ID: paired.ids, "moved": moved})
            moved = common.join(at, on=ID, how="left", maintain_order="left")["moved"].to_numpy()
        flips.append(moved)
    return np.stack(flips)


def floor_of(retrained: Any, moved: Any, n_rows: int) -> Floor:
    """The floor from masks of what moved: (R, n) for the retrainings, (n,) for the candidate."""
    n_runs, n = retrained.shape
    each = retrained.mean(axis=1)
    notes = [SEED_ONLY]
    if n < n_rows:
        notes.append(f"the noise floor is of the {n:,} examples that every retraining has")
    if (each == 0).any():
        notes.append("a retraining agrees with base everywhere: is it the same model?")
    low, high = expected = prediction_interval(each, n)
    if n_runs == 1:
        notes.append("one retraining gives no interval: is a difference chance? Retrain twice more")
    elif high / low > 2:
        notes.append(
            f"{n_runs} retrainings leave the floor wide: one more may churn from {low:.2%} to "
            f"{high:.2%}"
        )
    return Floor(
        n,
        tuple(float(c) for c in each),
        churn_over_runs(retrained),
        float(moved.mean()),
        excess_over_runs(moved, retrained),
        expected,
        tuple(notes),
    )
