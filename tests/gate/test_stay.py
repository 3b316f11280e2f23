import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unchurn import InputError, flips
from unchurn.gate.stay import choose_ratio, served_probabilities

BASE = np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
NEW = np.array([[0.1, 0.9], [0.3, 0.7], [0.6, 0.4], [0.4, 0.6]])
# The doubts of base over new: 0.4/0.1, 0.1/0.3, 0.2/0.4, 0.5/0.4.


def takes_new(base, new, ratio):
    """Which rows take the new model's answer."""
    return (served_probabilities(base, new, ratio) == new).all(axis=1)


def models(rng, n=300, n_classes=3):
    """Two models' probabilities, and labels of which both know something."""
    labels = rng.integers(0, n_classes, n)
    known = 2 * np.eye(n_classes)[labels]
    both = [np.exp(rng.normal(size=(n, n_classes)) + known) for _ in range(2)]
    return *(one / one.sum(axis=1, keepdims=True) for one in both), labels


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0, [1, 1, 1, 1]), (0.4, [1, 0, 1, 1]), (1, [1, 0, 0, 1]), (2, [1, 0, 0, 0]), (5, [0] * 4)],
)
def test_a_row_is_taken_below_its_ratio_of_doubts(ratio, expected):
    assert takes_new(BASE, NEW, ratio).tolist() == [bool(one) for one in expected]


@pytest.mark.parametrize("n_classes", [2, 3, 26])
def test_infinity_is_the_base_zero_the_new_and_one_the_surer(rng, n_classes):
    base, new, _ = models(rng, n_classes=n_classes)
    assert (served_probabilities(base, new, math.inf) == base).all()
    answers = [served_probabilities(base, new, c).argmax(axis=1) for c in (0, 1, 1e300)]
    assert (answers[0] == new.argmax(axis=1)).all()
    assert (answers[2] == base.argmax(axis=1)).all()
    surer = [max(b, n, key=max).argmax() for b, n in zip(base, new, strict=True)]
    assert answers[1].tolist() == surer


def test_rows_on_which_both_agree_are_the_bases(rng):
    base, new, _ = models(rng)
    agree = base.argmax(axis=1) == new.argmax(axis=1)
    assert agree.any()
    assert not takes_new(base, new, 0)[agree].any()
    assert (served_probabilities(base, new, 0)[agree] == base[agree]).all()


def test_doubts_next_to_certainty_are_told_apart():
    """In 32 bits both are certain of their answers, and only what they give the other tells."""
    base = np.array([[1, 1e-9]], np.float32)
    new = np.array([[1e-12, 1]], np.float32)
    assert base[0, 0] == new[0, 1] == 1
    assert takes_new(base, new, 900).all()
    assert not takes_new(base, new, 1100).any()


def test_two_that_are_both_certain_are_equally_sure():
    base, new = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    taken = [takes_new(base, new, ratio).item() for ratio in (0, 0.99, 1, math.inf)]
    assert taken == [True, True, False, False]


def test_certain_against_doubting():
    certain, doubting = np.array([[1.0, 0.0]]), np.array([[0.4, 0.6]])
    assert takes_new(doubting, certain, 1e300).item()
    assert not takes_new(doubting, certain, math.inf).item()
    assert not takes_new(certain, doubting, 1e-300).item()
    assert takes_new(certain, doubting, 0).item()


def counted(base, new, labels, ratio):
    answers = served_probabilities(base, new, ratio).argmax(axis=1)
    return flips(base.argmax(axis=1), answers, labels)


@pytest.mark.parametrize(("max_bad_flips", "max_churn"), [(0.02, None), (None, 0.1), (0.03, 0.08)])
def test_the_choice_is_the_best_of_all_ratios(rng, max_bad_flips, max_churn):
    base, new, labels = models(rng)
    chosen = choose_ratio(base, new, labels, max_bad_flips=max_bad_flips, max_churn=max_churn)
    tried = [counted(base, new, labels, ratio) for ratio in [0, *np.geomspace(1e-4, 1e4, 4001)]]
    within = [
        one.accuracy_second
        for one in tried
        if one.bad_flips <= (max_bad_flips or 1) * one.n and one.churn <= (max_churn or 1)
    ]
    found = counted(base, new, labels, chosen)
    assert found.accuracy_second >= max(within) > found.accuracy_first
    assert len(repr(chosen)) < 8  # it can be written down


