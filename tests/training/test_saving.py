"""Models in files: what is saved, what loading restores, and what is refused."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

import toys
from unchurn import METHODS, StableClassifier, load_table
from unchurn.core.errors import InputError
from unchurn.datasets.preparation import prepare
from unchurn.methods import Control, make_method

X, Y = toys.blobs(120, distance=2)
NAMES = np.array(["eel", "cat", "dog"])[Y]


@pytest.mark.parametrize("name", [name for name in METHODS if name != "stay"])  # it serves two
def test_a_saved_model_predicts_the_same(tmp_path, name):
    fitted = toys.classifier(method=make_method(toys.SMALL.get(name, name))).fit(X, NAMES)
    fitted.save(tmp_path / "model.safetensors")
    loaded = StableClassifier.load(tmp_path / "model.safetensors")
    assert loaded.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()
    assert (loaded.predict(X) == fitted.predict(X)).all()
    assert loaded.method == fitted.method
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_saved_file_is_tensors_and_json(tmp_path):
    toys.classifier().fit(X, Y).save(tmp_path / "model")
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
    fitted = toys.classifier().fit(data)
    by_hand = toys.classifier().fit(data.x_train, data.y_train)
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
    toys.classifier().fit(X > 0, Y).save(tmp_path / "model")  # flags, which are not scaled
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
    fitted = toys.classifier().fit(rows, labels)
    learned = prepare(rows, np.arange(rows.height))
    assert fitted.preparation_ == learned
    by_hand = toys.classifier().fit(learned.transform(rows), labels)
    fitted.save(tmp_path / "model")
    for one in (fitted, StableClassifier.load(tmp_path / "model")):
        for frame in (rows, rows.to_pandas()):
            np.testing.assert_array_equal(
                one.predict_proba(frame), by_hand.predict_proba(learned.transform(rows))
            )
    again = toys.classifier().fit(rows[:30], labels[:30], preparation=learned)
    assert again.preparation_ == learned
    gap = pl.DataFrame({"x": [None, *range(1, rows.height)]})
    assert toys.classifier().fit(gap, labels).preparation_ is not None
    assert toys.classifier().fit(gap.fill_null(0), labels).preparation_ is None
    with pytest.raises(InputError, match="preparation is for frames, and X is ndarray"):
        toys.classifier().fit(X, Y, preparation=learned)


def test_a_preparation_that_does_not_fit_the_model_is_refused(tmp_path):
    fitted = toys.classifier().fit(load_table(table(), target="grade"))
    fitted.preparation_ = load_table(table().drop("c"), target="grade").preparation
    fitted.save(tmp_path / "model")
    with pytest.raises(InputError, match=r"its preparation gives 2 inputs, not \(5,\)"):
        StableClassifier.load(tmp_path / "model")


def test_a_dataset_is_given_alone_and_a_reference_must_have_been_prepared_alike(tmp_path):
    data = load_table(table(), target="grade")
    with pytest.raises(InputError, match="a dataset has its own labels"):
        toys.classifier().fit(data, data.y_train)
    before = toys.classifier().fit(data)
    toys.classifier(method="anchor", reference=before).fit(data)
    other = load_table(table().with_columns(pl.col("x") * 2), target="grade")
    with pytest.raises(InputError, match="the reference's table was prepared otherwise"):
        toys.classifier(method="anchor", reference=before).fit(other)


def test_own_networks_are_saved_without_their_code(tmp_path):
    fitted = toys.classifier(module=toys.linear).fit(X, Y)
    fitted.save(tmp_path / "model")
    with pytest.raises(InputError, match="holds a network of your own: give its module="):
        StableClassifier.load(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model", module=toys.linear)
    assert (loaded.predict(X) == fitted.predict(X)).all()
    with pytest.raises(InputError, match="its weights do not fit this module"):
        StableClassifier.load(tmp_path / "model", module=lambda shape, n: nn.Linear(5, n))


def test_a_network_may_begin_with_a_saved_one(tmp_path):
    toys.classifier(module=toys.linear).fit(X, Y).save(tmp_path / "backbone")

    def on_top(shape, n_classes):
        StableClassifier.load(tmp_path / "backbone", module=toys.linear)
        return toys.linear(shape, n_classes)

    plain, nested = (toys.classifier(module=module).fit(X, Y) for module in (toys.linear, on_top))
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
        toys.classifier(method=Mine()).fit(X, Y).save(tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted"):
        toys.classifier().save(tmp_path / "model")


def test_a_saved_model_can_be_fitted_again_as_before(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    classes = np.array([1, 2, 2**63 + 5], np.uint64)
    fitted = toys.classifier(epochs=3, batch_size=16, learning_rate=0.01).fit(frame, classes[Y])
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
    fitted = toys.classifier(module=module).fit(X, Y)
    fitted.save(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model", module=module)
    assert (loaded.predict(X) == fitted.predict(X)).all()


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
    toys.classifier().fit(X, Y).save(tmp_path / "model")
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
    toys.classifier().fit(X, Y).save(tmp_path / "model")
    before = torch.get_rng_state()
    StableClassifier.load(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), before)


def test_a_saved_model_is_read_whatever_the_callers_default_type(tmp_path):
    fitted = toys.classifier().fit(X, Y)
    fitted.save(tmp_path / "model")
    torch.set_default_dtype(torch.float64)
    try:
        loaded = StableClassifier.load(tmp_path / "model")
        assert (loaded.predict_proba(X) == fitted.predict_proba(X)).all()
    finally:
        torch.set_default_dtype(torch.float32)
