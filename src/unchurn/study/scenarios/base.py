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
from unchurn.metrics.registry import Metric, Runs
from unchurn.training.own_code import code_identity
from unchurn.training.streams import reference_streams

Rows = npt.NDArray[np.integer]
PlainFit = tuple[int, int]  # a plain training: its run, and its stream in the run


class Scenario:
    """What decides how the runs of a study differ and how they are compared.

    It is sent to other processes with the trainings, so it must be picklable.
    """

    name: ClassVar[str]
    churn: ClassVar[str] = "churn"  # the metric that is to be low: settings are chosen by it

    def identity(self) -> dict[str, Any]:
        """What of it decides a run's result, besides data, learner, method and seed."""
        return {"scenario": code_identity(self)}

    def rows(self, seed: int, run: int, fit: int, n: int) -> Rows | None:
        """Which of the n training examples a training sees, by run and stream; None: all."""
        return None

    def base(self, run: int) -> PlainFit | None:
        """The older model that a run is held against; None: runs are compared with each other."""
        return None

    def references(self, method: Method, run: int) -> list[PlainFit]:
        """The plain fits that a method looks at in a run; none if it looks at none."""
        streams = reference_streams(method, seed=0, run=run) if method.reference() else []
        return [(stream.run, stream.fit) for stream in streams]

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What is shown of a setting's runs, in order."""
        raise NotImplementedError

    def differences(self, ours: Runs, theirs: Runs) -> dict[str, Interval]:
        """How the runs of two settings differ, by metric; the most important first."""
        raise NotImplementedError

    def note(self) -> str:
        """What the numbers of a table are, in a sentence."""
        raise NotImplementedError
