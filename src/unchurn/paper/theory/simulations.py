"""The paper's two theorems, tried: how far η_k is from η and from η̃_β over many draws.

`theorem1` and `theorem2` give a row for each problem, n and k; `rates` fits how the errors fall
with n. A row says whether the theorem admits its k (or n), and in how many draws the error exceeded
the bound. The promise is that at most a share δ of them does. The verdict: the bound "holds" if the
Clopper–Pearson interval (95 %) of that share ends at or below δ, "fails" if it begins above, and is
"undecided" otherwise; a bound of 1 or more "says nothing". On the square the supremum is sought on
a grid, so that it "holds on the grid" only.

Every draw has a seed of its own, so that it depends neither on the order nor on the number of other
draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from unchurn.core.arrays import as_whole
from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading
from unchurn.core.numpy_files import load_array, save_array
from unchurn.paper.theory.bounds import (
    optimal_exponent,
    optimal_k,
    theorem1_bound,
    theorem1_k_range,
    theorem2_bound,
    theorem2_k,
    theorem2_large_enough,
)
from unchurn.paper.theory.problems import Float64, Line, Problem, Square

Row = dict[str, Any]
Progress = Callable[[int, int], None]

DRAWS = 1  # increased when a change of ours alters the draws, or how they are measured
DELTA = 0.1
BETAS = (0.05, 0.2, 0.5)
PROBLEMS: tuple[Problem, ...] = (Line(1.0, 0.0), Line(0.5, 0.5), Square(1.0))

# Draws by n. No exceedance in 36 draws or more shows that at most δ = 0.1 of them exceed.
FULL = {
    1: {10**3: 400, 10**4: 400, 10**5: 200, 10**6: 100, 10**7: 40},
    2: {10**3: 200, 10**4: 200, 10**5: 100, 10**6: 40},
}
QUICK = {1: {10**3: 40, 10**4: 40}, 2: {10**3: 40, 4 * 10**3: 40}}

# By theorem and dimension: milliseconds per draw, and per million of its points, on one core that
# is otherwise idle.
COST = {(1, 1): (1, 160), (1, 2): (20, 6000), (2, 1): (1, 130), (2, 2): (20, 7700)}


def theorem1(
    seed: int = 0,
    *,
    quick: bool = False,
    on_progress: Progress | None = None,
    folder: Path | None = None,
) -> list[Row]:
    """Measure sup|η_k − η| against Theorem 1's bound: a row for each problem, n and k.

    At each n: the k that makes the bound smallest ("optimal"), a quarter of it and four times it,
    the smallest k that the theorem admits, and the geometric mean of the smallest and the largest.
    The first three are measured even where the theorem does not admit them, and marked.

    Parameters
    ----------
    seed
        Decides all draws.
    quick
        Two small n and few draws, in seconds: for a first look, and for tests.
    on_progress
        Called after each draw with the work done and all work, in expected milliseconds.
    folder
        Where the errors of each problem and n are kept once they are measured, so that the same
        call goes on where it stopped.
    """
    rows = []
    for case, errors in _measure(1, quick, seed, on_progress, folder):
        assumed = case.problem.assumptions
        low, high = theorem1_k_range(assumed, case.n, DELTA)
        for k, values in zip(case.ks, errors, strict=True):
            why = "below" if k < low else "above" if k > high else "inside"
            rows.append(
                {
                    **_about(case, k),
                    "optimal": k == optimal_k(assumed, case.n, DELTA),
                    "k_low": low,
                    "k_high": high,
                    "admitted": low <= k <= high,
                    "why": why if low <= high else "no k is admitted at this n",
                    **_verdict(case, values, theorem1_bound(assumed, case.n, k, DELTA)),
                }
            )
    return rows


def theorem2(
    seed: int = 0,
    *,
    quick: bool = False,
    on_progress: Progress | None = None,
    folder: Path | None = None,
) -> list[Row]:
    """Measure sup|η_k − η̃_β| at k = ⌊βn⌋ against Theorem 2's bound; parameters as `theorem1`.

    "admitted" says that n is large enough for the proof with Bernstein's inequality, and
    "as_written" that it is so with Hoeffding's, as the paper has it: see `theorem2_large_enough`.
    """
    rows = []
    for case, errors in _measure(2, quick, seed, on_progress, folder):
        n, d = case.n, case.problem.d
        for beta, k, values in zip(BETAS, case.ks, errors, strict=True):
            admitted = theorem2_large_enough(n, beta, DELTA, d)
            rows.append(
                {
                    **_about(case, k),
                    "beta": beta,
                    "admitted": admitted,
                    "why": "inside" if admitted else "n is too small for the proof",
                    "as_written": theorem2_large_enough(n, beta, DELTA, d, "hoeffding"),
                    **_verdict(case, values, theorem2_bound(n, beta, DELTA, d)),
                }
            )
    return rows


def expected_seconds(theorem: int, *, quick: bool = False) -> float:
    """About how long `theorem1` (1) or `theorem2` (2) takes on one otherwise idle core."""
    if theorem not in (1, 2):
        raise InputError(f"theorem must be 1 or 2, not {theorem!r}")
    return sum(case.draws * case.cost for case in _cases(theorem, quick)) / 1000


def rates(rows: Sequence[Row]) -> list[Row]:
    """Fit how the mean error falls with n, for each problem (and β): exponents of n, all negative.

    For Theorem 1 the errors are those at the optimal k. "fitted" is the slope of log(mean error) on
    log(n), with the standard error that the draws give it. Beside it: "optimal", the exponent of
    the theory without its logarithm; "optimal_with_log", the slope that (log n / n) to that power
    has over the same n; and "root_n", that of √(1/n). Theorem 2's own rate is √(log n / n).
    """
    groups: dict[tuple[str, float | None], list[Row]] = {}
    for row in rows:
        if row.get("optimal", True):
            groups.setdefault((row["problem"], row.get("beta")), []).append(row)
    fits = []
    for (problem, beta), members in groups.items():
        if len(members) < 2:
            continue  # one n has no slope
        n = np.array([row["n"] for row in members], np.float64)
        mean = np.array([row["mean"] for row in members])
        error = np.array([row["sd"] / math.sqrt(row["draws"]) for row in members]) / mean
        weight = np.log(n) - np.log(n).mean()
        weight /= (weight**2).sum()
        first = members[0]
        theory = optimal_exponent(first["alpha"], first["d"]) if beta is None else 0.5
        fits.append(
            {
                "problem": problem,
                **({} if beta is None else {"beta": beta}),
                "n_from": int(n.min()),
                "n_to": int(n.max()),
                "fitted": _rounded(weight @ np.log(mean)),
                "fitted_se": _rounded(np.sqrt(weight**2 @ error**2)),
                "optimal": -theory,
                "optimal_with_log": _rounded(theory * weight @ np.log(np.log(n) / n)),
                "root_n": -0.5,
            }
        )
    return fits


def _rounded(value: float) -> float:
    """Without the last digits, which another processor's logarithm may give otherwise."""
    return round(float(value), 12)