row = st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any)
share = st.none() | st.sampled_from([0, 0.1, 0.29, 1]) | st.floats(0, 1)


@given(st.lists(st.tuples(row, row, st.integers(0, 2)), min_size=1, max_size=25), share, share)
def test_a_budget_is_never_exceeded_and_no_larger_ratio_is_as_good(rows, max_bad_flips, max_churn):
    """Of whole numbers of thirds and the like: many ratios are equal, infinite or zero."""
    base, new, labels = (np.array(column) for column in zip(*rows, strict=True))
    base, new = (one / one.sum(axis=1, keepdims=True) for one in (base, new))
    if max_bad_flips is None and max_churn is None:
        max_churn = 1.0
    ratio = choose_ratio(base, new, labels, max_bad_flips=max_bad_flips, max_churn=max_churn)
    found = counted(base, new, labels, ratio)
    assert max_bad_flips is None or found.bad_flips / found.n <= max_bad_flips
    assert max_churn is None or found.churn <= max_churn
    assert found.accuracy_second >= found.accuracy_first
    larger = [counted(base, new, labels, ratio * c) for c in (1.5, 10, 1e6)] if ratio else []
    for other in larger:
        if (other.bad_flips, other.good_flips) != (found.bad_flips, found.good_flips):
            is_allowed = max_churn is None or other.churn <= max_churn
            is_allowed &= max_bad_flips is None or other.bad_flips / other.n <= max_bad_flips
            assert other.accuracy_second < found.accuracy_second or not is_allowed


def test_without_labels_as_many_as_churn_allows(rng):
    base, new, _ = models(rng)
    n_differ = (base.argmax(axis=1) != new.argmax(axis=1)).sum()
    for allowed in (0, 1, 17, n_differ - 1, n_differ):
        ratio = choose_ratio(base, new, max_churn=allowed / len(base))
        assert takes_new(base, new, ratio).sum() == allowed
    assert choose_ratio(base, new, max_churn=1.0) == 0
    assert choose_ratio(base, new, max_churn=0.0) == math.inf


def test_equal_ratios_switch_together_or_not_at_all():
    base, new = np.tile([[0.7, 0.3]], (10, 1)), np.tile([[0.2, 0.8]], (10, 1))
    assert choose_ratio(base, new, max_churn=0.9) == math.inf
    assert choose_ratio(base, new, max_churn=1) == 0


def test_where_nothing_differs_nothing_is_taken():
    assert choose_ratio(BASE, BASE, [0, 1, 1, 0], max_bad_flips=0.5) == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: takes_new([0.5, 0.5], NEW, 1), r"base must be probabilities \(n, L\), not \(2,\)"),
        (lambda: takes_new(BASE, NEW[:2], 1), r"shape \(4, 2\), new of \(2, 2\)"),
        (lambda: takes_new(BASE, NEW * math.nan, 1), "new: row 0 is no row of probabilities"),
        (lambda: takes_new(BASE, NEW - 0.2, 1), "new: row 0 is no row of probabilities"),
        (lambda: takes_new(BASE * 3, NEW, 1), r"base: row 0 .*: \[1.7"),
        (lambda: takes_new(BASE, NEW, -1), "ratio must be a number of 0 or more, not -1"),
        (lambda: takes_new(BASE, NEW, math.nan), "ratio must be a number"),
        (lambda: choose_ratio(BASE, NEW), "Give max_bad_flips= or max_churn="),
        (lambda: choose_ratio(BASE, NEW, max_bad_flips=0.1), "max_bad_flips needs true labels"),
        (lambda: choose_ratio(BASE, NEW, max_churn=2), "max_churn must be from 0 to 1, not 2"),
        (lambda: choose_ratio(BASE, NEW, [0], max_churn=1), "1 labels for 4 rows"),
        (lambda: choose_ratio(BASE, NEW, [0, 1, 2, 0], max_churn=1), "label 2 at row 2 must be"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
