"""The scenario resample: every run draws its own training sample; runs are compared in pairs.

For learners whose seed changes nothing, such as many boosted trees, this is the only noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError
from unchurn.study.scenarios.base import Rows
from unchurn.study.scenarios.retrain import Retrain
from unchurn.training.loop.streams import Stream


@dataclass(frozen=True)
class Resample(Retrain):
    """Runs of one setting, each on its own sample, are compared in pairs.

    A sample is a bootstrap, as many draws with replacement as there are examples; or, given
    `share`, that share of them without replacement. All trainings of a run see the run's sample, in
    every setting alike. With `same_seed` all runs have one seed: only the data change predictions.
    """

    share: float | None = None
    same_seed: bool = False

    name: ClassVar[str] = "resample"

    def __post_init__(self) -> None:
        if self.share is not None:
            object.__setattr__(self, "share", as_fraction(self.share, "share"))
        if self.share in (0, 1):
            raise InputError(f"share must be above 0 and below 1, not {self.share!r}")
        if not isinstance(self.same_seed, bool):
            raise InputError(f"same_seed must be true or false, not {self.same_seed!r}")

    def identity(self) -> dict[str, Any]:
        """How samples are drawn, and whether seeds differ; a subclass may draw otherwise."""
        if type(self) is not Resample:
            return super().identity()
        return {"scenario": {"name": self.name, "share": self.share, "same_seed": self.same_seed}}

    def seeded_by(self, run: int) -> int:
        """The run itself, or the first run with `same_seed`."""
        return 0 if self.same_seed else run

    def rows(self, seed: int, run: int, fit: int, n: int) -> Rows:
        """The run's sample, the same for all its trainings."""
        rng = Stream(seed, run, 0).generator("resample")
        if self.share is None:
            return np.sort(rng.integers(n, size=n))
        return np.sort(rng.permutation(n)[: max(round(self.share * n), 1)])

    def note(self, n_test: int) -> str:
        """A note on how runs differ in sample and seed, and what the means are taken over."""
        drawn = "a bootstrap" if self.share is None else f"{self.share:.4g} of the training data"
        seed = "the same seed" if self.same_seed else "another seed"
        return f"Every run: {drawn} of its own, {seed}. {super().note(n_test)}"
