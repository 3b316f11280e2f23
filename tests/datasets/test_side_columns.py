"""Columns that are no features: kept with the data, and read for what they say of a row."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import load_csv, load_table
from unchurn.core.errors import InputError
from unchurn.datasets.side_columns import flags, is_before

TABLE = toys.frame(40)
DAYS = [date(2024, 1, 1) + timedelta(days=i) for i in range(40)]
EVEN = [i % 2 == 0 for i in range(40)]


def with_column(values, name="c"):
    """The table with one more column, which is aside, and so are the rows' names."""
    return load_table(
        TABLE.with_columns(pl.Series(name, values)), "y", aside=[name, "row"], test_size=0.25
    )


def expected(data, values):
    """What a column says of every row, in the data's order, by the rows' names."""
    by_row = dict(zip(TABLE["row"], values, strict=True))
    return [by_row[row] for row in data.aside["row"]]


def test_columns_aside_are_kept_and_are_no_features(tmp_path):
    plain = load_table(TABLE.drop("row"), "y")
    data = load_table(TABLE, "y", aside="row")
    assert data.fingerprint == plain.fingerprint
    assert data.preparation == plain.preparation
    assert data.column_aside("row").to_list() == [f"r{i}" for i in data.order]
    assert data.train_rows.columns == data.test_rows.columns == ["x0", "x1", "x2", "x3"]
    back = pl.concat([data.train_rows, data.test_rows])[np.argsort(data.order)]
    assert back.equals(TABLE.select(back.columns))
    assert "column 'row' is kept aside: it is no feature" in data.notes
    TABLE.write_csv(tmp_path / "t.csv")
    assert load_csv(tmp_path / "t.csv", "y", aside="row").aside.equals(data.aside)


def test_a_dataset_is_tested_on_some_of_its_rows_and_trained_on_the_others(rng):
    data = load_table(TABLE, "y", aside="row")
    kept = rng.random(len(data.y_test)) < 0.5
    some = data.tested_on(kept)
    np.testing.assert_array_equal(some.x_test, data.x_test[kept])
    np.testing.assert_array_equal(some.y_test, data.y_test[kept])
    np.testing.assert_array_equal(some.x_train, [*data.x_train, *data.x_test[~kept]])
    np.testing.assert_array_equal(some.y_train, [*data.y_train, *data.y_test[~kept]])
    assert some.aside["row"].to_list() == [f"r{i}" for i in some.order]
    back = pl.concat([some.train_rows, some.test_rows])[np.argsort(some.order)]
    assert back.equals(TABLE.select(back.columns))
    assert some.fingerprint != data.fingerprint
    named = toys.dataset(20).tested_on(np.arange(10) < 3)
    assert named.order.tolist() == [*range(10), *range(13, 20), *range(10, 13)]


@pytest.mark.parametrize(
    ("aside", "message"),
    [
        ("z", "no column 'z': there are row, x0"),
        ("y", "'y' is to be predicted: it cannot be aside"),
        (["row", "x0", "x1", "x2", "x3"], "'y' is its only column beside row, x0"),
    ],
)
def test_what_cannot_be_aside(aside, message):
    with pytest.raises(InputError, match=message):
        load_table(TABLE, "y", aside=aside)


@pytest.mark.parametrize(
    "values",
    [
        EVEN,
        [int(even) for even in EVEN],
        [float(even) for even in EVEN],
        [("no", "YES ")[even] for even in EVEN],
        [("False", "true")[even] for even in EVEN],
    ],
)
def test_flags_of_any_kind(values):
    data = with_column(values)
    assert flags(data, "c").tolist() == expected(data, EVEN)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (["yes"] * 7 + ["maybe"] * 33, "'maybe' in row 7"),
        ([1] * 7 + [2] * 33, "2 in row 7"),
        ([1.0] * 7 + [0.5] * 33, "0.5 in row 7"),
        ([True] * 7 + [None] * 33, "nothing in row 7"),
        (DAYS, r"datetime.date\(2024, 1, 1\) in row 0"),
    ],
)
def test_what_is_no_flag_is_named(values, shown):
    with pytest.raises(InputError, match=f"column 'c' has {shown}: neither yes nor no"):
        flags(with_column(values), "c")


NOONS = [datetime(day.year, day.month, day.day, 12) for day in DAYS]
TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("values", "split", "n_before"),
    [
        (DAYS, "2024-01-11", 10),
        (DAYS, date(2024, 1, 11), 10),
        (NOONS, "2024-01-11", 10),
        (NOONS, "2024-01-11T12:00", 10),
        (NOONS, "2024-01-11T12:00:01", 11),
        ([day.isoformat() for day in DAYS], "2024-01-11", 10),
        ([noon.isoformat(" ") for noon in NOONS], "2024-01-11 13:00", 11),
        ([noon.replace(tzinfo=UTC) for noon in NOONS], "2024-01-11T20:59+09:00", 10),
        ([noon.replace(tzinfo=UTC).astimezone(TOKYO).isoformat() for noon in NOONS],
         "2024-01-11T12:00", 10),
        (list(range(40)), "10", 10),
        ([i / 2 for i in range(40)], 5, 10),
    ],
)  # fmt: skip
def test_rows_before_a_date_a_time_or_a_number(values, split, n_before):
    data = with_column(values)
    assert is_before(data, "c", split).tolist() == expected(data, [i < n_before for i in range(40)])


@pytest.mark.parametrize(
    ("values", "split", "message"),
    [
        (["2024-01-01"] * 5 + ["soon"] * 35, "2024-01-11", "'c' has 'soon' in row 5: no date"),
        ([*DAYS[:5], *[None] * 35], "2024-01-11", "column 'c' has nothing in row 5: no date"),
        ([1.0] * 5 + [None] * 35, "3", "column 'c' has nothing in row 5: no number"),
        (DAYS, "soon", "split 'soon' is no date, and column 'c' has dates: write 2024-01-31"),
        (DAYS, 3, "split 3 is no date"),
        ([*range(40)], "2024-01-11", "split '2024-01-11' is no number, and column 'c' has numbers"),
        (EVEN, "2024-01-11", "column 'c' is Boolean: it must be dates, times or numbers"),
    ],
)
def test_what_is_no_time_is_named(values, split, message):
    with pytest.raises(InputError, match=message):
        is_before(with_column(values), "c", split)


def test_a_column_that_is_not_aside():
    with pytest.raises(InputError, match="table has no column 'x0' aside: load the table with "):
        flags(load_table(TABLE, "y", aside="row"), "x0")
    with pytest.raises(InputError, match="toy has no column 'c' aside: only a table of your own"):
        flags(toys.dataset(20), "c")
