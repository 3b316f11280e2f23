"""Soft labels as weighted copies of rows: what estimators make of them."""

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
)
from sklearn.naive_bayes import GaussianNB

import toys
from unchurn import upgrade

N, OLD = 500, 250
X, Y = toys.blobs(N + 200, distance=1.5)
NAMES = np.array(["cat", "dog", "eel"])[Y]
TRAIN, TEST = (X[:N], NAMES[:N]), {"X_test": X[N:], "y_test": NAMES[N:]}
SAW = np.arange(N) < OLD


@pytest.fixture
def base():
    return GaussianNB().fit(X[:OLD], NAMES[:OLD])


def test_weights_do_not_make_soft_labels_hard(base):
    """0.75 of a row that weighs 4/3 is 1, as of a row that is of one class."""
    options = {"base_saw": SAW, "method": "label_smoothing(a=0.375)", **TEST}
    one, two = (
        upgrade(base, *TRAIN, sample_weight=np.full(N, weight), **options).model
        for weight in (1.0, 4 / 3)
    )
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("limit", [400, 600])
def test_boosting_stops_early_by_rows_not_by_their_copies(limit, monkeypatch):
    """500 rows become about 1,000 copies, which must not be on both sides of a split."""
    monkeypatch.setattr("unchurn.training.learners.soft_targets.STOPS_EARLY_ABOVE", limit)
    before = HistGradientBoostingClassifier(max_iter=20).fit(X[:OLD], NAMES[:OLD])
    given = {}

    class Spy(HistGradientBoostingClassifier):
        def fit(self, X, y, sample_weight=None, X_val=None, **options):  # noqa: N803
            given.update(x=X, held=X_val)
            return super().fit(X, y, sample_weight, X_val=X_val, **options)

    model = Spy(max_iter=20, random_state=0)
    found = upgrade(before, *TRAIN, base_saw=SAW, method="anchor(a=0.5)", model=model, **TEST).model
    assert found.early_stopping == "auto"  # as it was given, for who trains it again
    assert found.do_early_stopping_ == (limit < N)
    if limit > N:
        assert given["held"] is None
    else:
        seen, held = ({row.tobytes() for row in given[part]} for part in ("x", "held"))
        assert not seen & held
        assert (len(seen), len(held)) == (450, 50)
