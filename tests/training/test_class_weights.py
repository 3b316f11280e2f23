"""Class weights of estimators: with soft labels, they are weights of the rows as labelled."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unchurn import bench, upgrade
from unchurn.datasets.base import Dataset
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.learners.class_weights import class_weights, with_class_weights

X, Y = make_classification(
    3000, 10, n_informative=6, weights=[0.93], flip_y=0.02, class_sep=0.8, random_state=0
)
OLD, ALL, SEEN = slice(750), slice(1500), np.arange(1500) < 750
TEST = {"X_test": X[1500:], "y_test": Y[1500:]}
ANCHORED = {"base_saw": SEEN, "method": "anchor(a=0.5)", "random_state": 0, **TEST}
TREES = {"n_estimators": 20, "verbose": -1, "n_jobs": 1}


@pytest.mark.parametrize(
    ("plain", "parameters"),
    [
        (LogisticRegression(), {"class_weight": {0: 1, 1: 13}}),
        (LogisticRegression(), {"class_weight": "balanced"}),
        (make_pipeline(StandardScaler(), LogisticRegression()),
         {"logisticregression__class_weight": "balanced"}),
        (HistGradientBoostingClassifier(max_iter=20), {"class_weight": "balanced"}),
        (LGBMClassifier(**TREES), {"scale_pos_weight": 13}),
        (LGBMClassifier(**TREES), {"is_unbalance": True}),
    ],
)  # fmt: skip
def test_a_successor_weighs_each_row_by_its_label(plain, parameters):
    """As if the user had given the weights of the rows to an estimator without its own."""
    weighing = clone(plain).set_params(**parameters)
    assert class_weights(weighing) == parameters
    base = weighing.fit(X[OLD], Y[OLD])
    found = upgrade(base, X[ALL], Y[ALL], **ANCHORED).model
    assert class_weights(found) == parameters  # it has them for who trains it again
    weights = with_class_weights(base, Y[ALL], None)
    assert len(np.unique(weights)) == 2
    expected = upgrade(
        base, X[ALL], Y[ALL], sample_weight=weights, model=plain, **ANCHORED
    ).model  # fmt: skip
    assert (found.predict_proba(X) == expected.predict_proba(X)).all()
    recalls = [(one.predict(X[1500:])[Y[1500:] == 1] == 1).mean() for one in (base, found)]
    assert recalls[1] > recalls[0] - 0.1


def test_weights_of_users_count_beside_those_of_classes():
    own = LogisticRegression(class_weight={0: 1, 1: 3})
    weights = np.linspace(1, 2, 1500).astype(np.float32)
    found = with_class_weights(own, Y[ALL], weights)
    assert found.tolist() == (weights * np.where(Y[ALL] == 1, 3, 1).astype(np.float32)).tolist()
    assert with_class_weights(LogisticRegression(), Y[ALL], None) is None


def test_what_other_libraries_call_them():
    class Boosting:
        def __init__(self, **given):
            self.given = given

        def get_params(self, deep=True):
            return self.given

    labels = np.array([0, 1, 1, 1])

    def weights(**given):
        return pytest.approx(with_class_weights(Boosting(**given), labels, None).tolist())

    assert weights(class_weights=[5, 1]) == [5, 1, 1, 1]
    assert weights(class_weights=np.array([5, 1])) == [5, 1, 1, 1]
    assert weights(auto_class_weights="Balanced") == [2, 2 / 3, 2 / 3, 2 / 3]
    assert weights(auto_class_weights="SqrtBalanced") == np.sqrt([2, 2 / 3, 2 / 3, 2 / 3]).tolist()
    assert weights(is_unbalance=True) == [3, 1, 1, 1]
    three = with_class_weights(Boosting(scale_pos_weight=9), np.array([0, 1, 2]), None)
    assert three.tolist() == [1, 1, 1]  # it is for two classes


def test_parts_that_weigh_classes_differently_are_retrained_plainly():
    one, two = LogisticRegression(class_weight="balanced"), LogisticRegression()
    parts = [("one", one), ("two", LogisticRegression(class_weight={1: 2}))]
    base = VotingClassifier(parts, voting="soft").fit(X[OLD], Y[OLD])
    with pytest.warns(RemarkWarning, match="the parts of VotingClassifier have different class"):
        found = upgrade(base, X[ALL], Y[ALL], base_saw=SEEN, **TEST)
    assert found.method == "control"
    alike = VotingClassifier([("one", one), ("two", two)], voting="soft").fit(X[OLD], Y[OLD])
    assert upgrade(alike, X[ALL], Y[ALL], **ANCHORED).method == "anchor(a=0.5)"


def test_a_study_weighs_rows_by_their_labels_too():
    """Smoothing must not undo the weights of a rare class."""
    data = Dataset("rare", X[ALL], Y[ALL], X[1500:], Y[1500:], ("no", "yes"))
    model = LogisticRegression(class_weight={0: 1, 1: 13})
    found = bench(data, ["control", "label_smoothing(a=0.1)"], model=model, runs=2, workers=1)
    plain, smooth = (row.runs["test"].predictions.mean() for row in found.settings)
    assert smooth == pytest.approx(plain, abs=0.05)  # the share of "yes"
