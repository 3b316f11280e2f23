"""Upgrade: a model is in production, more data has come, and the new one is held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unchurn.core.arrays import as_fraction, as_whole
from unchurn.core.errors import InputError
from unchurn.methods import Method
from unchurn.metrics import against_base
from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import rate_difference
from unchurn.metrics.registry import AGAINST_BASE, Metric, Runs
from unchurn.study.scenarios.base import PlainFit, Rows, Scenario
from unchurn.training.streams import BASE_FIT, Stream


@dataclass(frozen=True)
class Upgrade(Scenario):
    """Every run trains on all training data, its base plainly on a part of them that came before.

    A base saw `base_share` of the data, drawn for each; `per_base` runs share one, so that nothing
    hangs on a single lucky base and what moves between two runs of one base is seen as well. What
    looks at a fixed reference, as `anchor` does, looks at the base.
    """

    base_share: float = 0.5
    per_base: int = 2

    name: ClassVar[str] = "upgrade"
    churn: ClassVar[str] = "bad_flips"
    charted: ClassVar[str] = "bad_flips"
    limited: ClassVar[Mapping[str, str]] = {
        "max_bad_flips": "bad_flips",
        "max_churn": "churn_to_base",
    }
    churn_words: ClassVar[str] = "bad flips"
    charted_words: ClassVar[str] = "bad flips"
    falls: ClassVar[str] = "bad flips fall"
    question: ClassVar[str] = "which successor breaks least, at no cost in accuracy?"
    units: ClassVar[str] = "bases"
    says: ClassVar[str] = "with {} of its predictions wrong where the model before was right"
    recipes: ClassVar[tuple[str, ...] | None] = (
        "control", "safe_ema", "anchor(a=0.5)+safe_ema", "rcp+safe_ema", "focal+safe_ema",
        "warm_start+safe_ema", "warm_start+anchor(a=0.5)+safe_ema", "warm_start+focal+safe_ema",
        "stay+safe_ema",
    )  # fmt: skip
    steadier: ClassVar[tuple[str, ...]] = ("warm_start+focal+safe_ema",)

    def __post_init__(self) -> None:
        if as_fraction(self.base_share, "base_share") == 0:
            raise InputError("base_share must be above 0: a base is trained on something")
        as_whole(self.per_base, 1, "per_base")

    def identity(self) -> dict[str, Any]:
        """What bases see, and which run has which."""
        return {
            "scenario": {
                "name": self.name,
                "base_share": self.base_share,
                "per_base": self.per_base,
            }
        }

    def rows(self, seed: int, run: int, fit: int, n: int) -> Rows | None:
        """Of a base, its part; of all else, everything."""
        if fit != BASE_FIT:
            return None
        order = Stream(seed, run, BASE_FIT).generator("resample").permutation(n)
        return np.sort(order[: max(round(self.base_share * n), 1)])

    def base(self, run: int) -> PlainFit:
        """One for every few runs."""
        return run // self.per_base, BASE_FIT

    def references(self, method: Method, run: int) -> list[PlainFit]:
        """The base, for what looks at a fixed reference; else plain fits of the run itself."""
        need = method.reference()
        return [self.base(run)] if need and need.is_fixed else super().references(method, run)

    def training_cost(self, method: Method) -> int:
        """Without the base, which is there already."""
        need = method.reference()
        return super().training_cost(method) - (need.m if need and need.is_fixed else 0)

    def note_on(self, method: Method) -> str | None:
        """Nothing of references that runs share: bases are told of by `note`."""
        return None

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What is told of runs and an older model."""
        return AGAINST_BASE

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """In bad flips, churn to the base and accuracy, over bases."""
        bases = against_base.same_base(ours)
        masks = {
            "bad_flips": against_base.bad_flips,
            "churn_to_base": against_base.moved,
            "accuracy": against_base.right,
        }
        return {name: rate_difference(of(ours), of(theirs), bases) for name, of in masks.items()}

    def note(self) -> str:
        """What runs are held against, and what each metric is."""
        share = f"{self.base_share:.4g} of the training data"
        several = f" ({self.per_base} runs share a base)" if self.per_base > 1 else ""
        return (
            f"Every run is held against a base, plainly trained on {share}{several}. Percent, mean "
            "(sd) over runs: bad flips, right in the base and wrong now; good flips, the reverse; "
            "flip index, bad flips among what is wrong now; churn of two, between runs of one base."
        )
