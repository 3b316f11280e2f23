from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn import compare, load_table
from unchurn.core.errors import InputError
from unchurn.core.frames import as_frame, as_series

LARGE = 2**60 + 1  # no float holds it
# pandas' columns, and the values that they have as a Polars series of this type.
COLUMNS = {
    "a gap among whole numbers": (pd.array([LARGE, pd.NA], "Int64"), pl.Int64, [LARGE, None]),
    "a gap among few bits": (pd.array([3, pd.NA], "Int8"), pl.Int64, [3, None]),
    "a gap among Arrow's": (pd.array([LARGE, None], "int64[pyarrow]"), pl.Int64, [LARGE, None]),
    "a gap among categories": (pd.Categorical([LARGE, None]), pl.Int64, [LARGE, None]),
    "a gap among floats": (pd.array([1.5, pd.NA], "Float64"), pl.Float64, [1.5, None]),
    "a gap among booleans": (pd.array([True, pd.NA], "boolean"), pl.Boolean, [True, None]),
    "a gap among text": (pd.array(["a", pd.NA], "string"), pl.String, ["a", None]),
    "gaps among objects": (np.array(["a", None, np.nan, pd.NaT], object), pl.String,
                           ["a", None, None, None]),
    "decimals": (np.array([Decimal("1.5"), Decimal("NaN")], object), pl.Decimal(38, 1),
                 [Decimal("1.5"), None]),
    "no gap": (pd.array([1, 2], "Int32"), pl.Int32, [1, 2]),
    "times": (pd.to_datetime(["2024-03-01", None]).as_unit("ns"), pl.Datetime("ns"),
              [pd.Timestamp("2024-03-01"), None]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_pandas_keep_their_values_and_gaps(name):
    column, kind, values = COLUMNS[name]
    found = as_series(pd.Series(column))
    assert (found.dtype, found.to_list()) == (kind, values)


def test_all_who_take_frames_read_them_alike():
    one = pd.DataFrame({"id": pd.array([LARGE, LARGE + 1, None], "Int64"), "of": [1.5, np.nan, 2]})
    assert as_frame(one)["id"].to_list() == [LARGE, LARGE + 1, None]
    assert as_frame(one)["of"].dtype == pl.Float64
    rows = pd.DataFrame({"n": pd.array([LARGE, pd.NA] * 6, "Int64"), "y": list("ab") * 6})
    data = load_table(rows, "y")
    assert data.train_rows is not None
    assert set(data.train_rows["n"]) == {LARGE, None}


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"]])
def test_two_columns_of_one_name_are_refused(names):
    frame = pd.DataFrame([[0, 1], [1, 0]], columns=names)
    with pytest.raises(InputError, match=rf"2 columns are called '{names[0]}': rename or drop"):
        compare(frame, frame)
