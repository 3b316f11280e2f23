"""`Budget`: limits on bad flips and churn, and the choice of the best setting within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError

DIGITS = 12  # means are compared to so many decimals: their last bits depend on the order of sums


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The most bad flips, and the most changed predictions, as shares; None if unlimited."""

    max_bad_flips: float | None = None
    max_churn: float | None = None

    def __post_init__(self) -> None:
        for name, limit in self.given.items():
            try:
                object.__setattr__(self, name, as_fraction(limit, name))
            except InputError as error:
                raise InputError(
                    f"{error}: it is a share of all predictions, give {name}= 0.05 for 5 %"
                ) from error

    @property
    def given(self) -> dict[str, float]:
        """The limits that are set, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


def excess(measured: Mapping[str, float], limits: Mapping[str, float]) -> float:
    """The largest excess above a limit, as a share of all predictions; 0 if all are kept.

    >>> excess({"bad_flips": 0.003, "churn": 0.01}, {"bad_flips": 0.002, "churn": 0.02})
    0.001
    """
    over = (measured[name] - limit for name, limit in limits.items())
    return max([0.0, *(round(by, DIGITS) for by in over)])


def best_within(
    accuracy: Sequence[float], churn: Sequence[float], excesses: Sequence[float]
) -> int:
    """Position of the most accurate setting within a budget; if none is, of the least excess.

    Among equals, the one with the lowest churn.

    >>> best_within(accuracy=[0.98, 0.97, 0.96], churn=[0.03, 0.02, 0.01], excesses=[0.01, 0, 0])
    1
    """

    def rank(i: int) -> tuple[float, float, float]:
        return round(excesses[i], DIGITS), -round(accuracy[i], DIGITS), churn[i]

    return min(range(len(accuracy)), key=rank)
