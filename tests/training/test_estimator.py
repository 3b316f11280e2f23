import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

import toys
from unchurn import StableClassifier, load, load_table
from unchurn.core.errors import InputError
from unchurn.methods import Anchor, Control, KnnLS, LabelSmoothing
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(120, distance=2)
NAMES = np.array(["eel", "cat", "dog"])[Y]
# Weighting an example is not repeating it when batches are drawn at random and neighbours counted.
NOT_APPLICABLE = {
    "check_sample_weight_equivalence_on_dense_data": "batches are drawn at random",
}


# A check takes seconds: not of every method, but of every hook that one has.
HOOKS = (
    "control", "knn_ls", "ensemble(m=2)+ema", "bi_tempered", "codistill_kl", "mixup+decay", "twin",
    "medoid(m=2)+smelu+weight_decay", "early", "elodi(m=2)", "bagging(m=2)",
)  # fmt: skip


@pytest.mark.parametrize("method", HOOKS)
def test_scikit_learns_own_checks(method):
    with warnings.catch_warnings():
        # Our own on warm-ups that tiny data does not reach, scikit-learn's on checks it skips.
        warnings.filterwarnings("ignore", message="n_warm=1000 is never reached")
        warnings.filterwarnings("ignore", message="(?s).*check_array_api_input")
        check_estimator(StableClassifier(method=method), expected_failed_checks=NOT_APPLICABLE)


def test_string_labels_and_all_ways_to_predict():
    fitted = toys.classifier(epochs=20).fit(X, NAMES)
    assert fitted.classes_.tolist() == ["cat", "dog", "eel"]
    p = fitted.predict_proba(X)
    assert (fitted.predict(X) == fitted.classes_[p.argmax(axis=1)]).all()
    assert fitted.score(X, NAMES) > 0.8
    logits = torch.from_numpy(fitted.decision_function(X))
    np.testing.assert_allclose(torch.softmax(logits, 1).numpy(), p, atol=1e-6)
    two = toys.classifier().fit(X, Y == 1)
    margin = two.decision_function(X)
    assert margin.shape == (120,)
    assert ((margin > 0) == two.predict(X)).all()


def test_pandas_goes_in_as_it_is():
    frame, labels = pd.DataFrame(X, columns=list("abcd")), pd.Series(NAMES)
    fitted = toys.classifier().fit(frame, labels)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert (fitted.predict(frame) == toys.classifier().fit(X, NAMES).predict(X)).all()


def test_images_keep_their_shape():
    data = load("digits")
    images = np.kron(data.x_train[:200], np.ones((1, 2, 2), np.float32))
    fitted = toys.classifier(module="lenet5").fit(images, data.y_train[:200])
    assert fitted.shape_ == (16, 16)
    with pytest.raises(InputError, match=r"inputs of shape \(16, 15\), the model \(16, 16\)"):
        fitted.predict(images[:, :, :15])


def test_equal_seeds_equal_bits():
    one, two = (toys.classifier(method="knn_ls").fit(X, Y).predict_proba(X) for _ in range(2))
    assert one.tobytes() == two.tobytes()
    other = toys.classifier(method="knn_ls", random_state=1).fit(X, Y).predict_proba(X)
    assert (one != other).any()
    state = np.random.RandomState(0)
    twice = [toys.classifier(random_state=state).fit(X, Y).predict_proba(X) for _ in range(2)]
    assert (twice[0] != twice[1]).any()


def test_clone_pipeline_cross_validation_and_grid_search():
    assert clone(toys.classifier(method=KnnLS(k=3))).method == KnnLS(k=3)
    pipeline = make_pipeline(StandardScaler(), toys.classifier(epochs=20))
    assert cross_val_score(pipeline, X, NAMES, cv=3).min() > 0.6
    grid = {"method__a": [0.0, 0.5], "epochs": [5]}
    search = GridSearchCV(toys.classifier(method=LabelSmoothing()), grid, cv=2).fit(X, Y)
    assert search.best_params_["method__a"] in (0.0, 0.5)
    assert search.best_estimator_.method.a == search.best_params_["method__a"]


def test_sample_weights_count():
    wrong = np.where(np.arange(120) % 2, Y, (Y + 1) % 3)
    weights = np.arange(120) % 2
    options = {"epochs": 20, "batch_size": 16}
    assert toys.classifier(**options).fit(X, wrong, sample_weight=weights).score(X, Y) > 0.8
    assert toys.classifier(**options).fit(X, wrong).score(X, Y) < 0.75


def test_own_network():
    fitted = toys.classifier(module=toys.linear, epochs=40).fit(X, Y)
    assert isinstance(fitted.fitted_.members[0][0], nn.Linear)
    assert fitted.score(X, Y) > 0.7


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"reference_logits": np.zeros((120, 2))}, r"shape \(120, 3\), not \(120, 2\)"),
        ({}, {"reference_logits": np.full((120, 3), np.nan)}, "must be finite"),
        ({}, {"reference_probabilities": np.ones((120, 3))}, "sum to 1 in every row"),
        (
            {},
            {"reference_logits": np.zeros((120, 3)), "reference_probabilities": np.zeros((120, 3))},
            "give only one of",
        ),
        ({"reference": "gone"}, {}, "gone"),
        ({"method": "best"}, {}, "no method 'best'"),
        ({"module": "cnn"}, {}, "no model 'cnn'"),
        ({"epochs": 0}, {}, "epochs must be a whole number of at least 1, not 0"),
        ({"epochs": 2.0}, {}, "epochs must be a whole number of at least 1, not 2.0"),
        ({"learning_rate": float("inf")}, {}, "learning_rate must be a number"),
        ({"device": "tpu9"}, {}, "device 'tpu9' cannot be used"),
        ({"module": nn.Linear(4, 3)}, {}, "module must be a name or a function"),
        ({"module": ExtraTreesClassifier()}, {}, "trains networks, and module is an estimator"),
        (
            {"module": lambda shape, n: nn.Linear(4, 1)},
            {},
            r"logits of shape \(32, 3\).*not \(32, 1\)",
        ),
        ({"method": "anchor", "reference": Control()}, {}, "reference must be a fitted classifier"),
        ({"method": KnnLS(k=121)}, {}, "k must be from 1 to the number of points, 120"),
        ({}, {"sample_weight": np.ones(3)}, r"shape \(120,\), not \(3,\)"),
        ({}, {"sample_weight": -np.ones(120)}, "0 or more"),
    ],
)
def test_bad_input_is_named(options, given, message):
    options = {"method": "anchor"} | options
    with pytest.raises((InputError, FileNotFoundError), match=message):
        toys.classifier(**options).fit(X, Y, **given)


