"""A model of a table predicts what the table's target has: text, numbers or booleans."""

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import StableClassifier, load_table, upgrade
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.upgrade import FROM_WEIGHTS


def model(**options):
    options = {"method": "control", "epochs": 5, "batch_size": 32, "random_state": 0} | options
    return StableClassifier(**options)


def table_of(values):
    """A table whose target has these values."""
    numbers = np.array([*"ab"])
    frame = toys.frame(120, n_classes=2).drop("row")
    return frame.with_columns(y=pl.Series(values).gather(np.searchsorted(numbers, frame["y"])))


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.0], [False, True], ["no", "yes"]])
def test_a_model_of_a_table_predicts_values_of_its_target(tmp_path, values):
    table = table_of(values)
    data = load_table(table, "y")
    fitted = model().fit(data)
    fitted.save(tmp_path / "m.safetensors")
    for one in (fitted, StableClassifier.load(tmp_path / "m.safetensors")):
        said = pl.Series(one.predict(table))
        assert said.dtype == table["y"].dtype
        assert set(said) <= set(values)
        assert one.score(table, table["y"].to_numpy()) == (said == table["y"]).mean() > 0.5
        assert one.score(data) == np.mean(one.predict(data.x_test) == data.labels[data.y_test])
    by_number = model().fit(data.x_train, data.y_train)
    assert by_number.score(data) == fitted.score(data)


def test_class_numbers_in_the_place_of_labels_are_told():
    data = load_table(table_of([1, 2]), "y")
    with pytest.warns(RemarkWarning, match=r"y has 0, which is none of the classes \[1, 2\]: of"):
        model().fit(data).score(data.x_test, data.y_test)


def test_a_model_saved_when_labels_were_text_is_still_a_reference():
    data = load_table(table_of([1, 2]), "y")
    before = model().fit(data)
    anchored = model(method="anchor", reference=before).fit(data)
    before.classes_ = np.array(data.classes)
    again = model(method="anchor", reference=before).fit(data)
    np.testing.assert_array_equal(
        again.predict_proba(data.x_test), anchored.predict_proba(data.x_test)
    )
    upgraded = upgrade(before, table_of([1, 2]), target="y")
    assert upgraded.method == FROM_WEIGHTS
    assert upgraded.model.classes_.tolist() == [1, 2]
    assert upgraded.comparison.n == len(data.y_test)
