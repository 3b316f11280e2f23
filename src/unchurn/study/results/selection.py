"""Choosing a setting: the paper's rule, and the Pareto frontier."""

from __future__ import annotations

from collections.abc import Sequence

CLOSE = 0.001  # accuracies less than this below the best count as close to it


def choose(accuracy: Sequence[float], churn: Sequence[float]) -> int:
    """The paper's rule: of the settings close to the highest accuracy, the one of lowest churn.

    Both are fractions; returns the position. "Close" is less than 0.1 percentage points below.

    >>> choose(accuracy=[0.980, 0.9795, 0.979], churn=[0.03, 0.02, 0.01])
    1
    """
    best = max(accuracy)
    close = [i for i, value in enumerate(accuracy) if best - value < CLOSE - 1e-12]
    return min(close, key=lambda i: (churn[i], -accuracy[i]))


def pareto(accuracy: Sequence[float], churn: Sequence[float]) -> list[int]:
    """Positions of the settings that no other beats in both, from the lowest churn up.

    >>> pareto(accuracy=[0.9, 0.8, 0.95, 0.85], churn=[0.1, 0.2, 0.3, 0.05])
    [3, 0, 2]
    """
    frontier: list[int] = []
    for i in sorted(range(len(accuracy)), key=lambda i: (churn[i], -accuracy[i])):
        if not frontier or accuracy[i] > accuracy[frontier[-1]]:
            frontier.append(i)
    return frontier
