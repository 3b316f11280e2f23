import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, hamming_loss, zero_one_loss

from unchurn import ChurnSummary, churn, churn_summary, flips
from unchurn.core.errors import InputError

SERIES = pd.Series([0, 1])

# Three columns of labels of one length, as integers or as strings.
label = st.integers(-2, 2)
columns = st.lists(st.tuples(label, label, label), min_size=1, max_size=30).map(
    lambda rows: [list(column) for column in zip(*rows, strict=True)]
)
either_kind = st.sampled_from([lambda v: v, lambda v: [f"class {x}" for x in v]])


@given(columns, either_kind)
def test_churn_is_scikit_learns_disagreement_and_symmetric(three, kind):
    first, second, _ = map(kind, three)
    assert churn(first, second) == pytest.approx(zero_one_loss(first, second))
    assert churn(first, second) == churn(second, first)
    assert churn(first, first) == 0


@given(columns, either_kind)
def test_flips_add_up(three, kind):
    first, second, truth = map(kind, three)
    moved = flips(first, second, truth)
    counts = moved.to_dict()
    parts = ("unchanged_right", "unchanged_wrong", "bad_flips", "good_flips", "wrong_to_wrong")
    assert sum(counts[part] for part in parts) == moved.n == len(truth)
    assert sum(moved.rates.values()) == pytest.approx(1)
    assert moved.churn == pytest.approx(churn(first, second))
    assert moved.accuracy_first == pytest.approx(accuracy_score(truth, first))
    assert moved.accuracy_second == pytest.approx(accuracy_score(truth, second))


def test_flips_by_hand():
    moved = flips(list("aabbc"), list("abbac"), list("aacac"))
    assert (moved.unchanged_right, moved.unchanged_wrong) == (2, 1)
    assert (moved.bad_flips, moved.good_flips, moved.wrong_to_wrong) == (1, 1, 0)
    assert flips([1], [2], [3]).wrong_to_wrong == 1
    assert json.loads(json.dumps(moved.to_dict()))["rates"]["bad_flips"] == 0.2


@given(columns, either_kind)
def test_correct_and_incorrect_churn_recombine_by_their_weights(three, kind):
    """For one pair: churn = accuracy·churn_correct + (1 − accuracy)·churn_incorrect, of run i."""
    first, second, truth = map(kind, three)
    summary = churn_summary([first, second], truth, given="first")
    weight = accuracy_score(truth, first)
    parts = [(weight, summary.churn_correct.mean), (1 - weight, summary.churn_incorrect.mean)]
    assert all(math.isnan(value) == (w == 0) for w, value in parts)
    recombined = sum(w * value for w, value in parts if w > 0)
    assert recombined == pytest.approx(summary.churn.mean) == pytest.approx(churn(first, second))


def test_summary_against_scikit_learn_pair_by_pair(rng):
    truth = rng.integers(0, 4, 500)
    runs = np.where(rng.random((5, 500)) < 0.3, rng.integers(0, 4, (5, 500)), truth)
    pairs = [(i, j) for i in range(5) for j in range(5) if i < j]
    accuracy = [accuracy_score(truth, run) for run in runs]
    whole = [hamming_loss(runs[i], runs[j]) for i, j in pairs]
    both = np.array(  # by side, pair, and whether the run of that side is right or wrong
        [
            [
                [hamming_loss(runs[i][m], runs[j][m]) for m in _apart(runs[i] == truth)]
                for i, j in side
            ]
            for side in (pairs, [(j, i) for i, j in pairs])
        ]
    )
    for whose, (right, wrong) in (("first", both[0].T), ("either", both.mean(axis=0).T)):
        summary = churn_summary(runs, truth, given=whose)
        for got, values in [
            (summary.accuracy, accuracy),
            (summary.churn, whole),
            (summary.churn_correct, right),
            (summary.churn_incorrect, wrong),
        ]:
            assert got.mean == pytest.approx(np.mean(values))
            assert got.sd == pytest.approx(np.std(values, ddof=1))
            assert got.count == len(values)
        assert summary.notes == ()


def _apart(mask):
    return mask, ~mask


def test_the_order_of_the_runs_does_not_matter(rng):
    truth = rng.integers(0, 4, 300)
    runs = np.where(rng.random((4, 300)) < np.array([[0.1], [0.2], [0.3], [0.4]]), 5, truth)
    summaries = [churn_summary(order, truth) for order in (runs, runs[::-1], runs[[2, 0, 3, 1]])]
    for name in ("churn", "churn_correct", "churn_incorrect"):
        means = [getattr(summary, name).mean for summary in summaries]
        assert means == pytest.approx([means[0]] * 3)
    papers = [churn_summary(order, truth, given="first") for order in (runs, runs[::-1])]
    assert papers[0].churn_correct.mean != pytest.approx(papers[1].churn_correct.mean)


@pytest.mark.parametrize(
    "names",
    [
        [0, 256, 65536],
        [-1, 255, 2**40],
        ["eel", "cat", "a much longer name"],
        [np.uint64(2**63), np.uint64(2**63 + 1), np.uint64(2**64 - 1)],
    ],
)
def test_summary_is_the_same_for_any_naming_of_the_classes(rng, names):
    truth = rng.integers(0, 3, 50)
    runs = rng.integers(0, 3, (4, 50))
    assert churn_summary(np.array(names)[runs], np.array(names)[truth]) == churn_summary(
        runs, truth
    )


