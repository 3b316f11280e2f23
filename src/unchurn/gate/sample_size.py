"""Plan the number of rows and retrainings needed to see a loss of accuracy, or excess churn.

docs/statistics.md has simulations of how often the planned sizes suffice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unchurn.core.arrays import Array, as_whole
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import LEVEL

POWER = 0.8
LEAST = 1e-6  # loss of accuracy, or excess, to plan for
CHURN = 0.03  # assumed if unknown
RELATIVE_SD = 0.05  # of churn between retrainings; mostly 0.03 to 0.09 in the paper's tables
RETRAINS = (2, 3, 5, 10)
MOST_ROWS = 10**9
OF_PERCENT = " (a fraction: 0.05 is 5 %)"
SURE = 0.8  # probability that the upper limit of a measured sd is above the true one


@dataclass(frozen=True, kw_only=True)
class LossPlan:
    """Labelled rows for a loss of accuracy between two models that differ on a share `churn`.

    `to_see`: a loss of this size gets an interval that excludes zero. `to_rule_out`: if nothing is
    lost, the interval stays below a limit of this size.
    """

    loss: float
    churn: float
    power: float
    to_see: int
    to_rule_out: int

    def to_dict(self) -> dict[str, Any]:
        """The plan as a dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Noise:
    """How many predictions retraining alone changes.

    `sd` is the standard deviation of churn between retrainings on infinitely many rows. `doubt` is
    the share of the flips' variance that is by chance, not by example: 1 if any example may flip, 0
    if the same ones always do. Few retrainings estimate the sd badly, often as 0: if it was
    measured, plans use `sd_limit`, which is above the true one four times in five.
    """

    churn: float
    sd: float
    doubt: float = 1.0
    sd_limit: float | None = None

    @property
    def planned_sd(self) -> float:
        """The sd to plan with: its upper limit, if it was measured."""
        return self.sd if self.sd_limit is None else self.sd_limit

    @classmethod
    def assumed(cls, churn: float = CHURN) -> Noise:
        """What to expect of a churn if its sd is unknown."""
        return cls(churn, min(RELATIVE_SD * churn, _most_sd(churn)))

    @classmethod
    def of(cls, *moved: Array) -> Noise:
        """Estimate it from masks, (R ≥ 2, n), of retrainings' changes against one base or several.

        The limit of the sd comes from χ² and the variance between retrainings, before the variance
        by chance is subtracted. With several bases, variances are averaged, but count as no more
        certain: the same models are in all of them.
        """
        from scipy.stats import chi2

        runs, n = moved[0].shape
        if runs < 2:
            raise InputError("the noise of retraining needs three retrainings or more: a base, two")
        each = np.array([one.mean(axis=1) for one in moved])  # (bases, R)
        churn = float(each.mean())
        if churn == 0:
            raise InputError("these retrainings agree everywhere: there is no noise to plan with")
        by_chance = float(np.mean([one.var(axis=0, ddof=1).mean() for one in moved]))
        between, freedom = float(each.var(axis=1, ddof=1).mean()), runs - 1
        rounding = 1 / 12 / n**2  # flips are integers: two equal churns do not promise a third
        limit = (between + rounding) * freedom / float(chi2.ppf(1 - SURE, freedom))
        sd, sd_limit = (math.sqrt(max(v - by_chance / n, 0.0)) for v in (between, limit))
        doubt = min(by_chance / (churn * (1 - churn)), 1.0) if churn < 1 else 0.0
        return cls(churn, sd, doubt, sd_limit)


@dataclass(frozen=True)
class Size:
    """Rows needed with `retrains` retrainings, None if none do; power `at_best`, with MOST_ROWS."""

    retrains: int
    rows: int | None
    at_best: float


@dataclass(frozen=True)
class ExcessPlan:
    """Rows, without labels, to see that a candidate churns by `excess` more than a retraining."""

    excess: float
    noise: Noise
    power: float
    sizes: tuple[Size, ...]

    def to_dict(self) -> dict[str, Any]:
        """The plan as a dict for JSON."""
        return asdict(self)


def plan_loss(loss: float, churn: float = CHURN, power: float = POWER) -> LossPlan:
    """Plan for a loss of accuracy, by Tango's score (McNemar's at a loss of zero).

    It assumes that every flip is between right and wrong. If some are between wrong classes, fewer
    rows may suffice.

    >>> plan_loss(0.005, churn=0.03)
    LossPlan(loss=0.005, churn=0.03, power=0.8, to_see=9417, to_rule_out=9586)
    """
    _check(churn, power)
    _check_fraction(loss, "a loss of accuracy")
    if loss > churn:
        raise InputError(
            f"a loss of accuracy of {loss:g} is more than the churn that is expected, {churn:g}, "
            "and what does not flip is not lost: if more will flip, give churn= so much"
        )
    enough, likely = _quantile((1 + LEVEL) / 2), _quantile(power)
    to_see = (enough * math.sqrt(churn) + likely * math.sqrt(churn - loss**2)) ** 2 / loss**2
    # Tango's variance of one example at the limit, where as many are gained as lost.
    at_limit = (math.sqrt(churn**2 + 4 * loss**2 * (1 - churn)) + churn) / 2 - loss**2
    to_rule_out = (enough * math.sqrt(at_limit) + likely * math.sqrt(churn)) ** 2 / loss**2
    return LossPlan(
        loss=loss,
        churn=churn,
        power=power,
        to_see=math.ceil(to_see),
        to_rule_out=math.ceil(to_rule_out),
    )


