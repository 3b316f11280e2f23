"""Measure how far probabilities moved between two models, and churn at other thresholds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unchurn.comparison.inputs.classes import in_blocks
from unchurn.comparison.inputs.pairs import Paired, Probabilities

THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 20))
TINY = 1e-300  # keeps 0 log 0 at 0, and changes no other probability
Float64 = npt.NDArray[np.float64]
N_BINS = len(THRESHOLDS) + 1
EDGES = np.array([-np.inf, *THRESHOLDS, np.inf, np.inf])  # of the bins; one more for p = 1
LABELS = 4  # none, the negative class, the positive class, another one


def movement(
    paired: Paired, before: Probabilities, after: Probabilities
) -> tuple[dict[str, float] | None, list[dict[str, float]]]:
    """How far probabilities moved, and for two classes a row for each of THRESHOLDS.

    The first has mean |Δp| and mean Jensen–Shannon divergence in bits; a row has churn, and both
    accuracies if there are labels. One pass makes both, so that rows are looked up by id once. Rows
    without probabilities are left out.
    """
    scored = paired.scored_classes
    two = len(scored) == 2
    labels = paired.labels if two and set(scored) & set(paired.classes) else None
    # By class; the last entry is for UNLABELLED, which is -1.
    kinds = np.array([*((*scored, c).index(c) + 1 for c in paired.classes), 0])

    def one(block: slice) -> tuple[int, float, float, npt.NDArray[np.int64]]:
        p, q = before[block], after[block]
        known = None if labels is None else kinds[labels[block]]
        if before.has_gaps or after.has_gaps:
            there = ~np.isnan(p + q).any(axis=1)
            p, q, known = p[there], q[there], None if known is None else known[there]
        middle = (p + q) / 2 + TINY
        divergence = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
        table = np.zeros(0, np.int64)
        if two:
            cell = _bins(p[:, 1]) * N_BINS + _bins(q[:, 1])
            if known is not None:
                cell += N_BINS**2 * known
            table = np.bincount(cell, minlength=LABELS * N_BINS**2)
        return len(p), float(np.abs(p - q).sum()) / p.shape[1], divergence, table

    counts, absolute, divergences, tables = zip(*in_blocks(one, paired.n), strict=True)
    n = sum(counts)
    if n == 0:
        return None, []
    moved = {"n": n, "mean_absolute": sum(absolute) / n, "jensen_shannon": sum(divergences) / n}
    if not two:
        return moved, []
    table = np.sum(tables, axis=0).reshape(LABELS, N_BINS, N_BINS)
    has_labels = bool(table[1:].any())
    return moved, [_at_threshold(table, i, has_labels) for i in range(len(THRESHOLDS))]


def _relative_entropy(p: Float64, middle: Float64) -> float:
    """Σ p log₂ p/middle over all rows."""
    return float((p * np.log2((p + TINY) / middle)).sum())


def _bins(p: Float64) -> npt.NDArray[np.intp]:
    """The number of thresholds that each probability reaches."""
    guess = (p * N_BINS).astype(np.intp)  # right but for rounding
    guess += p >= EDGES[guess + 1]
    guess -= p < EDGES[guess]
    return guess


def _at_threshold(table: npt.NDArray[np.int64], number: int, has_labels: bool) -> dict[str, float]:
    """Churn and accuracies at a threshold, from counts by label and both models' bins."""
    low, high = slice(0, number + 1), slice(number + 1, None)
    flips = table[:, low, high].sum() + table[:, high, low].sum()
    found = {"threshold": THRESHOLDS[number], "churn": float(flips / table.sum())}
    if has_labels:
        known = table[1:].sum()
        for name, axis in (("accuracy_base", 2), ("accuracy_candidate", 1)):
            negative, positive = table[1:3].sum(axis=axis)
            found[name] = float((negative[low].sum() + positive[high].sum()) / known)
    return found
