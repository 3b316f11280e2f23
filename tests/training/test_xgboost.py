"""XGBoost's trees in production: their successors, and studies of them."""

import numpy as np
import pytest
from xgboost import XGBClassifier

import toys
from unchurn import bench, upgrade
from unchurn.core.errors import InputError
from unchurn.training.upgrade.recipes import INSTEAD, OWN_KIND

X, Y = toys.blobs(700, distance=1.5)
SAW = np.arange(500) < 250
TEST = {"X_test": X[500:], "y_test": Y[500:]}


def trees(**options):
    return XGBClassifier(n_estimators=10, n_jobs=1, **options)


@pytest.fixture(scope="module")
def base():
    return trees().fit(X[:250], Y[:250])


def test_the_successor_is_of_the_same_kind_and_follows_its_base(base):
    found = upgrade(base, X[:500], Y[:500], base_saw=SAW, random_state=0, **TEST)
    assert type(found.model) is XGBClassifier
    assert found.model.n_estimators == 10
    assert found.method in INSTEAD[OWN_KIND]
    plain, leaning = (
        upgrade(base, X[:500], Y[:500], method=how, random_state=0, **TEST).comparison
        for how in ("control", "anchor(a=0.8)")
    )
    assert leaning.estimates["churn"].value < plain.estimates["churn"].value


def test_without_strength_it_is_plain_retraining_bit_for_bit(base):
    found = upgrade(base, X[:500], Y[:500], method="anchor(a=0)", **TEST)
    plain = trees().fit(X[:500], Y[:500])
    assert found.model.predict_proba(X).tobytes() == plain.predict_proba(X).tobytes()


def test_stopping_early_has_nothing_to_stop_by(base):
    stops = trees(early_stopping_rounds=2)
    stops.fit(X[:250], Y[:250], eval_set=[(X[250:], Y[250:])], verbose=False)
    with pytest.raises(InputError, match=r"XGBClassifier: .* validation dataset"):
        upgrade(stops, X[:500], Y[:500], **TEST)


def test_runs_of_a_study_differ_by_their_seed():
    sampled = {"n_estimators": 5, "subsample": 0.5, "n_jobs": 1}
    result = bench(
        toys.dataset(), ["control", "bagging(m=2)"], model=XGBClassifier,
        model_args=sampled, runs=2, workers=1,
    )  # fmt: skip
    control = result.settings[0].predictions["test"]
    assert (control[0] != control[1]).any()
