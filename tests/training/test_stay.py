import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import toys
from unchurn import InputError, StableClassifier, Stay, flips

X, Y = toys.blobs(600, distance=1)
NAMES = np.array(["eel", "cat", "dog"])[Y]
FIRST, REST = slice(0, 300), slice(300, None)


class Fixed:
    """A model that says what it is told, whatever it sees."""

    def __init__(self, classes, probabilities):
        self.classes_ = np.array(classes)
        self.probabilities = np.array(probabilities)

    def predict_proba(self, x):
        return self.probabilities[: len(x)]


def two():
    return GaussianNB().fit(X[:40], NAMES[:40]), LogisticRegression().fit(X[FIRST], NAMES[FIRST])


def test_infinity_is_the_base_zero_the_new_and_one_the_surer():
    base, new = two()
    assert (Stay(base, new, math.inf).predict(X) == base.predict(X)).all()
    assert (Stay(base, new, ratio=0).predict(X) == new.predict(X)).all()
    is_new = new.predict_proba(X).max(axis=1) > base.predict_proba(X).max(axis=1)
    expected = np.where(is_new, new.predict(X), base.predict(X))
    assert (Stay(base, new, 1).predict(X) == expected).all()
    assert 0 < is_new.mean() < 1


@pytest.mark.parametrize(
    "new",
    [
        HistGradientBoostingClassifier(max_iter=10),
        StableClassifier(method="control", epochs=5, batch_size=32, random_state=0),
    ],
    ids=["trees", "network"],
)
def test_a_budget_is_kept_on_the_rows_that_chose(new):
    base, _ = two()
    model = Stay(base, new.fit(X[FIRST], NAMES[FIRST]))
    assert model.choose(X[REST], NAMES[REST], max_bad_flips=0.01, max_churn=0.1) is model
    found = flips(base.predict(X[REST]), model.predict(X[REST]), NAMES[REST])
    assert found.bad_flips / found.n <= 0.01
    assert 0 < found.churn <= 0.1
    assert found.accuracy_second == model.score(X[REST], NAMES[REST]) >= found.accuracy_first


def test_churn_alone_needs_no_labels():
    base, new = two()
    model = Stay(base, new).choose(X, max_churn=0.02)
    assert 0 < (model.predict(X) != base.predict(X)).mean() <= 0.02
    with pytest.raises(InputError, match="max_bad_flips needs true labels: give y"):
        model.choose(X, max_bad_flips=0.1)


def test_classes_are_matched_by_name_and_new_ones_are_new():
    base = Fixed(["dog", "cat"], [[0.9, 0.1], [0.4, 0.6]])
    new = Fixed(["eel", "dog"], [[0.2, 0.8], [0.9, 0.1]])
    model = Stay(base, new, ratio=2.0)
    assert model.classes_.tolist() == ["cat", "dog", "eel"]
    assert model.predict_proba([0, 0]).tolist() == [[0.1, 0.9, 0.0], [0.0, 0.1, 0.9]]
    assert model.predict([0, 0]).tolist() == ["dog", "eel"]
    assert (
        model.choose([0, 0], ["dog", "eel"], max_bad_flips=0.0).score([0, 0], ["dog", "eel"]) == 1
    )


def test_numbers_are_classes_too():
    base = Fixed([1, 2], [[0.9, 0.1]])
    assert Stay(base, Fixed([2, 10], [[0.01, 0.99]])).predict([0]).tolist() == [10]


def test_a_clone_keeps_its_fitted_models():
    base, new = two()
    copy = clone(Stay(base, new, ratio=3))
    assert (copy.base, copy.new, copy.ratio) == (base, new, 3)
    assert copy.set_params(ratio=5).ratio == 5
    assert repr(Stay(base, new, ratio=3)).startswith("Stay(base=GaussianNB()")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b, n: Stay(GaussianNB(), n).predict(X), "base must be fitted and have predict_pr"),
        (lambda b, n: Stay(b, "new").predict(X), "new must be fitted and have predict_proba"),
        (lambda b, n: Stay(b, Fixed([1, 2], [[0.5, 0.5]])).predict(X), "base has the classes"),
        (lambda b, n: Stay(b, Fixed(["x"], np.ones((1, 2)))).predict([X[0]]), "new has 1 classes"),
        (lambda b, n: Stay(b, n).choose(X, Y, max_churn=1), r"labels such as \[\d\] for classes"),
        (lambda b, n: Stay(b, n).choose(X[:1], ["cow"], max_churn=1), "class 'cow' of row 0"),
        (lambda b, n: Stay(b, n, ratio=-1).predict(X), "ratio must be a number of 0 or more"),
        (lambda b, n: Stay(b, n).choose(X, NAMES), "Give max_bad_flips= or max_churn="),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call(*two())
