"""`Scenario`: what happens between two models, and so what a study compares.

A new one is a subclass in a file of its own, plus one line in `SCENARIOS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unchurn.methods import Method
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Metric
from unchurn.training.streams import REFERENCE_FIT

Classes = npt.NDArray[np.integer]


class Scenario:
    """What decides how runs of a study differ and how they are compared.

    It is sent to other processes with the trainings, so it must be picklable.
    """

    name: ClassVar[str]

    def identity(self) -> dict[str, Any]:
        """What of it decides a run's result, besides data, learner, method and seed."""
        return {}

    def rows(self, seed: int, run: int, n: int) -> Classes | None:
        """Which of the n training examples a run sees; None: all."""
        return None

    def reference(self, method: Method, run: int) -> tuple[int, int] | None:
        """Run and stream of the plain fit that a method looks at; None if it looks at none."""
        need = method.reference()
        return None if need is None else (0 if need.is_fixed else run, REFERENCE_FIT)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What is shown of a setting's runs, in order."""
        raise NotImplementedError

    def differences(self, ours: Classes, theirs: Classes, labels: Classes) -> dict[str, Interval]:
        """How the runs of two settings, (R, n) each, differ, by metric."""
        raise NotImplementedError

    def note(self) -> str:
        """What the numbers of a table are, in a sentence."""
        raise NotImplementedError
