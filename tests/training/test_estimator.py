import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

import toys
from unchurn import METHODS, StableClassifier, load, load_table
from unchurn.core.errors import InputError
from unchurn.datasets.preparation import prepare
from unchurn.methods import Anchor, BiTempered, Control, KnnLS, LabelSmoothing, make_method
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(120, distance=2)
NAMES = np.array(["eel", "cat", "dog"])[Y]

# Weighting an example is not repeating it when batches are drawn at random and neighbours counted.
NOT_APPLICABLE = {
    "check_sample_weight_equivalence_on_dense_data": "batches are drawn at random",
}


def model(**options):
    options = {"method": "control", "epochs": 5, "batch_size": 32, "random_state": 0} | options
    return StableClassifier(**options)


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
    fitted = model(epochs=20).fit(X, NAMES)
    assert fitted.classes_.tolist() == ["cat", "dog", "eel"]
    p = fitted.predict_proba(X)
    assert (fitted.predict(X) == fitted.classes_[p.argmax(axis=1)]).all()
    assert fitted.score(X, NAMES) > 0.8
    logits = torch.from_numpy(fitted.decision_function(X))
    np.testing.assert_allclose(torch.softmax(logits, 1).numpy(), p, atol=1e-6)
    two = model().fit(X, Y == 1)
    margin = two.decision_function(X)
    assert margin.shape == (120,)
    assert ((margin > 0) == two.predict(X)).all()


def test_pandas_goes_in_as_it_is():
    frame, labels = pd.DataFrame(X, columns=list("abcd")), pd.Series(NAMES)
    fitted = model().fit(frame, labels)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert (fitted.predict(frame) == model().fit(X, NAMES).predict(X)).all()


def test_images_keep_their_shape():
    data = load("digits")
    images = np.kron(data.x_train[:200], np.ones((1, 2, 2), np.float32))
    fitted = model(module="lenet5").fit(images, data.y_train[:200])
    assert fitted.shape_ == (16, 16)
    with pytest.raises(InputError, match=r"inputs of shape \(16, 15\), the model \(16, 16\)"):
        fitted.predict(images[:, :, :15])


def test_equal_seeds_equal_bits():
    one, two = (model(method="knn_ls").fit(X, Y).predict_proba(X) for _ in range(2))
    assert one.tobytes() == two.tobytes()
    assert (one != model(method="knn_ls", random_state=1).fit(X, Y).predict_proba(X)).any()
    state = np.random.RandomState(0)
    twice = [model(random_state=state).fit(X, Y).predict_proba(X) for _ in range(2)]
    assert (twice[0] != twice[1]).any()


def test_clone_pipeline_cross_validation_and_grid_search():
    assert clone(model(method=KnnLS(k=3))).method == KnnLS(k=3)
    pipeline = make_pipeline(StandardScaler(), model(epochs=20))
    assert cross_val_score(pipeline, X, NAMES, cv=3).min() > 0.6
    grid = {"method__a": [0.0, 0.5], "epochs": [5]}
    search = GridSearchCV(model(method=LabelSmoothing()), grid, cv=2).fit(X, Y)
    assert search.best_params_["method__a"] in (0.0, 0.5)
    assert search.best_estimator_.method.a == search.best_params_["method__a"]


def test_sample_weights_count():
    wrong = np.where(np.arange(120) % 2, Y, (Y + 1) % 3)
    weights = np.arange(120) % 2
    options = {"epochs": 20, "batch_size": 16}
    assert model(**options).fit(X, wrong, sample_weight=weights).score(X, Y) > 0.8
    assert model(**options).fit(X, wrong).score(X, Y) < 0.75


def test_own_network():
    fitted = model(module=toys.linear, epochs=40).fit(X, Y)
    assert isinstance(fitted.fitted_.members[0][0], nn.Linear)
    assert fitted.score(X, Y) > 0.7


@pytest.mark.parametrize("name", [name for name in METHODS if name != "stay"])  # it serves two
def test_a_saved_model_predicts_the_same(tmp_path, name):
    fitted = model(method=make_method(toys.SMALL.get(name, name))).fit(X, NAMES)
    fitted.save(tmp_path / "model.safetensors")
    loaded = StableClassifier.load(tmp_path / "model.safetensors")
    assert loaded.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()
    assert (loaded.predict(X) == fitted.predict(X)).all()
    assert loaded.method == fitted.method
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_saved_file_is_tensors_and_json(tmp_path):
    model().fit(X, Y).save(tmp_path / "model")
    with safe_open(str(tmp_path / "model"), framework="np") as file:
        record = json.loads(file.metadata()["unchurn"])
    assert record["classes"] == [0, 1, 2]
    assert record["method"] == {"name": "control", "parameters": {}}


