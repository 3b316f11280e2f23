"""Models of other frameworks take part through one function."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

import toys
from unchurn import bench, weighted_rows
from unchurn.core.errors import InputError
from unchurn.methods import METHODS, Anchor, Control, Ensemble, KnnLS
from unchurn.study.design.settings import make_setting
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.learners.function import FunctionLearner
from unchurn.training.learners.make import make_learner
from unchurn.training.learners.sklearn import SklearnLearner, parameter_names

X, Y = toys.blobs(240)
DATA = toys.dataset(240)


def boosted_trees(x, targets, seed):
    rows, labels, weights = weighted_rows(x, targets)
    parameters = {"objective": "multiclass", "num_class": 3, "seed": seed, "verbosity": -1,
                  "bagging_fraction": 0.5, "bagging_freq": 1, "num_threads": 1}  # fmt: skip
    return lgb.train(parameters, lgb.Dataset(rows, labels, weight=weights), 10).predict


@pytest.mark.parametrize("learner", [toys.extra_trees, boosted_trees])
def test_a_learner_takes_part_with_the_methods_that_change_targets(learner):
    methods = [toys.SMALL.get(n, n) for n, kind in METHODS.items() if kind.changes == "targets"]
    result = bench(DATA, methods, learner=learner, runs=3, workers=1, validation=False)
    assert list(result.by_method) == [method.partition("(")[0] for method in methods]
    for setting in result.settings:
        assert setting.summary["test"].accuracy.mean > 0.5
    churn = {name: r.summary["test"].churn.mean for name, r in result.choose().items()}
    assert 0 < churn["ensemble"] < churn["control"]
    again = bench(DATA, methods, learner=learner, runs=3, workers=1, validation=False)
    assert again.table("csv") == result.table("csv")


@pytest.mark.parametrize("model", [LGBMClassifier(), make_pipeline(PCA(2), LGBMClassifier())])
def test_lightgbm_is_quiet_unless_told_otherwise(capfd, model):
    """And its runs are the same: what is said is no part of their identity."""
    short = {name: 2 for name in model.get_params() if name.endswith("n_estimators")}
    train = SklearnLearner(clone(model).set_params(**short)).train
    train(X, np.eye(3, dtype=np.float32)[Y], 0)(X)
    assert capfd.readouterr() == ("", "")
    (name,) = short
    loud = clone(train.estimator).set_params(**{name.replace("n_estimators", "verbose"): 1})
    SklearnLearner(loud).train(X, np.eye(3, dtype=np.float32)[Y], 0)
    assert "[LightGBM] [Info]" in "".join(capfd.readouterr())


class Counted(ClassifierMixin, BaseEstimator):
    """Says how many threads libraries have while it trains and predicts."""

    seen = []  # noqa: RUF012 - of all clones

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        self.seen.append(n_threads())
        return self

    def predict_proba(self, x):
        self.seen.append(n_threads())
        return np.full((len(x), 3), 1 / 3)


def n_threads():
    return {one["num_threads"] for one in threadpool_info()}


def test_an_estimator_has_one_thread():
    """Whatever trains beside it takes the other cores; afterwards all is as it was."""
    with threadpool_limits(2):
        SklearnLearner(Counted()).train(X, np.eye(3, dtype=np.float32)[Y], 0)(X)
        assert Counted.seen == [{1}, {1}]
        assert n_threads() == {2}


def test_an_estimators_own_number_of_threads_stays():
    for given, expected in ((None, 1), (-1, 1), (2, 2)):
        train = SklearnLearner(LGBMClassifier(n_estimators=2, n_jobs=given)).train
        predict = train(X, np.eye(3, dtype=np.float32)[Y], 0)
        assert predict.model.n_jobs == expected


@pytest.mark.parametrize(
    "model", [HistGradientBoostingClassifier(max_iter=2), LGBMClassifier(n_estimators=2, n_jobs=2)]
)
def test_one_thread_trains_what_several_do(model):
    with threadpool_limits(2):
        several = clone(model).set_params(random_state=0).fit(X, Y).predict_proba(X)
    ours = SklearnLearner(model).train(X, np.eye(3, dtype=np.float32)[Y], 0)(X)
    np.testing.assert_allclose(ours, several, rtol=1e-6)


def test_shared_fits_are_those_that_separate_ones_would_be():
    settings = [make_setting("control"), make_setting("knn_ls", k=7), make_setting("ensemble", m=3)]
    result = bench(DATA, settings, learner=toys.extra_trees, runs=2, workers=1, validation=False)
    for setting, method in zip(
        result.settings, (Control(), KnnLS(k=7), Ensemble(m=3)), strict=True
    ):
        for run in range(2):
            alone = FunctionLearner(toys.extra_trees).fit(
                method, X[:120], Y[:120], 3, seed=0, run=run
            )
            expected = alone.probabilities(X[120:]).argmax(axis=1)
            np.testing.assert_array_equal(setting.predictions["test"][run], expected)


def test_probabilities_of_zero_are_finite_as_logits():
    given = []

    def certain(x, targets, seed):
        given.append(targets)
        return lambda x: np.tile([1.0, 0.0, 0.0], (len(x), 1))

    FunctionLearner(certain).fit(Anchor(a=1.0), X[:120], Y[:120], 3, seed=0, run=0)
    np.testing.assert_allclose(given[1], np.tile([1, 0, 0], (120, 1)), atol=1e-6)


def test_predictions_of_the_wrong_shape_or_none_at_all_are_refused():
    def short(x, targets, seed):
        return lambda x: np.ones((len(x), 2)) / 2

    with pytest.raises(InputError, match=r"shape \(120, 3\), not \(120, 2\): a column for every"):
        bench(DATA, ["control"], learner=short, runs=2, workers=1, validation=False)

    def broken(x, targets, seed):
        return lambda x: np.full((len(x), 3), np.nan)

    result = bench(DATA, ["control"], learner=broken, runs=2, workers=1, validation=False)
    assert "not finite" in result.settings[0].failures[0]


def test_an_error_in_own_code_is_said_to_be_its_own(tmp_path, monkeypatch):
    own = "own_code_that_fails"  # of which there is no other: it stays imported
    file = tmp_path / f"{own}.py"
    file.write_text(
        "def bad(x, targets, seed):\n"
        "    raise RuntimeError('boom')\n"
        "def worse(x, targets, seed):\n"
        "    return lambda x: {}['probabilities']\n"
        "from sklearn.dummy import DummyClassifier\n"
        "class Own(DummyClassifier):\n"
        "    def fit(self, x, y):\n"
        "        raise RuntimeError\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name, said, kind in (
        (f"{own}:bad", f"{own}:bad raised RuntimeError: boom ({file}, line 2)", RuntimeError),
        (
            f"{own}:worse",
            f"{own}:worse raised KeyError: 'probabilities' ({file}, line 4)",
            KeyError,
        ),
        (f"{own}:Own", f"Own raised RuntimeError ({file}, line 8)", RuntimeError),
    ):
        with pytest.raises(InputError) as caught:
            bench(DATA, ["control"], model=name, runs=2, workers=1, validation=False)
        assert str(caught.value) == said
        assert type(caught.value.__cause__) is kind


def test_a_parameter_that_no_estimator_names_is_refused_or_noted():
    """LightGBM takes any name: it may be one of its own, or misspelt."""
    wrong = r"no parameter 'max_itr' \(did you mean 'max_iter'\?\): there are"
    for model in (HistGradientBoostingClassifier, HistGradientBoostingClassifier()):
        with pytest.raises(InputError, match=f"HistGradientBoostingClassifier: {wrong}"):
            make_learner(model, None, {"max_itr": 3})
    assert make_learner(HistGradientBoostingClassifier).remark is None
    for known in ({"n_estimators": 3}, {"verbosity": -1, "bagging_fraction": 0.5}):
        assert make_learner("lightgbm", None, known).remark is None
    remark = make_learner("lightgbm", None, {"n_estimatorz": 3}).remark
    misspelt = "LGBMClassifier: no parameter 'n_estimatorz' (did you mean 'n_estimators'?): it is"
    assert remark.startswith(misspelt)
    assert remark.endswith("it is handed on to the library, which may know it by this name")
    with pytest.warns(RemarkWarning, match="no parameter 'n_estimatorz'"):
        bench(DATA, ["control"], model="lightgbm", model_args={"n_estimatorz": 3, "num_leaves": 3},
              runs=2, workers=1)  # fmt: skip


def test_a_pipeline_that_picks_columns_by_name_is_refused_with_a_way_out():
    by_name = make_column_transformer((StandardScaler(), ["age"]))
    pipeline = make_pipeline(by_name, ExtraTreesClassifier(2))
    with pytest.raises(InputError, match=r"dataframes\. It is given numbers, prepared from the t"):
        bench(DATA, ["control"], model=pipeline, runs=2, workers=1, validation=False)


def test_methods_that_change_more_are_refused():
    with pytest.raises(InputError, match="mixup changes more than the targets"):
        bench(DATA, ["control", "mixup"], learner=toys.extra_trees)


def test_weighted_rows_keep_every_bit_of_weight(rng):
    targets = rng.dirichlet(np.ones(3), 50).astype(np.float32)
    targets[:10] = np.eye(3)[rng.integers(0, 3, 10)]
    rows, labels, weights = weighted_rows(X[:50], targets)
    assert len(rows) == 10 + 3 * 40
    back = np.zeros_like(targets)
    where = [np.flatnonzero((X[:50] == row).all(axis=1))[0] for row in rows]
    back[where, labels] = weights
    np.testing.assert_array_equal(back, targets)


def test_only_what_is_handed_on_is_looked_for_in_what_an_estimator_is_derived_from():
    assert "estimator" not in parameter_names(ExtraTreesClassifier)  # of the class it derives from
    assert "n_estimators" in parameter_names(ExtraTreesClassifier)


def test_catboost_has_a_seed_and_is_quiet_whatever_it_was_given():
    """It tells only of parameters that were set, so a seed that was not must be given by name."""

    class Boosting(BaseEstimator):
        __module__ = "catboost.core"

        def __init__(self, **given):
            self.given = given

        def get_params(self, deep=True):
            return dict(self.given)

        def set_params(self, **given):
            self.given |= given
            return self

        def fit(self, x, y):
            seen.append(dict(self.given))
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, x):
            return np.full((len(x), 3), 1 / 3)

    seen = []
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    targets = np.eye(3, dtype=np.float32)[Y]
    SklearnLearner(Boosting(depth=3)).train(X, targets, 5)
    SklearnLearner(Boosting(random_seed=7, silent=True)).train(X, targets, 5)
    assert seen == [
        {"depth": 3, "random_state": 5, **quiet},
        {"random_seed": 5, "silent": True, "allow_writing_files": False, "thread_count": 1},
    ]


def test_rows_of_a_frame_are_weighted_too():
    frame = pd.DataFrame({"a": [5, 6]})
    rows, labels, weights = weighted_rows(frame, np.float32([[0.75, 0.25], [0, 1]]))
    assert rows["a"].tolist() == [5, 5, 6]
    assert (labels.tolist(), weights.tolist()) == ([0, 1, 1], [0.75, 0.25, 1])