def test_integers_that_no_one_type_holds_are_told_apart():
    big = np.array([2**63, 2**63 + 1], np.uint64)
    assert churn_summary([big, big[::-1]], [-1, -1]).churn.mean == churn(big, big[::-1]) == 1


def test_undefined_slices_are_nan_with_the_reason():
    perfect = churn_summary([[0, 1], [0, 1], [0, 1]], [0, 1])
    assert perfect.churn.mean == perfect.churn_correct.mean == 0
    assert math.isnan(perfect.churn_incorrect.mean)
    assert perfect.churn_incorrect.count == 0
    assert perfect.notes == (
        "churn incorrect is undefined: no run has a wrong prediction to start from",
    )
    hopeless = churn_summary([[1, 0], [1, 1]], [0, 2])
    assert math.isnan(hopeless.churn_correct.mean)
    assert hopeless.churn_incorrect.mean == 0.5


def test_pairs_without_a_wrong_prediction_are_left_out_and_counted():
    runs = [[0, 0], [0, 1], [0, 1]]
    summary = churn_summary(runs, [0, 0], given="first")
    assert summary.churn_incorrect.mean == 0  # only the pair (1, 2) starts from a wrong prediction
    assert summary.churn_incorrect.count == 1
    assert "leaves out 2 of 3 pairs: their first run has no wrong prediction" in summary.notes[0]
    summary = churn_summary([[0, 0], [0, 0], [0, 1]], [0, 0])
    assert summary.churn_incorrect.mean == 1  # of (0, 2) and (1, 2), each from its second run
    assert summary.churn_incorrect.count == 2
    assert "leaves out 1 of 3 pairs: their runs have no wrong prediction" in summary.notes[0]


def test_two_runs_have_no_spread_of_churn_and_say_so():
    summary = churn_summary([[0, 1], [1, 1]], [0, 0])
    assert math.isnan(summary.churn.sd)
    assert "one pair" in summary.notes[0]


def test_summary_is_frozen_and_readable():
    summary = churn_summary([[0, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]], [0, 1, 1, 0])
    assert isinstance(summary, ChurnSummary)
    with pytest.raises(AttributeError):
        summary.n_runs = 4  # type: ignore[misc]
    assert summary.to_dict()["churn"] == {
        "mean": pytest.approx(1 / 3),
        "sd": pytest.approx(np.std([0.25, 0.25, 0.5], ddof=1)),
        "count": 3,
    }
    assert "churn            33.33 %  (sd 14.43 over 3 pairs)" in repr(summary)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: churn([0, 1], [0]), "first has 2 labels but second has 1"),
        (lambda: churn([0], ["a"]), "first is int64 but second is <U1"),
        (lambda: churn([0.2], [0.4]), "take the argmax"),
        (lambda: churn([], []), "first is empty"),
        (lambda: churn(["a", math.nan], ["a", "b"]), "first must be all .* row 1 is nan"),
        (lambda: flips([0, 1], [0, 1], ["a", None]), "labels must be all .* row 1 is None"),
        (lambda: churn_summary([["a", "b"], ["a", math.nan]], ["a", "b"]), "row 1 is nan"),
        (lambda: churn(SERIES, SERIES[::-1]), "indexes differ.* reset_index"),
        (lambda: flips([0, 1], SERIES, SERIES[::-1]), "indexes differ"),
        (lambda: churn_summary([SERIES, SERIES], SERIES[::-1]), "indexes differ"),
        (lambda: churn_summary([[0, 1]], [0, 1]), "at least 2 runs, not 1"),
        (lambda: churn_summary([0, 1], [0, 1]), r"predictions\[0\] must have one dimension"),
        (lambda: churn_summary([[0, 1], [0]], [0, 1]), r"predictions\[1\] has 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_pandas_series_of_one_index_are_compared_by_it_and_with_arrays_by_place():
    moved = SERIES[::-1]
    assert churn(moved, moved) == 0
    assert churn(moved, [0, 1]) == 1


@pytest.mark.parametrize(
    "other",
    [[1.0, 0.0, 1.0], ["1", "0", "1"], ["1.0", "0.0", "1.0"], [True, False, True],
     ["True", "false", "TRUE"], np.array([1, 0, 1], np.float32)],
)  # fmt: skip
def test_labels_are_the_same_whatever_type_holds_them(other):
    one, labels = [1, 0, 0], [1, 1, 1]
    assert churn(one, other) == churn(other, one) == 1 / 3
    found = flips(one, other, labels)
    assert (found.good_flips, found.bad_flips, found.unchanged_wrong) == (1, 0, 1)
    assert churn_summary([one, other, one], labels).churn.mean == pytest.approx(2 / 9)


@pytest.mark.parametrize(
    ("one", "two"),
    [([1, 0], ["a", "b"]), ([1, 0], ["007", "0"]), ([0.5, 1.0], [1, 0]), ([1.0, math.nan], [1, 0]),
     ([1.0, math.inf], [1, 0]), ([2.0**60, 1.0], [1, 0])],
)  # fmt: skip
def test_what_is_no_label_is_refused(one, two):
    with pytest.raises(InputError):
        churn(one, two)
    with pytest.raises(InputError):
        churn(two, one)
