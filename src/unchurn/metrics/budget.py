"""`Budget`: how much may change, and which of several settings is the best that keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError

DIGITS = 12  # means that differ by less than these are equal: the last bits are the order's


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The most bad flips, and the most changed predictions, as shares of all; None: no limit."""

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
        """The limits that there are, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


def excess(measured: Mapping[str, float], limits: Mapping[str, float]) -> float:
    """By how much the limit that is exceeded most is, as a share of all; 0 if all are kept.

    >>> excess({"bad_flips": 0.003, "churn": 0.01}, {"bad_flips": 0.002, "churn": 0.02})
    0.001
    """
    over = (measured[name] - limit for name, limit in limits.items())
    return max([0.0, *(round(by, DIGITS) for by in over)])


def best_within(
    accuracy: Sequence[float], churn: Sequence[float], excesses: Sequence[float]
) -> int:
    """The most accurate setting that keeps a budget; where none does, what exceeds it least.

    Of equals, the one of lower churn. Gives the position.

    >>> best_within(accuracy=[0.98, 0.97, 0.96], churn=[0.03, 0.02, 0.01], excesses=[0.01, 0, 0])
    1
    """

    def rank(i: int) -> tuple[float, float, float]:
        return round(excesses[i], DIGITS), -round(accuracy[i], DIGITS), churn[i]

    return min(range(len(accuracy)), key=rank)
