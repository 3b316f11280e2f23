"""Time in periods."""

import numpy as np
import pytest

from unchurn.study.results.history import as_text
from unchurn.study.scenarios.periods import as_every, make_periods

DAYS = np.array(["2024-01-01", "2024-01-31", "2024-01-30", "2024-03-15", "2024-04-02"], "M8[us]")


def test_a_length_counts_from_the_earliest_row_and_empty_periods_are_skipped():
    found = make_periods(DAYS, "30d", "day")
    assert found.numbers.tolist() == [0, 1, 0, 2, 3]
    assert found.begins == (
        "2024-01-01T00:00:00", "2024-01-31T00:00:00", "2024-03-01T00:00:00", "2024-03-31T00:00:00"
    )  # fmt: skip
    assert found.n_empty == 0
    skipping = make_periods(DAYS, "2w", "day")  # rows in weeks 0, 4, 4, 10 and 13
    assert skipping.numbers.tolist() == [0, 1, 1, 2, 3]
    assert skipping.n_empty == 3
    assert [as_text(time) for time in skipping.begins] == [
        "2024-01-01", "2024-01-29", "2024-03-11", "2024-03-25"
    ]  # fmt: skip
    hours = make_periods(np.array([0, 11, 12, 24], "M8[h]").astype("M8[us]"), "12h", "t")
    assert hours.numbers.tolist() == [0, 0, 1, 2]
    assert as_text(hours.begins[1]) == "1970-01-01 12:00"


@pytest.mark.parametrize(
    ("times", "every", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], 2, [0, 0, 1, 1, 2, 2]),
        ([6, 5, 4, 3, 2, 1, 0], 3, [2, 1, 1, 1, 0, 0, 0]),
        ([1, 1, 1, 2, 3, 3, 4], 2, [0, 0, 0, 1, 1, 1, 2]),  # rows of one time stay together
        ([2020, 2021, 2020, 2022, 2022], 1, [0, 1, 0, 2, 2]),  # every time a period
    ],
)
def test_so_many_rows_a_period(times, every, expected):
    found = make_periods(np.array(times, float), every, "t")
    assert found.numbers.tolist() == expected
    begins = [min(t for t, p in zip(times, expected, strict=True) if p == k) for k in range(3)]
    assert list(found.begins) == begins


def test_how_often_is_read_as_it_is_written():
    assert [as_every(given) for given in ("30d", "1 H", "007w", "12", 12, np.int64(3))] == [
        "30d", "1h", "7w", 12, 12, 3
    ]  # fmt: skip
