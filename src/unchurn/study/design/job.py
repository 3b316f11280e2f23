"""`Job`: one training of a study."""

from __future__ import annotations

from dataclasses import dataclass

from unchurn.methods import Control, Method
from unchurn.training.loop.streams import REFERENCE_FIT, release_of


@dataclass(frozen=True, eq=False)
class Job:
    """One training: a method in a run, from the run's stream `fit` on."""

    method: Method
    run: int
    fit: int = 0

    @property
    def is_reference(self) -> bool:
        """Whether its logits of the training data are kept, for whoever looks at it."""
        return type(self.method) is Control and self.fit == REFERENCE_FIT

    @property
    def release(self) -> int:
        """The number of the release that it belongs to, where history is played again."""
        return release_of(self.fit)
