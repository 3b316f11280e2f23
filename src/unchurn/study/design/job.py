"""`Job`: one training of a study."""

from __future__ import annotations

from dataclasses import dataclass

from unchurn.methods import Control, Method
from unchurn.training.loop.streams import REFERENCE_FIT, release_of


@dataclass(frozen=True, eq=False)
class Job:
    """One training: a method, its run, and `fit`, the first of the run's streams that it uses."""

    method: Method
    run: int
    fit: int = 0

    @property
    def is_reference(self) -> bool:
        """Whether it is a reference, whose logits of the training data are always kept."""
        return type(self.method) is Control and self.fit == REFERENCE_FIT

    @property
    def release(self) -> int:
        """The number of its release in the scenario replay."""
        return release_of(self.fit)
