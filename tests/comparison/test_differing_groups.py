"""Slices and clusters that differ between the two files are warned of."""

import polars as pl
import pytest

from unchurn import compare

BASE = pl.DataFrame(
    {"id": [1, 2, 3, 4], "prediction": [0, 1, 0, 1], "lang": ["de", "en", "de", "fr"]}
)


@pytest.mark.parametrize(("argument", "what"), [("slices", "slices"), ("cluster", "clusters")])
def test_rows_that_differ_are_counted_and_base_is_taken(argument, what):
    other = BASE[::-1].with_columns(lang=pl.Series(["fr", "en", "de", "de"]))
    found = compare(BASE, other, **{argument: "lang"})
    assert found.warnings == (
        f"'lang' differs between base and candidate in 2 rows (50.00%): {what} are by that of base",
    )
    if argument == "slices":
        assert found.paired.slices["lang"].to_list() == ["de", "en", "de", "fr"]
    unasked = compare(BASE, other)
    assert unasked.warnings == ()


@pytest.mark.parametrize(
    "lang",
    [
        ["de", "en", "de", "fr"],
        ["DE", " en", "de", "fr"],
        ["de", None, "de", "fr"],
    ],
)
def test_case_spaces_and_gaps_are_no_difference(lang):
    other = BASE.with_columns(lang=pl.Series(lang))
    assert compare(BASE, other, slices="lang").warnings == ()
    assert compare(other, BASE, slices="lang").warnings == ()


def test_numbers_are_compared_as_such_on_the_rows_of_both(tmp_path):
    BASE.with_columns(lang=pl.Series([1, 2, 3, 4])).write_parquet(tmp_path / "a.parquet")
    written = BASE.with_columns(id=pl.Series([2, 3, 4, 9]), lang=pl.Series([2.0, 3.0, 4.0, 5.0]))
    written.write_csv(tmp_path / "b.csv")
    assert compare(tmp_path / "a.parquet", tmp_path / "b.csv", slices="lang").paired.n == 3
    assert compare(tmp_path / "a.parquet", tmp_path / "b.csv", slices="lang").paired.warnings == ()