def test_a_network_class_may_have_predict_proba():
    class Own(nn.Linear):
        def __init__(self, shape, n_classes):
            super().__init__(shape[0], n_classes)

        def predict_proba(self, x):
            return self(x).softmax(dim=1)

    assert toys.classifier(module=Own).fit(X, Y).predict_proba(X).shape == (120, 3)


def test_a_method_by_name_can_be_searched():
    search = GridSearchCV(
        toys.classifier(method="label_smoothing"), {"method__a": [0.1, 0.5]}, cv=2
    )
    assert search.fit(X, Y).best_estimator_.method.a in (0.1, 0.5)


def test_numbers_of_numpy_are_numbers(tmp_path):
    method = KnnLS(k=np.int64(5), a=np.float32(0.5))
    fitted = toys.classifier(method=method, batch_size=np.int64(32), epochs=np.int32(2)).fit(X, Y)
    fitted.save(tmp_path / "model")
    assert StableClassifier.load(tmp_path / "model").method == KnnLS(k=5, a=0.5)


def test_an_interrupted_refit_leaves_the_model_as_it_was(monkeypatch):
    fitted = toys.classifier().fit(X, NAMES)
    before = fitted.predict(X)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("unchurn.training.estimator.fitting.fit_together", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, np.array(["x", "y", "z"])[Y])
    assert (fitted.predict(X) == before).all()


@pytest.mark.parametrize("method", ["control", "longer(times=2)+anchor", "ensemble(m=2)", "twin"])
@pytest.mark.parametrize("has_reference", [False, True])
def test_progress_ends_at_its_total(method, has_reference, monkeypatch):
    seen = []

    @contextmanager
    def bar(text, total, *, show):
        seen.append(total)
        yield seen.append

    monkeypatch.setattr("unchurn.training.estimator.fitting.progress_bar", bar)
    model = toys.classifier(method=method, epochs=3)
    given = {"reference_logits": np.eye(3)[Y]} if has_reference and "anchor" in method else {}
    model.fit(X, Y, **given)
    total, *steps = seen
    assert sum(steps) == total


def test_progress_when_verbose_only_on_a_terminal(capsys):
    toys.classifier(verbose=True).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def test_a_dataset_is_scored_on_its_test_part():
    data = toys.dataset(200)
    few = {"module": mlp, "epochs": 3, "random_state": 0}  # arrays are not scaled for it, either
    by_name = StableClassifier(**few).fit(data)
    names = np.array(data.classes)[data.y_test]
    expected = np.mean(by_name.predict(data.x_test) == names)
    assert by_name.score(data) == by_name.score(data.x_test, names) == expected
    by_number = StableClassifier(**few).fit(data.x_train, data.y_train)
    assert by_number.score(data) == by_number.score(data.x_test, data.y_test) == expected
    with pytest.raises(InputError, match="y has numbers, and the classes have names"):
        by_name.score(data.x_test, data.y_test)


def test_a_failed_refit_leaves_the_model_as_it_was():
    fitted = toys.classifier().fit(X, Y)
    before = fitted.predict_proba(X)
    with pytest.raises(InputError, match="1 class"):
        fitted.fit(np.hstack([X, X]), np.zeros(len(X)))
    with pytest.raises(InputError, match="1 class"):
        fitted.fit(pd.DataFrame(X, columns=[*"abcd"]), np.zeros(len(X)))
    assert fitted.predict_proba(X).tobytes() == before.tobytes()
    assert not hasattr(fitted, "feature_names_in_")


def test_a_method_and_its_parameter_are_set_at_once():
    found = toys.classifier().set_params(method="anchor", method__a=0.3)
    assert found.method == Anchor(a=0.3)
    grid = {"method": ["label_smoothing"], "method__a": [0.1, 0.5]}
    GridSearchCV(toys.classifier(epochs=1), grid, cv=2).fit(X, Y)


def test_a_method_by_name_suits_a_short_training():
    """Two networks that meet at step 1,000 would never meet."""
    short = toys.classifier(method="codistill_ce").fit(X, Y)
    assert short.method_.n_warm < 20
    with pytest.warns(RemarkWarning, match="n_warm=1000 is never reached") as found:
        toys.classifier(method="codistill_ce(n_warm=1000)").fit(X, Y)
    assert found[0].filename == __file__


def test_a_dataset_is_prepared_already():
    data = load_table(toys.frame(60), "y", aside="row")
    with pytest.raises(InputError, match="its own labels and preparation: give it alone"):
        toys.classifier().fit(data, preparation=data.preparation)