@dataclass(frozen=True)
class _Case:
    """A problem and a size, the k to try, and how often."""

    problem: Problem
    n: int
    draws: int
    ks: list[int]
    cost: int  # of a draw, in expected milliseconds


def _cases(theorem: int, quick: bool) -> list[_Case]:
    cases = []
    for problem in PROBLEMS:
        for n, draws in (QUICK if quick else FULL)[problem.d].items():
            ks = _ks(problem, n) if theorem == 1 else [theorem2_k(n, beta) for beta in BETAS]
            base, per_million = COST[theorem, problem.d]
            cases.append(_Case(problem, n, draws, ks, base + n * per_million // 10**6))
    return cases


def _ks(problem: Problem, n: int) -> list[int]:
    """The k to try at one n: around the best, and where the theorem admits it."""
    best = optimal_k(problem.assumptions, n, DELTA)
    low, high = theorem1_k_range(problem.assumptions, n, DELTA)
    ks = {max(best // 4, 1), best, min(4 * best, n)}
    if math.ceil(low) <= high:
        ks |= {math.ceil(low), math.floor(math.sqrt(low * high))}
    return sorted(ks)


def _measure(
    theorem: int, quick: bool, seed: int, on_progress: Progress | None, folder: Path | None
) -> Iterator[tuple[_Case, Float64]]:
    """Each case with its errors, (k, draws)."""
    as_whole(seed, 0, "seed")
    cases = _cases(theorem, quick)
    done, total = 0, sum(case.draws * case.cost for case in cases)
    for case in cases:
        number = PROBLEMS.index(case.problem)
        ks = "_".join(map(str, case.ks))
        name = f"theorem{theorem}-{number}-{case.n}-{ks}-{case.draws}-{seed}-v{DRAWS}.npy"
        shape = (len(case.ks), case.draws)
        if folder is not None and (folder / name).exists():
            done += case.draws * case.cost
            yield case, _kept_errors(folder / name, shape)
            continue
        errors = np.empty(shape)
        for draw in range(case.draws):
            stream = (theorem, number, case.n, draw)
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=stream))
            points, labels = case.problem.draw(rng, case.n)
            for i, k in enumerate(case.ks):
                beta = BETAS[i] if theorem == 2 else None
                errors[i, draw] = case.problem.supremum(points, labels, k, beta)
            done += case.cost
            if on_progress is not None:
                on_progress(done, total)
        if folder is not None:
            with atomic_write(folder / name) as temporary:
                save_array(temporary, errors)
        yield case, errors


def _kept_errors(path: Path, shape: tuple[int, int]) -> Float64:
    with reading(path, "kept draws"):
        errors: Float64 = load_array(path)
        if errors.shape != shape:
            raise InputError(f"of shape {errors.shape}, not {shape}")
    return errors


def _about(case: _Case, k: int) -> Row:
    return {
        "problem": case.problem.name,
        "d": case.problem.d,
        "alpha": case.problem.alpha,
        "n": case.n,
        "k": k,
    }


def _verdict(case: _Case, errors: Float64, bound: float) -> Row:
    """The errors of one k over the draws, beside the bound that is promised for them."""
    exceeded = int((errors > bound).sum())
    share = binomtest(exceeded, case.draws).proportion_ci(method="exact")  # Clopper–Pearson
    if bound >= 1:
        verdict = "says nothing"
    elif share.high <= DELTA:
        verdict = "holds" if case.problem.exact else "holds on the grid"
    else:
        verdict = "fails" if share.low > DELTA else "undecided"
    return {
        "draws": case.draws,
        "exact": case.problem.exact,
        "mean": float(errors.mean()),
        "sd": float(errors.std(ddof=1)),
        "quantile": float(np.quantile(errors, 1 - DELTA)),  # what a sharp bound would be
        "max": float(errors.max()),
        "bound": bound,
        "delta": DELTA,
        "exceeded": exceeded,
        "exceeded_low": float(share.low),
        "exceeded_high": float(share.high),
        "verdict": verdict,
    }