def plan_excess(
    excess: float,
    noise: Noise | None = None,
    power: float = POWER,
    retrains: Sequence[int] = RETRAINS,
) -> ExcessPlan:
    """Plan for excess churn: the rows for each number of retrainings; with more, fewer rows do.

    An excess is seen if the candidate's churn lies above the prediction interval of one more
    retraining. A candidate is itself one draw: an excess of less than about three times the sd
    cannot be seen with any number of rows or retrainings.

    >>> plan_excess(0.01, Noise(churn=0.03, sd=0.0015), retrains=[5]).sizes
    (Size(retrains=5, rows=13127, at_best=0.968...),)
    """
    noise = noise or Noise.assumed()
    _check(noise.churn, power)
    _check_fraction(excess, "an excess")
    if excess > 1 - noise.churn:
        raise InputError(f"an excess of {excess!r} over a churn of {noise.churn:g}: more than all")
    most = _most_sd(noise.churn)
    # What few retrainings estimate can be more than the true one can be.
    if noise.sd_limit is None and not 0 <= noise.sd <= most:
        raise InputError(
            f"the standard deviation of a churn of {noise.churn:g} must be between 0 and "
            f"{most:.2g}, not {noise.sd:g} (a fraction: 0.005 is half a percentage point)"
        )
    counts = [as_whole(count, 2, "the number of retrainings") for count in retrains]
    return ExcessPlan(excess, noise, power, tuple(_size(r, excess, noise, power) for r in counts))


def excess_power(excess: float, noise: Noise, rows: float, retrains: int) -> float:
    """The probability that an excess is seen, by the noncentral t, as if log churn were normal."""
    from scipy.stats import nct, t

    def variance(churn: float) -> float:
        """Variance of the log of a churn measured on these rows; the sd grows with churn."""
        return noise.doubt * (1 - churn) / churn / rows + (noise.planned_sd / noise.churn) ** 2

    high = noise.churn + excess
    expected = variance(noise.churn) * (1 + 1 / retrains)  # what the prediction interval allows for
    actual = variance(high) + variance(noise.churn) / retrains
    if expected == 0:
        return 1.0
    quantile = float(t.ppf((1 + LEVEL) / 2, retrains - 1)) * math.sqrt(expected / actual)
    distance = math.log(high / noise.churn) / math.sqrt(actual)
    return float(nct.sf(quantile, retrains - 1, distance))


def least_excess(noise: Noise, retrains: int, power: float = POWER) -> float | None:
    """The smallest excess that so many retrainings can show on MOST_ROWS; None if none."""
    few, many = 0.0, 1 - noise.churn
    if excess_power(many, noise, MOST_ROWS, retrains) < power:
        return None
    for _ in range(50):
        middle = (few + many) / 2
        if excess_power(middle, noise, MOST_ROWS, retrains) < power:
            few = middle
        else:
            many = middle
    return many


def _size(retrains: int, excess: float, noise: Noise, power: float) -> Size:
    """The fewest rows that reach the power, by bisection on their logarithm."""
    at_best = excess_power(excess, noise, MOST_ROWS, retrains)
    if at_best < power:
        return Size(retrains, None, at_best)
    few, many = 1, MOST_ROWS
    while many - few > 1:
        middle = math.isqrt(few * many) if many > 2 * few else (few + many) // 2
        if excess_power(excess, noise, middle, retrains) < power:
            few = middle
        else:
            many = middle
    return Size(retrains, many, at_best)


def _most_sd(churn: float) -> float:
    """The highest standard deviation of any share with this mean."""
    return math.sqrt(max(churn * (1 - churn), 0.0))


def _check(churn: float, power: float) -> None:
    if not 0 < churn < 1:
        raise InputError(f"churn must be between 0 and 1, not {churn!r}{OF_PERCENT}")
    if not 0.5 <= power < 1:
        raise InputError(f"power must be from 0.5 to below 1, such as 0.8, not {power!r}")


def _check_fraction(value: float, name: str) -> None:
    if not LEAST <= value <= 1:  # also catches NaN
        raise InputError(f"{name} must be from {LEAST:g} to 1, not {value!r}{OF_PERCENT}")


def _quantile(probability: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(probability))
