"""Files in different orders are told by models that agree no more than chance; others are not."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.gate.decide import decide

N = 600


def model(rng, truth, right, classes=2):
    """Predictions of which a share is right and the others anything."""
    return np.where(rng.random(len(truth)) < right, truth, rng.integers(0, classes, len(truth)))


def doubts(*sources, **options):
    found = compare(*sources, **options)
    said = [one for one in found.warnings if "paired by their place and hardly agree" in one]
    assert [doubt.check for doubt in found.doubts] == ["order"] * bool(said)
    return bool(said)


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05])
def test_a_shuffled_file_is_doubted_and_one_in_order_is_not(rng, share):
    truth = (rng.random(10 * N) < share).astype(int)
    base, candidate = (np.where(rng.random(10 * N) < 0.03, 1 - truth, truth) for _ in range(2))
    shuffled = rng.permutation(candidate)
    assert doubts(base, shuffled)
    assert doubts(base, shuffled, labels=truth)
    assert not doubts(base, candidate)
    frames = [pl.DataFrame({"id": range(10 * N), "prediction": x}) for x in (base, shuffled)]
    assert not doubts(*frames)  # ids tell the rows


def test_a_gate_does_not_promote_rows_in_doubt(rng):
    base = (rng.random(N) < 0.2).astype(int)
    verdict = decide(compare(base, rng.permutation(base)), {"max_churn": 0.9})
    assert [check.decision for check in verdict.checks] == ["promote", "hold"]
    assert verdict.decision == "hold"
    assert decide(compare(base, base), {"max_churn": 0.9}).decision == "promote"


def test_weak_models_are_not_doubted(rng):
    """Each right a little more often than chance, and otherwise independent."""
    for classes in (2, 10):
        for _ in range(50):
            truth = rng.integers(0, classes, N)
            assert not doubts(model(rng, truth, 0.7, classes), model(rng, truth, 0.7, classes))
    truth = rng.integers(0, 2, N)
    weak = [model(rng, truth, 0.25) for _ in range(2)]
    assert doubts(*weak)
    assert not doubts(*weak, labels=truth)  # which both go with
    rare = [(rng.random(10 * N) < 0.02).astype(int) for _ in range(2)]
    assert not doubts(*rare, labels=np.zeros(10 * N, int))  # a class of which few are missed


def test_what_leaves_nothing_to_agree_on_is_not_doubted(rng):
    base = (rng.random(N) < 0.2).astype(int)
    assert not doubts(base, np.zeros(N, int))
    assert not doubts(np.zeros(N, int), np.zeros(N, int))
    assert not doubts(base, 1 - base)  # swapped, not shuffled
    rare, other = np.zeros((2, N), int)
    rare[:3], other[2:5] = 1, 1
    assert not doubts(rare, other)
    assert not doubts(base[:49], rng.permutation(base[:49]))
