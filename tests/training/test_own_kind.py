"""Successors of an estimator's own kind, by `upgrade`."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from scipy.sparse import coo_matrix, csr_array, csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import toys
from unchurn import StableClassifier, bench, upgrade
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.upgrade.recipes import INSTEAD, OWN_KIND

N, OLD = 500, 250
X, Y = toys.blobs(N + 200, distance=1.5)
NAMES = np.array(["cat", "dog", "eel"])[Y]
TRAIN, TEST = (X[:N], NAMES[:N]), {"X_test": X[N:], "y_test": NAMES[N:]}
SAW = np.arange(N) < OLD


@pytest.fixture
def base():
    return GaussianNB().fit(X[:OLD], NAMES[:OLD])


def by_hand(base, a, x=X[:N], y=NAMES[:N], weights=1.0, x_fit=None):
    """A row for every class, with the weight (1 − a)·y + a·p, but for those under a hundredth."""
    model = GaussianNB()
    said = base.predict_proba(x)
    classes = base.classes_
    each = [((1 - a) * (y == name) + a * said[:, i]) * weights for i, name in enumerate(classes)]
    each = [np.where(own < 0.01 * np.max(each, axis=0), 0, own) for own in each]
    x = x if x_fit is None else x_fit
    rows, labels = np.concatenate([x] * len(classes)), np.repeat(classes, len(x))
    return model.fit(rows, labels, sample_weight=np.concatenate(each))


def test_the_successor_is_a_plain_estimator_of_the_bases_kind(base):
    found = upgrade(base, *TRAIN, base_saw=SAW, method="anchor(a=0.5)", **TEST)
    assert type(found.model) is GaussianNB
    assert found.model is not base
    assert found.method == "anchor(a=0.5)"
    expected = by_hand(base, 0.5).predict_proba(X)
    np.testing.assert_allclose(found.model.predict_proba(X), expected, rtol=1e-4, atol=1e-6)
    moved = np.mean(found.model.predict(X[N:]) != base.predict(X[N:]))
    assert found.comparison.estimates["churn"].value == moved > 0


def test_shares_too_small_to_matter_make_no_rows():
    class Counting(GaussianNB):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            self.n_ = len(y)
            return super().fit(X, y, sample_weight)

    base = Counting().fit(X[:OLD], NAMES[:OLD])
    found = upgrade(base, *TRAIN, method="anchor(a=0.5)", **TEST)
    targets = np.eye(3)[Y[:N]] + base.predict_proba(X[:N])
    assert found.model.n_ == (targets >= 0.01 * targets.max(axis=1, keepdims=True)).sum() < 3 * N


def test_without_strength_it_is_plain_retraining_bit_for_bit(base):
    plain = GaussianNB().fit(*TRAIN)
    for method in ("control", "anchor(a=0)"):
        found = upgrade(base, *TRAIN, method=method, **TEST)
        assert found.model.predict_proba(X).tobytes() == plain.predict_proba(X).tobytes()


def test_weights_of_rows_and_rows_without_labels_count(base):
    weights = np.linspace(0.1, 3, N)
    found = upgrade(base, *TRAIN, method="anchor(a=0.5)", sample_weight=weights, **TEST)
    expected = by_hand(base, 0.5, weights=weights).predict_proba(X)
    np.testing.assert_allclose(found.model.predict_proba(X), expected, rtol=1e-4, atol=1e-6)
    more = upgrade(base, X[:OLD], NAMES[:OLD], X_unlabelled=X[OLD:N], method="anchor(a=1)", **TEST)
    every = by_hand(base, 1.0).predict_proba(X)
    np.testing.assert_allclose(more.model.predict_proba(X), every, rtol=1e-4, atol=1e-6)


def test_by_default_the_first_recipe_that_costs_no_accuracy_is_taken(base):
    found = upgrade(base, *TRAIN, base_saw=SAW, random_state=0, **TEST)
    assert found.method in INSTEAD[OWN_KIND]
    assert [str(one.method) for one in found.tried[:2]] == ["control", "anchor"]
    with pytest.warns(RemarkWarning, match="too few rows that are new to the base to check"):
        few = upgrade(base, X[:150], NAMES[:150], random_state=0, **TEST)
    assert (few.method, few.tried) == ("control", ())


def test_outdated_answers_are_not_leaned_on():
    x, y = toys.blobs(2000, n_classes=2, distance=3)
    turned = np.where(np.arange(2000) < 1000, y, 1 - y)
    base = LogisticRegression().fit(x[:1000], turned[:1000])
    new = {"X_test": x[1900:], "y_test": turned[1900:], "base_saw": np.arange(1900) < 1000}
    with pytest.warns(RemarkWarning, match="outdated"):
        found = upgrade(base, x[:1900], turned[:1900], random_state=0, **new)
    assert found.method == "control"


def test_a_pipeline_takes_frames_as_they_are():
    kinds = np.array(["north", "east"])[(X[:, 2] > 0).astype(int)]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "place": kinds})
    columns = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["place"]))
    base = make_pipeline(columns, LogisticRegression()).fit(frame[:OLD], NAMES[:OLD])
    for rows in (frame.assign(new=1.0), pl.from_pandas(frame)):
        found = upgrade(
            base, rows[:N], NAMES[:N], base_saw=SAW, X_test=rows[N:], y_test=NAMES[N:],
            X_unlabelled=rows[N:], method="anchor", random_state=0,
        )  # fmt: skip
        assert found.model.named_steps.keys() == base.named_steps.keys()
        assert found.comparison.n == 200


def test_steps_of_a_pipeline_see_each_row_once_with_its_label(tmp_path):
    noise = np.random.default_rng(0).normal(size=(len(X), 20)) * 9
    wide = np.hstack([noise, X])
    for memory in (None, str(tmp_path)):
        pick = make_pipeline(SelectKBest(k=2), GaussianNB(), memory=memory)
        base = pick.fit(wide[:OLD], NAMES[:OLD])
        test = {"X_test": wide[N:], "y_test": NAMES[N:]}
        found = upgrade(base, wide[:N], NAMES[:N], method="anchor(a=0.5)", **test).model
        plain = SelectKBest(k=2).fit(wide[:N], NAMES[:N])
        assert found[0].get_support(indices=True)[0] >= 20  # none of the noise
        np.testing.assert_allclose(found[0].scores_, plain.scores_, rtol=0.2)
        by_name = by_hand(base, 0.5, wide[:N], x_fit=found[0].transform(wide[:N]))
        expected = by_name.predict_proba(found[0].transform(wide))
        np.testing.assert_allclose(found.predict_proba(wide), expected, rtol=1e-3, atol=1e-5)


def test_what_calibrates_a_model_without_weights_cannot_lean():
    for inner in (KNeighborsClassifier(), make_pipeline(GaussianNB())):
        base = CalibratedClassifierCV(inner, cv=2).fit(X[:OLD], NAMES[:OLD])
        with pytest.warns(RemarkWarning, match="takes no sample_weight"):
            assert upgrade(base, *TRAIN, **TEST).method == "control"
    base = CalibratedClassifierCV(GaussianNB(), cv=2).fit(X[:OLD], NAMES[:OLD])
    assert upgrade(base, *TRAIN, method="anchor", **TEST).comparison.n == 200


def test_columns_in_another_order_are_read_by_name():
    frame = pd.DataFrame(X, columns=list("abcdefgh")[: X.shape[1]])
    turned = frame[frame.columns[::-1]]
    test = {"X_test": turned[N:], "y_test": NAMES[N:]}
    base = LogisticRegression().fit(frame[:OLD], NAMES[:OLD])
    trees = LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(frame[:OLD], NAMES[:OLD])
    for one in (base, trees):  # LightGBM itself takes columns by their places, and says nothing
        found = upgrade(one, turned[:N], NAMES[:N], method="anchor", **test)
        right = np.mean(one.predict(frame[N:]) == NAMES[N:])
        assert found.comparison.estimates["accuracy_base"].value == right


@pytest.mark.parametrize("kind", [csr_matrix, csr_array, coo_matrix])
def test_sparse_rows_are_taken(kind):
    base = LogisticRegression().fit(X[:OLD], NAMES[:OLD])
    more = {"method": "anchor", "y_test": NAMES[N:]}
    given = {name: kind(rows) for name, rows in (("X_test", X[N:]), ("X_unlabelled", X[:9]))}
    found = upgrade(base, kind(X[:N]), NAMES[:N], **given, **more)
    same = upgrade(base, *TRAIN, X_test=X[N:], X_unlabelled=X[:9], **more)
    assert found.comparison.estimates == same.comparison.estimates


def test_categories_of_rows_without_labels_may_be_others():
    frame = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(np.where(X[:, 1] > 0, "u", "v"))})
    more = frame[N:].assign(kind=pd.Categorical(["new"] * 200))
    base = LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(frame[:OLD], NAMES[:OLD])
    test = {"X_test": frame[N:], "y_test": NAMES[N:], "method": "anchor"}
    found = upgrade(base, frame[:N], NAMES[:N], X_unlabelled=more, **test)
    assert found.comparison.n == 200
    assert more["kind"].tolist() == ["new"] * 200


class Column(GaussianNB):
    """Answers in a column, and copies a parameter, as CatBoost does."""

    def __init__(self, priors=None, var_smoothing=1e-9):
        super().__init__(priors=None if priors is None else list(priors), var_smoothing=1e-9)

    def predict(self, X):  # noqa: N803
        return super().predict(X)[:, None]


def test_answers_in_a_column_and_parameters_that_are_copied():
    priors = [0.2, 0.3, 0.5]
    base = Column(priors).fit(X[:OLD], NAMES[:OLD])
    found = upgrade(base, *TRAIN, base_saw=SAW, random_state=0, **TEST)
    assert found.model.priors == priors
    assert found.comparison.estimates["churn"].value < 0.2


def test_a_stack_has_probabilities_only_when_it_is_fitted():
    base = StackingClassifier([("one", GaussianNB())], cv=2).fit(X[:OLD], NAMES[:OLD])
    with pytest.warns(RemarkWarning, match="StackingClassifier would cross-validate with copies"):
        assert type(upgrade(base, *TRAIN, **TEST).model) is StackingClassifier


def test_members_that_vote_all_lean():
    def voting(*members):
        named = [(str(place), member) for place, member in enumerate(members)]
        return VotingClassifier([*named, ("no", "drop")], voting="soft").fit(X[:OLD], NAMES[:OLD])

    base = voting(GaussianNB(), GaussianNB())
    found = upgrade(base, *TRAIN, method="anchor(a=0.5)", **TEST).model
    assert type(found) is VotingClassifier
    expected = by_hand(base, 0.5).predict_proba(X)
    np.testing.assert_allclose(found.predict_proba(X), expected, rtol=1e-4, atol=1e-6)
    for member in (KNeighborsClassifier(), make_pipeline(GaussianNB())):
        name = type(member).__name__
        with pytest.warns(RemarkWarning, match=rf"{name}\.fit takes no sample_weight"):
            assert upgrade(voting(GaussianNB(), member), *TRAIN, **TEST).method == "control"


def test_after_a_search_comes_what_it_found():
    grid = {"var_smoothing": [1e-9, 0.5]}
    base = GridSearchCV(GaussianNB(), grid, cv=2).fit(X[:OLD], NAMES[:OLD])
    found = upgrade(base, *TRAIN, method="anchor(a=0.5)", **TEST).model
    assert type(found) is GaussianNB
    assert found.get_params() == {"priors": None, **base.best_params_}


def test_a_budget_searches_how_much_to_anchor(base):
    found = upgrade(base, *TRAIN, base_saw=SAW, max_churn=0.5, random_state=0, **TEST)
    assert len(found.tried) > 3
    best = max(found.tried, key=lambda one: one.accuracy)
    chosen = next(one for one in found.tried if str(one.method) == found.method)
    assert chosen.accuracy > best.accuracy - 0.001
    assert type(found.model) is GaussianNB


def test_a_budget_that_is_missed_is_said_at_the_callers_line(base):
    for method, hint in ((None, "Stay"), ("control", "reference: anchor does")):
        with pytest.warns(RemarkWarning, match=rf"keeps max_churn=0: .*{hint}") as said:
            upgrade(base, *TRAIN, base_saw=SAW, max_churn=0, method=method, **TEST)
        assert {one.filename for one in said} == {__file__}


def test_equal_seeds_give_equal_forests_and_none_leaves_the_estimators_own():
    base = RandomForestClassifier(10, random_state=3).fit(X[:OLD], NAMES[:OLD])
    how = {"method": "anchor", **TEST}
    one, same, other = (upgrade(base, *TRAIN, random_state=s, **how).model for s in (0, 0, 1))
    assert one.predict_proba(X).tobytes() == same.predict_proba(X).tobytes()
    assert one.predict_proba(X).tobytes() != other.predict_proba(X).tobytes()
    assert (one.random_state, upgrade(base, *TRAIN, **how).model.random_state) == (0, 3)


def test_another_estimator_or_a_network_may_be_asked_for(base):
    assert isinstance(
        upgrade(base, *TRAIN, model=LogisticRegression, method="anchor", **TEST).model,
        LogisticRegression,
    )
    frozen = FrozenEstimator(base)
    assert type(upgrade(frozen, *TRAIN, method="control", **TEST).model) is GaussianNB
    network = upgrade(base, *TRAIN, model="mlp", method="control", epochs=1, **TEST).model
    assert isinstance(network, StableClassifier)
    trees = RandomForestClassifier(5, random_state=0)
    found = upgrade(network, *TRAIN, model=trees, method="anchor", **TEST)
    assert len(found.model.estimators_) == 5
    assert not hasattr(trees, "estimators_")


def test_a_dataset_may_be_given(base):
    codes = {"y_train": Y[:N], "y_test": Y[N:], "classes": ("cat", "dog", "eel")}
    data = Dataset("mine", x_train=X[:N], x_test=X[N:], **codes)
    found = upgrade(base, data, method="anchor")
    same = upgrade(base, *TRAIN, method="anchor", **TEST)
    assert found.comparison.estimates == same.comparison.estimates


def test_a_class_that_is_new_is_left_to_the_labels():
    two = GaussianNB().fit(X[:OLD][NAMES[:OLD] != "dog"], NAMES[:OLD][NAMES[:OLD] != "dog"])
    found = upgrade(two, *TRAIN, method="anchor", **TEST)
    assert found.model.classes_.tolist() == ["cat", "dog", "eel"]
    assert np.mean(found.model.predict(X[N:]) == NAMES[N:]) > 0.7


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epochs": 3}, "epochs is for networks, and the successor is a GaussianNB"),
        ({"method": "ema"}, "ema changes more than the targets: give model='mlp'"),
        ({"model": LinearSVC()}, "LinearSVC has no predict_proba"),
        ({"model": GridSearchCV}, "GridSearchCV needs arguments: give an object of it"),
        ({"X_unlabelled": pd.DataFrame(X)}, "X_unlabelled is a pandas frame, and X a plain array"),
        ({"X_unlabelled": X[:, :2], "method": "anchor"}, "raised ValueError: X has 2 features"),
        ({"X_test": X[N:, :2]}, "the base raised ValueError: X has 2 features"),
        ({"method": "bagging+anchor"}, r"takes several models, .* unchurn.Stay\(base, new\)"),
        ({"method": "medoid(m=3)"}, "takes several models"),
    ],
)
def test_what_estimators_cannot_do_is_said(base, given, message):
    with pytest.raises(InputError, match=message):
        upgrade(base, *TRAIN, **{**TEST, **given})


def test_an_estimator_without_weights_is_retrained_plainly_and_it_is_said():
    base = KNeighborsClassifier().fit(X[:OLD], NAMES[:OLD])
    with pytest.warns(RemarkWarning, match="KNeighborsClassifier.fit takes no sample_weight"):
        found = upgrade(base, *TRAIN, **TEST)
    plain = KNeighborsClassifier().fit(*TRAIN)
    assert found.model.predict_proba(X).tobytes() == plain.predict_proba(X).tobytes()
    with pytest.raises(InputError, match=r"softens targets: KNeighborsClassifier\.fit takes no"):
        upgrade(base, *TRAIN, method="anchor", **TEST)
    with pytest.raises(InputError, match=r"KNeighborsClassifier\.fit takes no .*: leave them out"):
        upgrade(base, *TRAIN, method="control", sample_weight=np.arange(N), **TEST)


def test_an_estimators_own_error_is_one_line():
    class Refusing(DummyClassifier):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            raise ValueError("of no\nuse")

    base = DummyClassifier().fit(*TRAIN)
    with pytest.raises(InputError, match=r"^Refusing: of no use"):
        upgrade(base, *TRAIN, model=Refusing(), method="anchor", **TEST)


def test_bench_softens_the_targets_of_a_pipeline():
    model = make_pipeline(StandardScaler(), GaussianNB())
    result = bench("digits", ["control", "label_smoothing(a=0.3)"], model=model, runs=2)
    assert not any(one.failures for one in result.settings)
