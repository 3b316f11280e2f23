"""Shared by the tests of datasets."""

import polars as pl
import pytest


@pytest.fixture
def write(tmp_path):
    def to_csv(table: pl.DataFrame):
        path = tmp_path / "shop.csv"
        table.write_csv(path)
        return path

    return to_csv
