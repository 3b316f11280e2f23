"""How far probabilities moved, and other thresholds, against scipy and plain comparisons."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from unchurn import compare
from unchurn.comparison.measures.probabilities import THRESHOLDS


def two_classes(p):
    return np.column_stack([1 - p, p])


@pytest.mark.parametrize("n", [500, 150_000])  # one block of rows, and several
def test_two_classes_at_every_threshold(rng, n):
    """Also certain ones, and probabilities that are a threshold or lie just beside one."""
    edges = np.array([0, 1, *THRESHOLDS])
    near = np.clip(np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)]), 0, 1)
    before, after = (np.where(rng.random(n) < 0.5, rng.choice(near, n), rng.random(n))
                     for _ in range(2))  # fmt: skip
    labels = rng.integers(0, 2, n)
    found = compare(two_classes(before), two_classes(after), labels=labels)
    assert [row["threshold"] for row in found.thresholds] == list(THRESHOLDS)
    for row in found.thresholds:
        one, two = before >= row["threshold"], after >= row["threshold"]
        assert row["churn"] == np.mean(one != two)
        assert row["accuracy_base"] == np.mean(one == labels)
        assert row["accuracy_candidate"] == np.mean(two == labels)
    assert found.movement is not None
    assert found.movement["mean_absolute"] == pytest.approx(np.abs(before - after).mean())


def test_only_labelled_examples_count_for_accuracy():
    p = two_classes(np.array([0.2, 0.9, 0.9]))
    found = compare(p, p, labels=[0.0, np.nan, 0.0])
    assert found.thresholds[9]["accuracy_base"] == 0.5


def test_divergence_is_scipys_also_where_a_probability_is_zero(rng):
    p, q = (rng.dirichlet(np.full(4, 0.3), 300) for _ in range(2))
    p[:10], q[5:15] = np.eye(4)[rng.integers(0, 4, 10)], np.eye(4)[rng.integers(0, 4, 10)]
    found = compare(p, q)
    assert found.thresholds == []
    assert found.movement is not None
    expected = np.mean(
        [jensenshannon(one, two, base=2) ** 2 for one, two in zip(p, q, strict=True)]
    )
    assert found.movement["jensen_shannon"] == pytest.approx(expected)


def test_nothing_moved_is_zero():
    p = np.eye(3)[[0, 1, 2, 0]]
    assert compare(p, p).movement == {"n": 4, "mean_absolute": 0, "jensen_shannon": 0}
