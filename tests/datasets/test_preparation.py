"""How columns become inputs: scales, gaps, categories, and new rows as the old ones."""

import json

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import load_csv, load_table
from unchurn.core.errors import InputError
from unchurn.datasets.preparation import Preparation

TABLE = toys.shop()
N = TABLE.height


def test_a_constant_column_is_zero_even_where_rounding_says_otherwise(write):
    table = TABLE.select("bought", tenth=pl.lit(0.1))
    assert (load_csv(write(table), target="bought").x_train == 0).all()


@pytest.mark.parametrize("scale", [1e-250, 1e-200, 1, 1e200, 1e250])
def test_columns_are_standardised_at_any_scale(write, scale):
    table = TABLE.select("bought", height=pl.Series(np.arange(1, N + 1) * scale))
    x = load_csv(write(table), target="bought").x_train
    assert (x.mean(), x.std()) == (pytest.approx(0, abs=1e-6), pytest.approx(1, abs=1e-6))


def test_a_number_beyond_all_others_is_named(write):
    heights = np.arange(N) * 1e-300
    data = load_csv(write(TABLE.select("bought", height=pl.Series(heights))), target="bought")
    row = int(data.test_rows["height"][0] / 1e-300 + 0.5)
    heights[row] = 1e200
    with pytest.raises(InputError, match=rf"row {row} has a number too far from those"):
        load_csv(write(TABLE.select("bought", height=pl.Series(heights))), target="bought")


def test_gaps_among_numbers_take_the_training_parts_median(write):
    data = load_csv(write(toys.with_gap(TABLE, "age")), target="bought")
    assert data.x_train.shape[1] == load_csv(write(TABLE), target="bought").x_train.shape[1] + 1
    assert data.notes == ("missing values were filled: age (1)",)
    both = np.concatenate([data.x_train, data.x_test])
    (filled,) = both[both[:, 1] == 1]
    ages = np.sort(data.x_train[data.x_train[:, 1] == 0][:, 0])
    assert filled[0] == pytest.approx(np.median(ages), abs=1e-6)
    with pytest.raises(InputError, match=r"shop.csv: column 'age' has 1 missing value.*in row 3"):
        load_csv(write(toys.with_gap(TABLE, "age")), target="bought", missing="refuse")


@pytest.mark.parametrize("sign", ["NA", "n/a", "?", "nan", " "])
def test_signs_of_a_gap_among_numbers_are_gaps(write, sign):
    heights = pl.Series([sign if i == 5 else str(i) for i in range(N)])
    data = load_csv(write(TABLE.with_columns(height=heights)), target="bought")
    assert data.notes == ("missing values were filled: height (1)",)


def test_a_gap_among_categories_is_one_more_category(write):
    data = load_csv(write(toys.with_gap(TABLE, "colour")), target="bought")
    colours = np.concatenate([data.x_train, data.x_test])[:, 2:6]
    assert (colours.sum(axis=1) == 1).all()
    assert colours[:, 0].sum() == 1  # "(missing)" comes before the letters


def test_new_rows_are_prepared_as_the_old_ones_were(tmp_path, write):
    data = load_csv(write(toys.with_gap(TABLE, "age")), target="bought")
    data.preparation.save(tmp_path / "preparation.json")
    preparation = Preparation.load(tmp_path / "preparation.json")
    assert preparation == data.preparation
    np.testing.assert_array_equal(preparation.transform(data.test_rows), data.x_test)
    turned = data.test_rows.select(reversed(data.test_rows.columns))
    np.testing.assert_array_equal(preparation.transform(turned), data.x_test)
    unseen = data.test_rows.with_columns(colour=pl.lit("pink"))
    assert (preparation.transform(unseen)[:, 3:6] == 0).all()
    with pytest.raises(InputError, match="no column 'age'"):
        preparation.transform(data.test_rows.drop("age"))


def test_a_gap_where_training_had_none_is_its_median(write):
    data = load_csv(write(TABLE), target="bought")
    rows, median = data.test_rows, data.train_rows["height"].median()
    with pytest.warns(UserWarning, match=f"'height' has gaps, of which .* its median, {median:g}"):
        filled = data.preparation.transform(rows.with_columns(height=None))
    as_given = data.preparation.transform(rows.with_columns(height=pl.lit(median)))
    np.testing.assert_array_equal(filled, as_given)


def test_new_rows_whose_numbers_are_none_are_named(write):
    data = load_csv(write(toys.with_gap(TABLE, "age")), target="bought")
    ages = pl.Series("age", ["12", " NA ", "old", *(["3"] * (data.test_rows.height - 3))])
    with pytest.raises(InputError, match="column 'age' is no number in row 2: 'old'"):
        data.preparation.transform(data.test_rows.with_columns(ages))


@pytest.mark.parametrize(
    "spoiled",
    [
        {"median": None}, {"exponent": 10**6}, {"mean": float("nan")}, {"has_gaps": 1},
        {"kind": "Other"}, {"name": 3}, {"more": 1.0},
    ],
)  # fmt: skip
def test_a_spoiled_preparation_is_refused(tmp_path, write, spoiled):
    data = load_csv(write(TABLE), target="bought")
    columns = data.preparation.to_plain()
    columns[0] |= spoiled
    (tmp_path / "preparation.json").write_text(json.dumps({"columns": columns}))
    with pytest.raises(InputError, match=r"preparation\.json: "):
        Preparation.load(tmp_path / "preparation.json")


def test_a_preparation_shows_its_first_values():
    frame = pl.DataFrame({"city": [f"c{i % 90:02}" for i in range(200)], "y": ["a", "b"] * 100})
    shown = repr(load_table(frame, "y").preparation)
    assert "'c00', 'c01'" in shown
    assert "c50" not in shown


def test_a_column_that_is_new_to_a_given_preparation_is_noted():
    data = load_table(TABLE, "bought")
    more = TABLE.with_columns(shoe=pl.int_range(N) % 5)
    found = load_table(more, "bought", preparation=data.preparation)
    assert found.x_train.shape == data.x_train.shape
    assert "column 'shoe' is new to the given preparation: it is no feature" in found.notes
    assert not any("new to" in note for note in data.notes)