def table(n=60):
    """A table with what a network cannot take as it is: categories, gaps, and classes 2 and 10."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pl.DataFrame(
        {
            "x": [None if i == 7 else float(value) for i, value in enumerate(x)],
            "c": [None if i == 5 else "uv"[i % 2] for i in range(n)],
            "grade": np.where(x + rng.normal(size=n) > 0, 10, 2),
        }
    )


def test_a_saved_model_scores_new_rows_of_a_table_alone(tmp_path):
    data = load_table(table(), target="grade")
    fitted = model().fit(data)
    by_hand = model().fit(data.x_train, data.y_train)
    expected = by_hand.predict_proba(data.x_test)
    fitted.save(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model")
    assert loaded.preparation_ == data.preparation
    assert loaded.classes_.tolist() == [2, 10]
    frame = data.test_rows.to_pandas()
    turned = data.test_rows.select("c", pl.lit("more"), "x")
    for one in (fitted, loaded):
        for rows in (data.x_test, data.test_rows, turned, frame):
            np.testing.assert_array_equal(one.predict_proba(rows), expected)
        assert set(one.predict(data.test_rows)) <= {2, 10}
        with pytest.raises(InputError, match="no column 'x': there are c"):
            one.predict(data.test_rows.select("c"))
    assert fitted.fit(data.x_train, data.y_train).preparation_ is None


def test_what_was_fitted_to_arrays_is_saved_as_ever(tmp_path):
    """And what was saved without a preparation is loaded."""
    model().fit(X > 0, Y).save(tmp_path / "model")  # flags, which are not scaled
    with safe_open(str(tmp_path / "model"), framework="np") as file:
        record = json.loads(file.metadata()["unchurn"])
    assert list(record) == [
        "format", "module", "method", "training", "classes", "dtype", "shape", "features",
    ]  # fmt: skip
    assert StableClassifier.load(tmp_path / "model").preparation_ is None


def test_a_frame_with_text_or_gaps_is_prepared_as_a_table_is(tmp_path):
    """Numbers alone are taken as they are; what was learned is saved, and prepares new rows."""
    rows = table().drop("grade")
    labels = table()["grade"].to_numpy()
    fitted = model().fit(rows, labels)
    learned = prepare(rows, np.arange(rows.height))
    assert fitted.preparation_ == learned
    by_hand = model().fit(learned.transform(rows), labels)
    fitted.save(tmp_path / "model")
    for one in (fitted, StableClassifier.load(tmp_path / "model")):
        for frame in (rows, rows.to_pandas()):
            np.testing.assert_array_equal(
                one.predict_proba(frame), by_hand.predict_proba(learned.transform(rows))
            )
    again = model().fit(rows[:30], labels[:30], preparation=learned)
    assert again.preparation_ == learned
    gap = pl.DataFrame({"x": [None, *range(1, rows.height)]})
    assert model().fit(gap, labels).preparation_ is not None
    assert model().fit(gap.fill_null(0), labels).preparation_ is None
    with pytest.raises(InputError, match="preparation is for frames, and X is ndarray"):
        model().fit(X, Y, preparation=learned)


def test_a_preparation_that_does_not_fit_the_model_is_refused(tmp_path):
    fitted = model().fit(load_table(table(), target="grade"))
    fitted.preparation_ = load_table(table().drop("c"), target="grade").preparation
    fitted.save(tmp_path / "model")
    with pytest.raises(InputError, match=r"its preparation gives 2 inputs, not \(5,\)"):
        StableClassifier.load(tmp_path / "model")


def test_a_dataset_is_given_alone_and_a_reference_must_have_been_prepared_alike(tmp_path):
    data = load_table(table(), target="grade")
    with pytest.raises(InputError, match="a dataset has its own labels"):
        model().fit(data, data.y_train)
    before = model().fit(data)
    model(method="anchor", reference=before).fit(data)
    other = load_table(table().with_columns(pl.col("x") * 2), target="grade")
    with pytest.raises(InputError, match="the reference's table was prepared otherwise"):
        model(method="anchor", reference=before).fit(other)


def test_own_networks_are_saved_without_their_code(tmp_path):
    fitted = model(module=toys.linear).fit(X, Y)
    fitted.save(tmp_path / "model")
    with pytest.raises(InputError, match="holds a network of your own: give its module="):
        StableClassifier.load(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model", module=toys.linear)
    assert (loaded.predict(X) == fitted.predict(X)).all()
    with pytest.raises(InputError, match="its weights do not fit this module"):
        StableClassifier.load(tmp_path / "model", module=lambda shape, n: nn.Linear(5, n))


def test_a_network_may_begin_with_a_saved_one(tmp_path):
    model(module=toys.linear).fit(X, Y).save(tmp_path / "backbone")

    def on_top(shape, n_classes):
        StableClassifier.load(tmp_path / "backbone", module=toys.linear)
        return toys.linear(shape, n_classes)

    plain, nested = (model(module=module).fit(X, Y) for module in (toys.linear, on_top))
    assert (nested.predict_proba(X) == plain.predict_proba(X)).all()


def test_other_files_are_not_models(tmp_path):
    (tmp_path / "text").write_text("hello")
    save_file({"x": torch.zeros(1)}, tmp_path / "plain")
    for name in ("text", "plain"):
        with pytest.raises(InputError, match="a saved StableClassifier"):
            StableClassifier.load(tmp_path / name)
    save_file({"x": torch.zeros(1)}, tmp_path / "new", {"unchurn": '{"format": "unchurn 9"}'})
    with pytest.raises(InputError, match="saved in another format: unchurn 9"):
        StableClassifier.load(tmp_path / "new")


def test_unsaved_methods_and_unfitted_models_say_so(tmp_path):
    class Mine(Control):
        pass

    with pytest.raises(InputError, match="only the methods of METHODS can be saved"):
        model(method=Mine()).fit(X, Y).save(tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted"):
        model().save(tmp_path / "model")


def test_anchored_to_production(tmp_path):
    """With all weight on the live model a release repeats it, even where the labels disagree."""
    production = model(epochs=20, random_state=1).fit(X, np.roll(NAMES, 1))
    production.save(tmp_path / "live")
    anchor = {"method": Anchor(a=1.0), "epochs": 20}
    anchored = model(**anchor, reference=tmp_path / "live").fit(X, NAMES)
    by_object = model(**anchor, reference=production).fit(X, NAMES)
    assert anchored.predict_proba(X).tobytes() == by_object.predict_proba(X).tobytes()
    plain = model(epochs=20).fit(X, NAMES)
    live = production.predict(X)
    assert anchored.score(X, live) > 0.85 > 0.6 > plain.score(X, live)


def test_logits_and_probabilities_of_any_model_may_be_the_reference():
    production = model(random_state=1).fit(X, Y)
    anchor = model(method="anchor")
    by_logits = anchor.fit(X, Y, reference_logits=production.decision_function(X)).predict_proba(X)
    by_probability = anchor.fit(X, Y, reference_probabilities=production.predict_proba(X))
    np.testing.assert_allclose(by_probability.predict_proba(X), by_logits, atol=1e-4)


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
        model(**options).fit(X, Y, **given)


def test_a_reference_that_knows_other_classes_is_refused():
    production = model().fit(X, NAMES)
    with pytest.raises(InputError, match="the reference knows the classes"):
        model(method="anchor", reference=production).fit(X, Y)


def test_a_reference_stays_fitted_through_clone_and_cross_validation():
    production = model(random_state=1).fit(X, Y)
    anchored = model(method="anchor", reference=production)
    assert clone(anchored).reference is production
    assert cross_val_score(anchored, X, Y, cv=2, error_score="raise").min() > 0.3


def test_a_reference_with_probabilities_of_its_own_is_anchored_to_those():
    production = model(method=BiTempered(t1=0.5, t2=4.0)).fit(X, Y)
    by_model = model(method="anchor", reference=production).fit(X, Y)
    by_probability = model(method="anchor").fit(
        X, Y, reference_probabilities=production.predict_proba(X)
    )
    np.testing.assert_allclose(
        by_model.predict_proba(X), by_probability.predict_proba(X), atol=1e-4
    )


def test_a_binary_margin_may_be_the_reference():
    production = model(random_state=1).fit(X, Y == 1)
    by_margin = model(method="anchor").fit(
        X, Y == 1, reference_logits=production.decision_function(X)
    )
    by_model = model(method="anchor", reference=production).fit(X, Y == 1)
    np.testing.assert_allclose(by_margin.predict_proba(X), by_model.predict_proba(X), atol=1e-3)


def test_a_reference_that_is_not_asked_for_is_not_looked_at():
    with pytest.warns(UserWarning, match="reference is not used: control looks at none"):
        model(method="control", reference="gone").fit(X, Y)
    other = model().fit(X[:, :2], Y)
    with pytest.raises(InputError, match=r"the reference takes inputs of \(2,\), not \(4,\)"):
        model(method="anchor", reference=other).fit(X, Y)


def test_a_method_by_name_can_be_searched():
    search = GridSearchCV(model(method="label_smoothing"), {"method__a": [0.1, 0.5]}, cv=2)
    assert search.fit(X, Y).best_estimator_.method.a in (0.1, 0.5)


def test_numbers_of_numpy_are_numbers(tmp_path):
    method = KnnLS(k=np.int64(5), a=np.float32(0.5))
    fitted = model(method=method, batch_size=np.int64(32), epochs=np.int32(2)).fit(X, Y)
    fitted.save(tmp_path / "model")
    assert StableClassifier.load(tmp_path / "model").method == KnnLS(k=5, a=0.5)


def test_a_saved_model_can_be_fitted_again_as_before(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    classes = np.array([1, 2, 2**63 + 5], np.uint64)
    fitted = model(epochs=3, batch_size=16, learning_rate=0.01).fit(frame, classes[Y])
    fitted.save(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model")
    assert (loaded.epochs, loaded.batch_size, loaded.learning_rate) == (3, 16, 0.01)
    assert loaded.classes_.tolist() == classes.tolist()
    turned = frame[list("badc")]  # it remembers names
    np.testing.assert_array_equal(loaded.predict(turned), fitted.predict(frame))


def tied(shape, n_classes):
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, n_classes))
    net[1].weight = net[0].weight
    return net


def masked(shape, n_classes):
    net = nn.Linear(4, n_classes)
    net.register_buffer("position", torch.arange(4))
    net.register_buffer("mask", torch.full((4,), -torch.inf))
    return net


@pytest.mark.parametrize("module", [tied, masked])
def test_tied_weights_and_buffers_of_any_kind_are_saved(tmp_path, module):
    fitted = model(module=module).fit(X, Y)
    fitted.save(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model", module=module)
    assert (loaded.predict(X) == fitted.predict(X)).all()


def test_an_interrupted_refit_leaves_the_model_as_it_was(monkeypatch):
    fitted = model().fit(X, NAMES)
    before = fitted.predict(X)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("unchurn.training.estimator.fitting.fit_together", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, np.array(["x", "y", "z"])[Y])
    assert (fitted.predict(X) == before).all()


@pytest.mark.parametrize(
    "change",
    [
        {"format": None}, {"method": {}}, {"method": {"name": "best", "parameters": {}}},
        {"method": {"name": "knn_ls", "parameters": {"k": 0}}}, {"shape": [-4]}, {"shape": []},
        {"shape": "4"}, {"shape": [10**12]}, {"classes": None}, {"classes": [1, 1, 2]},
        {"classes": [[1], [2, 3]]}, {"classes": [1]}, {"dtype": "evil"}, {"training": None},
        {"module": 3},
    ],
)  # fmt: skip
def test_damaged_headers_are_input_errors(tmp_path, change):
    model().fit(X, Y).save(tmp_path / "model")
    with safe_open(str(tmp_path / "model"), framework="pt") as file:
        record = json.loads(file.metadata()["unchurn"]) | change
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(tensors, tmp_path / "bad", {"unchurn": json.dumps(record)})
    with pytest.raises(InputError, match="bad"):
        StableClassifier.load(tmp_path / "bad")
    for header in ("[]", "3", "null", "{", "[" * 10000):
        save_file(tensors, tmp_path / "bad", {"unchurn": header})
        with pytest.raises(InputError, match="bad"):
            StableClassifier.load(tmp_path / "bad")
    nothing = {name: torch.full_like(t, float("nan")) for name, t in tensors.items()}
    save_file(nothing, tmp_path / "bad", {"unchurn": json.dumps(record)})
    with pytest.raises(InputError, match="bad"):
        StableClassifier.load(tmp_path / "bad")
    with pytest.raises(InputError, match="is a folder"):
        StableClassifier.load(tmp_path)


def test_loading_leaves_the_callers_random_numbers_alone(tmp_path):
    model().fit(X, Y).save(tmp_path / "model")
    before = torch.get_rng_state()
    StableClassifier.load(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), before)


def test_progress_when_verbose_only_on_a_terminal(capsys):
    model(verbose=True).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def test_a_saved_model_is_read_whatever_the_callers_default_type(tmp_path):
    fitted = model().fit(X, Y)
    fitted.save(tmp_path / "model")
    torch.set_default_dtype(torch.float64)
    try:
        loaded = StableClassifier.load(tmp_path / "model")
        assert (loaded.predict_proba(X) == fitted.predict_proba(X)).all()
    finally:
        torch.set_default_dtype(torch.float32)


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
