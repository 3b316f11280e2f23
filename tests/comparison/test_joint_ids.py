"""Rows that several columns tell together, as a shop and a day."""

import polars as pl
import pytest

from unchurn import compare
from unchurn.core.errors import InputError

BASE = pl.DataFrame(
    {"shop": ["x", "x", "y", "y"], "day": [1, 2, 1, 2], "prediction": ["a", "b", "a", "b"]}
)
CANDIDATE = BASE.with_columns(prediction=pl.Series(["a", "b", "b", "b"]))[[2, 0, 3, 1]]
TRUTH = BASE.select("shop", "day", label=pl.Series(["a", "b", "b", "a"]))
TOGETHER = {"id": "shop, day"}


@pytest.mark.parametrize("kind", ["frames", "csv", "parquet"])
def test_rows_are_joined_by_both(kind, tmp_path):
    given = [BASE, CANDIDATE, TRUTH]
    if kind != "frames":
        paths = [tmp_path / f"{i}.{kind}" for i in range(3)]
        for table, path in zip(given, paths, strict=True):
            getattr(table, f"write_{kind}")(path)
        given = paths
    result = compare(*given, columns=TOGETHER, slices="shop", min_slice=1)
    assert result.estimates["churn"].value == 0.25  # y, 1
    assert result.estimates["good_flips"].value == 0.25
    assert result.taken["base"]["id"] == "shop, day"


def test_neither_alone_tells_them():
    with pytest.raises(InputError, match=r"more than once.*several columns by comma"):
        compare(BASE, CANDIDATE, columns={"id": "shop"})


def test_numbers_are_the_same_ids_however_they_are_written():
    as_text = CANDIDATE.with_columns(pl.col("day").cast(pl.Float64))
    assert compare(BASE, as_text, columns=TOGETHER).estimates["churn"].value == 0.25


def test_a_column_with_a_comma_in_its_name_is_one():
    one = BASE.select("prediction", pl.Series("a,b", [1, 2, 3, 4]))
    assert compare(one, one.reverse(), columns={"id": "a,b"}).estimates["churn"].value == 0


def test_what_is_missing_is_named():
    with pytest.raises(InputError, match=r"candidate: no column 'day'"):
        compare(BASE, CANDIDATE.drop("day"), columns=TOGETHER)
    gap = BASE.with_columns(day=pl.Series([1, None, 1, 2]))
    with pytest.raises(InputError, match=r"base: 1 rows have no 'day'"):
        compare(gap, CANDIDATE, columns=TOGETHER)


def test_a_separator_within_an_id_is_no_separator():
    one = pl.DataFrame({"shop": ["a, b", "x"], "day": ["c", "y"], "prediction": [0, 1]})
    two = pl.DataFrame({"shop": ["a", "x"], "day": ["b, c", "y"], "prediction": [0, 1]})
    assert compare(one, two, columns=TOGETHER).n == 1
