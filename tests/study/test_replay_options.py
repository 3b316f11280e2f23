"""What a replay is told, and tables that it cannot play."""

import datetime

import polars as pl
import pytest

import toys
from unchurn import bench
from unchurn.core.errors import InputError
from unchurn.study.scenarios import Replay, make_scenario

N = 200
BY_MONTH = Replay(time="day", every="30d")


@pytest.fixture
def table(rng):
    return toys.history(rng)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"time": "day", "every": "30d"}, "replay(time='day', every='30d')"),
        ({"time": "day", "every": " 2W "}, "replay(time='day', every='2w')"),
        ({"time": "day", "every": "500"}, "replay(time='day', every=500)"),
        ({"time": "a b", "every": 12}, "replay(time='a b', every=12)"),
    ],
)
def test_it_is_written_with_its_parameters(parameters, text):
    scenario = make_scenario("replay", **parameters)
    assert scenario.text == text
    assert make_scenario(text) == scenario == Replay(**parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "which column has the time of a row\\? Give time="),
        ({"time": "day"}, "how often is there a release\\? Give every= a length such as 30d"),
        ({"time": "day", "every": "monthly"}, "every is a length such as 30d, .*not 'monthly'"),
        ({"time": "day", "every": "0d"}, "every is a length such as 30d"),
        ({"time": "day", "every": 0}, "every must be a whole number of at least 1"),
        ({"time": "day", "every": -3}, "every is a length such as 30d"),
        ({"time": "day", "every": True}, "every is a length such as 30d"),
        ({"time": "day", "every": 2.5}, "every is a length such as 30d"),
        (
            {"time": "day", "every": "30d", "split": 3},
            "replay takes no split: it takes time, every",
        ),
    ],
)
def test_what_cannot_be_played(parameters, message):
    with pytest.raises(InputError, match=message):
        make_scenario("replay", **parameters)


@pytest.mark.parametrize(
    ("every", "message"),
    [
        ("80d", "column 'day' has 2 periods of 80d, and it takes 3, .*: give every= less"),
        ("900w", "column 'day' has 1 period of 900w"),
        ("1d", "column 'day' has 150 periods of 1d, .* give every= more, such as 3d"),
        (2, "column 'day' has 1[0-9][0-9] periods of 2 rows, .* give every= more, such as [46]"),
    ],
)
def test_too_few_and_too_many_releases(table, every, message):
    with pytest.raises(InputError, match=message):
        bench(table, target="y", scenario=Replay(time="day", every=every))


def test_a_first_release_of_one_class_is_refused(table):
    early = table.with_columns(
        day=pl.when(pl.col("y") == "a").then("day").otherwise(datetime.date(2024, 5, 1))
    )
    with pytest.raises(
        InputError, match=r"at least 2 classes: .* came before 2024-01-31, all of class a: "
    ):
        bench(early, target="y", scenario=BY_MONTH)


def test_other_columns_and_data_that_have_no_time(table):
    for options, message in (
        ({"time": "y", "every": "30d"}, "'y' is to be predicted: it cannot be aside"),
        (
            {"time": "x0", "every": "30d"},
            "every '30d' is a length of time, and column 'x0' has num",
        ),
        ({"time": "nowhere", "every": 5}, "no column 'nowhere': there are"),
    ):
        with pytest.raises(InputError, match=message):
            bench(
                table.with_columns(pl.col("day").cast(pl.String)),
                target="y",
                aside="day",
                scenario=Replay(**options),
            )
    gap = table.with_columns(day=pl.when(pl.int_range(N) == 7).then(None).otherwise("day"))
    with pytest.raises(InputError, match="column 'day' has nothing in row 7: no date"):
        bench(gap, target="y", scenario=BY_MONTH)
    with pytest.raises(InputError, match="only a table of your own has such columns"):
        bench("digits", scenario=BY_MONTH)
