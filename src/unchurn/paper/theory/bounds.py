"""The paper's two theorems as functions: their bounds, when they apply, the best k and the rates.

Bahri & Jiang (2021), Section 4: two classes, η(x) = P(Y = 1 | x), n points drawn from a density on
a compact set of ℝ^D, and η_k the mean label over the k nearest of them (a closed ball).

- Theorem 1 (k ≪ n): sup|η_k − η| is at most `theorem1_bound`, with probability 1 − δ.
- Theorem 2 (k = ⌊βn⌋): sup|η_k − η̃_β| is at most `theorem2_bound`, with probability 1 − δ, where
  η̃_β(x) is the mean of η over the smallest ball around x that has probability β.

Constants are as printed, but for two misprints: the ball's volume is π^{D/2} / Γ(D/2 + 1), and the
rate is n^{−α/(2α+D)}. Logarithms are natural. `simulations.py` tries both on draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from unchurn.core.arrays import as_whole
from unchurn.core.errors import InputError


@dataclass(frozen=True)
class Assumptions:
    """What Theorem 1 assumes of the distribution (the paper's Assumption 1).

    Parameters
    ----------
    d
        Dimension D of the points.
    alpha, c_alpha
        η is Hölder: |η(x) − η(x')| ≤ c_alpha · |x − x'|^alpha, with 0 < alpha ≤ 1.
    omega, r_0
        The support is nowhere thin: of every ball around one of its points, of radius below r_0, it
        holds at least the share omega. (The paper writes B(x, r) for a ball cut off at the support;
        the volume that omega multiplies can only be the whole ball's.)
    p_0
        The density is at least this everywhere on the support.
    """

    d: int
    alpha: float
    c_alpha: float
    omega: float
    r_0: float
    p_0: float

    def __post_init__(self) -> None:
        as_whole(self.d, 1, "d")
        for name in ("alpha", "omega"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(
                    f"{name} must be above 0 and at most 1, not {getattr(self, name)!r}"
                )
        for name in ("c_alpha", "r_0", "p_0"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} must be above 0 and finite, not {getattr(self, name)!r}")

    @property
    def least_mass(self) -> float:
        """ω · v_D · p_0: a ball of radius r < r_0 has at least this probability times r^D."""
        return self.omega * unit_ball_volume(self.d) * self.p_0


def unit_ball_volume(d: int) -> float:
    """v_D = π^{D/2} / Γ(D/2 + 1), the volume of the unit ball (the paper prints Γ(d/2 + 1)).

    >>> [round(unit_ball_volume(d), 6) for d in (1, 2, 3)]
    [2.0, 3.141593, 4.18879]
    """
    as_whole(d, 1, "d")
    return float(math.pi ** (d / 2) / math.gamma(d / 2 + 1))


def theorem1_bound(assumed: Assumptions, n: int, k: int, delta: float) -> float:
    """Theorem 1's bound on sup|η_k − η|: how far neighbours may lie, plus how labels may fall.

    It is evaluated for any k; the theorem promises it only for k in `theorem1_k_range`. A bound of
    1 or more says nothing.

    >>> line = Assumptions(d=1, alpha=1, c_alpha=0.8, omega=0.5, r_0=1, p_0=1)
    >>> round(theorem1_bound(line, n=10**7, k=60_000, delta=0.1), 4)
    0.0353
    """
    _check_n_k(n, k)
    reach = (2 * k / (assumed.least_mass * n)) ** (1 / assumed.d)
    noise = math.sqrt(2 * _log_sets(n, delta, assumed.d) / k)
    return float(assumed.c_alpha * reach**assumed.alpha + noise)


def theorem1_k_range(assumed: Assumptions, n: int, delta: float) -> tuple[float, float]:
    """The smallest and largest k that Theorem 1 admits; none where the first exceeds the second.

    The lower end, 2⁸ D log²(4/δ) log n, is large: a small n admits no k at all, or none near
    `optimal_k`.

    >>> line = Assumptions(d=1, alpha=1, c_alpha=0.8, omega=0.5, r_0=1, p_0=1)
    >>> [round(end) for end in theorem1_k_range(line, n=10**4, delta=0.1)]  # no k at all
    [32085, 5000]
    """
    as_whole(n, 1, "n")
    low = 2**8 * assumed.d * math.log(4 / _probability(delta, "delta")) ** 2 * math.log(n)
    high = assumed.least_mass * assumed.r_0**assumed.d * n / 2
    return low, high


def optimal_k(assumed: Assumptions, n: int, delta: float) -> int:
    """The k, from 1 to n, that makes Theorem 1's bound smallest, whether or not it is admissible.

    It is of the order n^{2α/(2α+D)} · (log n)^{D/(2α+D)}: the paper's choice with its logarithm.

    >>> line = Assumptions(d=1, alpha=1, c_alpha=0.8, omega=0.5, r_0=1, p_0=1)
    >>> optimal_k(line, n=10**7, delta=0.1)
    72865
    """
    as_whole(n, 1, "n")
    # The bound is g·k^s + h·k^{−1/2}; its derivative vanishes where k^{s+1/2} = h / (2·s·g).
    s = assumed.alpha / assumed.d
    g = assumed.c_alpha * (2 / (assumed.least_mass * n)) ** s
    h = math.sqrt(2 * _log_sets(n, delta, assumed.d))
    best: float = (h / (2 * s * g)) ** (1 / (s + 0.5))
    near = {min(max(k, 1), n) for k in (math.floor(best), math.ceil(best))}
    return min(sorted(near), key=lambda k: theorem1_bound(assumed, n, k, delta))


def optimal_exponent(alpha: float, d: int) -> float:
    """α / (2α + D): the error of the best k falls as (log n / n) to this power.

    No estimator does better over all η of this smoothness. The paper once prints n^{−1/(2α+D)}.

    >>> round(optimal_exponent(alpha=1, d=1), 4), optimal_exponent(alpha=1, d=2)
    (0.3333, 0.25)
    """
    if not 0 < alpha <= 1:
        raise InputError(f"alpha must be above 0 and at most 1, not {alpha!r}")
    return alpha / (2 * alpha + as_whole(d, 1, "d"))


def theorem2_k(n: int, beta: float) -> int:
    """⌊βn⌋, the k of Theorem 2, for β as written in decimals (0.29 · 100 is 28.99… in floats).

    >>> theorem2_k(100, 0.29)
    29
    """
    as_whole(n, 1, "n")
    k = math.floor(Fraction(str(_probability(beta, "beta"))) * n)
    if k < 1:
        raise InputError(f"beta={beta} of n={n} is less than one neighbour: take a larger n")
    return k


def theorem2_bound(n: int, beta: float, delta: float, d: int) -> float:
    """Theorem 2's bound on sup|η_k − η̃_β| at k = ⌊βn⌋, promised for n "sufficiently large".

    >>> round(theorem2_bound(10**6, beta=0.1, delta=0.1, d=1), 4)
    0.0561
    """
    theorem2_k(n, beta)
    return 3 * math.sqrt(2 * _log_sets(n, delta, d) / (beta * n))


def theorem2_large_enough(
    n: int,
    beta: float,
    delta: float,
    d: int,
    inequality: Literal["hoeffding", "bernstein"] = "bernstein",
) -> bool:
    """Whether n is large enough for Theorem 2's proof to end in its bound; the paper does not say.

    The proof has two terms. The ball of probability β around x holds k'(x) of the points, and with
    L = log(4D/δ) + D·log n it counts on

    - |η_k − η_k'| ≤ 2·|k − k'| / k, where |k' − βn| ≤ s for all x, and
    - |η_k' − η̃_β| ≤ √(2L / k').

    Its s = √(nL/2) is Hoeffding's, with which the first term is √(2L/(βn)) / √β; the paper drops
    the 1/√β. So as it is written the proof ends in the factor 3 only if 1/√β + 1 < 3, that is
    β > 1/4, and n is large. Bernstein's inequality, which knows that k' has variance nβ(1 − β),
    gives s = L/3 + √(L²/9 + 2nβ(1 − β)L) and ends in the factor 3 for every β, for large n: it is
    used here unless you ask for "hoeffding".

    Both take from the paper that the union over all balls costs L; that is argued for the labels
    given the points, but for k' the balls and the points they count are not independent.

    >>> [theorem2_large_enough(n, 0.1, 0.1, 1) for n in (10**3, 10**6)]
    [False, True]
    >>> [theorem2_large_enough(10**12, beta, 0.1, 1, "hoeffding") for beta in (0.1, 0.5)]
    [False, True]
    """
    bound, k = theorem2_bound(n, beta, delta, d), theorem2_k(n, beta)
    log_sets = _log_sets(n, delta, d)
    slack = _count_slack(n, beta, log_sets, inequality)
    fewest = beta * n - slack
    if fewest <= 0:
        return False
    # k is up to one less than βn, so that |k − k'| may exceed |βn − k'| by one.
    return 2 * (slack + beta * n - k) / k + math.sqrt(2 * log_sets / fewest) <= bound


def _count_slack(n: int, beta: float, log_sets: float, inequality: str) -> float:
    """The most by which the count of an event of probability β in n draws misses βn.

    It is exceeded with a probability of at most 2·exp(−log_sets).
    """
    if inequality == "hoeffding":
        return math.sqrt(n * log_sets / 2)
    if inequality == "bernstein":
        return log_sets / 3 + math.sqrt(log_sets**2 / 9 + 2 * n * beta * (1 - beta) * log_sets)
    raise InputError(f"inequality must be hoeffding or bernstein, not {inequality!r}")


def _log_sets(n: int, delta: float, d: int) -> float:
    """log(4D/δ) + D·log n: a union bound over at most D·n^D different neighbourhoods."""
    # The paper's lemma counts n of them on the line. With the closed balls at the n − k midpoints
    # there are 2(n − k) + 1, more than n if k ≤ n/2; the logarithm hardly notices.
    as_whole(d, 1, "d")
    return math.log(4 * d / _probability(delta, "delta")) + d * math.log(n)


def _probability(value: float, name: str) -> float:
    """Check a probability that is neither 0 nor 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} must be between 0 and 1, not {value!r}")
    return float(value)


def _check_n_k(n: int, k: int) -> None:
    """Check a number of points and of neighbours."""
    as_whole(n, 1, "n")
    if as_whole(k, 1, "k") > n:
        raise InputError(f"k must be from 1 to the number of points, {n}, not {k}")
