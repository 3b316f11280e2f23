"""A model of a table predicts what the table's target has: text, numbers or booleans."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import toys
from unchurn import StableClassifier, load_table, upgrade
from unchurn.core.errors import InputError
from unchurn.methods.registry import FROM_WEIGHTS
from unchurn.training.learners.base import RemarkWarning


def table_of(values):
    """A table whose target has these values."""
    numbers = np.array([*"ab"])
    frame = toys.frame(120, n_classes=2).drop("row")
    return frame.with_columns(y=pl.Series(values).gather(np.searchsorted(numbers, frame["y"])))


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.0], [False, True], ["no", "yes"]])
def test_a_model_of_a_table_predicts_values_of_its_target(tmp_path, values):
    table = table_of(values)
    data = load_table(table, "y")
    fitted = toys.classifier().fit(data)
    fitted.save(tmp_path / "m.safetensors")
    for one in (fitted, StableClassifier.load(tmp_path / "m.safetensors")):
        said = pl.Series(one.predict(table))
        assert said.dtype == table["y"].dtype
        assert set(said) <= set(values)
        assert one.score(table, table["y"].to_numpy()) == (said == table["y"]).mean() > 0.5
        assert one.score(data) == np.mean(one.predict(data.x_test) == data.labels[data.y_test])
    by_number = toys.classifier().fit(data.x_train, data.y_train)
    assert by_number.score(data) == fitted.score(data)


def test_class_numbers_in_the_place_of_labels_are_told():
    data = load_table(table_of([1, 2]), "y")
    with pytest.warns(RemarkWarning, match=r"y has 0, which is none of the classes \[1, 2\]: of"):
        toys.classifier().fit(data).score(data.x_test, data.y_test)


def test_a_model_saved_when_labels_were_text_is_still_a_reference():
    data = load_table(table_of([1, 2]), "y")
    before = toys.classifier().fit(data)
    anchored = toys.classifier(method="anchor", reference=before).fit(data)
    before.classes_ = np.array(data.classes)
    again = toys.classifier(method="anchor", reference=before).fit(data)
    np.testing.assert_array_equal(
        again.predict_proba(data.x_test), anchored.predict_proba(data.x_test)
    )
    with pytest.warns(RemarkWarning, match="the base may have seen"):
        upgraded = upgrade(before, table_of([1, 2]), target="y")
    assert upgraded.method == FROM_WEIGHTS
    assert upgraded.model.classes_.tolist() == [1, 2]
    assert upgraded.comparison.n == len(data.y_test)


def untrained(*_, **__):
    raise AssertionError("it was trained before it was refused")


BOOLEANS, NUMBERS, FLOATS, DIGITS = [False, True], [0, 1], [0.0, 1.0], ["0", "1"]


@pytest.mark.filterwarnings("ignore:the base may have seen")
@pytest.mark.parametrize("kind", ["ours", "another"])
@pytest.mark.parametrize(
    ("own", "new"),
    [
        (NUMBERS, BOOLEANS), (FLOATS, BOOLEANS), (DIGITS, BOOLEANS), (["False", "True"], BOOLEANS),
        (BOOLEANS, NUMBERS), (BOOLEANS, FLOATS), (BOOLEANS, DIGITS), (NUMBERS, FLOATS),
    ],
)  # fmt: skip
def test_true_is_1_whatever_type_holds_it(kind, own, new):
    """A successor of another type of labels is the one of the same type, bit for bit."""
    x, y = toys.blobs(280, n_classes=2)
    blank = toys.classifier() if kind == "ours" else LogisticRegression()
    base = blank.fit(x[:100], np.array(own)[y[:100]])
    few = {"random_state": 0} | ({"epochs": 2} if kind == "ours" else {})
    found, same = (upgrade(base, x, np.array(values)[y], **few) for values in (new, own))
    assert found.model.classes_.tolist() == new
    assert found.method == same.method
    assert found.model.predict_proba(x).tobytes() == same.model.predict_proba(x).tobytes()
    assert found.comparison.estimates == same.comparison.estimates
    assert found.tried == same.tried != ()


@pytest.mark.parametrize("own", [[1, 2], [-1, 1], ["a", "b"]])
def test_classes_that_cannot_be_matched_are_told_before_any_training(own, monkeypatch):
    x, y = toys.blobs(120, n_classes=2)
    base = LogisticRegression().fit(x, np.array(own)[y])
    few = {"X_test": x, "y_test": y > 0}
    monkeypatch.setattr("unchurn.training.estimator.fitting.fit_together", untrained)
    for call in (
        lambda: upgrade(base, x, y > 0, **few),
        lambda: toys.classifier(method="anchor", reference=base).fit(x, y > 0),
    ):
        with pytest.raises(InputError) as error:
            call()
        assert f"knows the classes {own}, none of [False, True]" in str(error.value)
    with pytest.raises(InputError, match=r"y_test has the classes \[False, True\], none of \['a'"):
        upgrade(LogisticRegression().fit(x, [*"ab"] * 60), x, [*"ab"] * 60, **few)


def test_a_class_that_is_gone_beside_true_and_false():
    x, y = toys.blobs(240)
    base = LogisticRegression().fit(x, y)
    rows, labels = x[y < 2], y[y < 2] == 1
    with pytest.warns(RemarkWarning, match="the base knows 2, of which there are no rows"):
        found = upgrade(base, rows, labels, X_test=rows, y_test=labels, method="control")
    accuracy = np.mean(base.predict(rows) == labels)
    assert found.comparison.estimates["accuracy_base"].value == pytest.approx(accuracy)


GAPS = {
    "objects": np.array(["a", "b", None] * 40, object),
    "floats": np.array([0.0, 1.0, np.nan] * 40),
    "pandas": pd.Series(["a", "b", pd.NA] * 40, dtype="string"),
    "nullable": pd.Series([0, 1, pd.NA] * 40, dtype="Int64"),
    "categories": pd.Series(pd.Categorical(["a", "b", None] * 40)),
    "polars": pl.Series(["a", "b", None] * 40),
    "times": np.array(["2024-01-01", "2024-01-02", "NaT"] * 40, "datetime64[s]"),
    "column": pd.DataFrame({"y": ["a", "b", None] * 40}),
}


@pytest.mark.parametrize("y", GAPS.values(), ids=GAPS)
def test_missing_labels_are_told(y):
    x, whole = toys.blobs(120, n_classes=2)
    base = LogisticRegression().fit(x, whole)
    for call in (
        lambda: toys.classifier().fit(x, y),
        lambda: toys.classifier().fit(x, whole).score(x, y),
        lambda: upgrade(base, x, y),
        lambda: upgrade(base, x, whole, X_test=x, y_test=y),
    ):
        with pytest.raises(InputError, match=r"has 40 missing value\(s\), first in row 2: drop"):
            call()


@pytest.mark.filterwarnings("ignore:the base may have seen", "ignore:A column-vector y")
def test_labels_as_a_column_are_upgraded_to_and_others_refused():
    x, y = toys.blobs(120, n_classes=2)
    base = LogisticRegression().fit(x, y)
    few = {"random_state": 0, "method": "control"}
    column, flat = (upgrade(base, x, labels, **few) for labels in (pd.DataFrame({"y": y}), y))
    assert column.comparison.estimates == flat.comparison.estimates
    with pytest.raises(InputError, match="X_test has 120 rows and y_test 9 labels"):
        upgrade(base, x, y, X_test=x, y_test=y[:9])
    for fit in (partial(upgrade, base), toys.classifier().fit):
        with pytest.raises(InputError, match="y has labels of several types, int and str"):
            fit(x, np.array([1, "a"] * 60, object))


def test_dates_are_classes_that_are_saved(tmp_path):
    x, y = toys.blobs(60, n_classes=2)
    days = np.array(["2024-01-31", "2024-02-29"], "datetime64[D]")
    fitted = toys.classifier().fit(x, days[y])
    fitted.save(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model")
    assert loaded.classes_.dtype == days.dtype
    assert (loaded.predict(x) == fitted.predict(x)).all()


def test_numbers_with_fractions_are_no_classes():
    x = np.zeros((4, 2))
    with pytest.raises(
        InputError, match=r"Unknown label type: continuous.* text .* y.astype\(str\)"
    ):
        StableClassifier().fit(x, [0.5, 1.0, 2.0, 0.5])
