"""An upgrade whose base's rows are told by a column of the table, or by time."""

import datetime

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import bench, load_table
from unchurn.core.errors import InputError
from unchurn.methods import Control
from unchurn.study.api import make_experiment
from unchurn.study.design.schedule import make_schedule
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Upgrade, make_scenario
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import BASE_FIT
from unchurn.training.networks.factories import mlp

N = 240
SHORT = {"epochs": 2, "batch_size": 16, "workers": 1}
BY_TIME = Upgrade(time="day", split="2024-05-01")
BY_COLUMN = Upgrade(base_column="old")


@pytest.fixture
def table(rng):
    """Clouds with a day in 2024 and a flag for every row."""
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(i)) for i in rng.permutation(N)]
    flags = [("no", "yes")[i] for i in rng.integers(0, 2, N)]
    return (
        toys.frame(N, distance=1)
        .drop("row")
        .with_columns(pl.Series("day", days), pl.Series("old", flags))
    )


def by_hand(data, rows, run):
    """The test predictions of a plain fit on these of the training rows."""
    fitted = toys.fit_run(
        Control(), mlp, data.x_train[rows], data.y_train[rows], 3,
        training=Training(2, 16), seed=0, run=run, fit=BASE_FIT,
    )  # fmt: skip
    return fitted.probabilities(data.x_test).argmax(axis=1)


def test_a_base_sees_the_rows_where_a_column_is_true(table, tmp_path):
    result = bench(
        table.drop("day"), ["control", "anchor"], target="y", scenario=BY_COLUMN, runs=4,
        validation=False, out=tmp_path, **SHORT,
    )  # fmt: skip
    data = load_table(table.drop("day"), "y", aside="old")
    assert data.x_train.shape[1] == 4  # the flag is no feature
    is_old = np.array([row == "yes" for row in data.aside["old"][: len(data.y_train)]])
    runs = result.settings[0].runs["test"]
    for run in range(4):  # two runs share a base; bases differ by seed alone
        np.testing.assert_array_equal(runs.base[run], by_hand(data, is_old, run // 2))
    assert len(runs.labels) == 60
    text = " ".join(result.table().split())
    assert "plainly trained on the training rows where old is true (2 runs share a base)." in text
    loaded = Result.load(tmp_path)
    assert loaded.subject.scenario == BY_COLUMN
    assert loaded.table() == result.table()


def test_a_base_sees_the_rows_before_a_date_and_tests_are_on_what_came_after(table, tmp_path):
    table = table.drop("old")
    result = bench(
        table, "control", target="y", scenario=BY_TIME, runs=3, validation=False, out=tmp_path,
        **SHORT,
    )  # fmt: skip
    data = load_table(table, "y", aside="day")
    is_old = (data.aside["day"] < datetime.date(2024, 5, 1)).to_numpy()
    n = len(data.y_train)
    late = data.tested_on(~is_old[n:])
    seen_by_base = np.arange(len(late.y_train)) >= n  # test rows from before, and …
    seen_by_base[:n] = is_old[:n]
    runs = result.settings[0].runs["test"]
    np.testing.assert_array_equal(runs.labels, data.y_test[~is_old[n:]])
    np.testing.assert_array_equal(runs.base[2], by_hand(late, seen_by_base, 1))
    text = " ".join(result.table().split())
    assert "the training rows with day before 2024-05-01 (2 runs share a base); test rows " in text
    assert f"test rows are the {(~is_old[n:]).sum()} from then on." in text
    # The examples that are shown are of these rows.
    shown = {float(dict(one.features)["x0"]) for one in result.examples}
    there = {float(f"{value:.4g}") for value in late.test_rows["x0"]}
    assert shown
    assert shown <= there
    loaded = Result.load(tmp_path)
    assert loaded.subject.scenario.text == "upgrade(time='day', split='2024-05-01')"
    assert loaded.table() == result.table()


def test_settings_are_chosen_on_what_came_after_too(table):
    data = load_table(table.drop("old"), "y", aside="day")
    experiment = make_experiment(data, "control", scenario=BY_TIME)
    split, days = np.datetime64("2024-05-01"), experiment.data.aside["day"].to_numpy()
    day = {part: days[rows] for part, rows in experiment.parts.rows.items()}
    assert (day["test"] >= split).all()
    assert (day["validation"] >= split).all()
    assert (day["train"] < split).sum() == (days < split).sum()  # test rows from before, too
    assert (day["train"] >= split).any()


def test_kept_runs_keep_their_identity():
    """As it was before there were other ways to say what the base is."""
    kept = {"scenario": {"name": "upgrade", "base_share": 0.5, "per_base": 2}}
    assert Upgrade(base_share=0.5, per_base=2).identity() == kept
    assert Upgrade().identity() == kept
    assert make_scenario("retrain").identity() == {}


def test_an_identity_goes_by_the_rows_and_not_by_how_they_are_told(table):
    def identity(scenario, table=table):
        data = load_table(table, "y", aside=["old", "day"])
        return make_experiment(data, "control", scenario=scenario).scenario.identity()

    other = table.with_columns(old=pl.when(pl.int_range(N) < 9).then(pl.lit("no")).otherwise("old"))
    renamed = table.with_columns(old=pl.col("old") == "yes")
    assert identity(BY_COLUMN) == identity(BY_COLUMN, renamed) != identity(BY_COLUMN, other)
    assert identity(BY_TIME) == identity(Upgrade(time="day", split=datetime.date(2024, 5, 1)))
    assert identity(BY_TIME) != identity(Upgrade(time="day", split="2024-06-01"))
    assert identity(BY_TIME) != identity(BY_COLUMN)
    assert identity(BY_COLUMN) != identity(Upgrade(base_column="old", per_base=3))


def test_a_class_that_came_later_is_none_that_the_base_knows(table):
    """Its examples are left to their labels; a reader is told."""
    late = table.with_columns(
        day=pl.when(pl.col("y") == "c").then(datetime.date(2024, 8, 1)).otherwise("day")
    )
    data = load_table(late.drop("old"), "y", aside="day")
    experiment = make_experiment(data, "focal", scenario=BY_TIME, runs=2)
    assert experiment.scenario.known_to(BASE_FIT).tolist() == [True, True, False]
    assert experiment.scenario.known_to(0) is None
    told = "no row that a base is trained on is of class c: it does not know it"
    assert told in experiment.data.notes
    result = bench(data, ["focal", "stay"], scenario=BY_TIME, runs=2, **SHORT)
    assert not result.settings[0].failures
    assert told in result.subject.data.notes


def test_a_class_that_no_test_row_has_is_told(table):
    early = table.with_columns(
        day=pl.when(pl.col("y") == "c").then(datetime.date(2024, 1, 1)).otherwise("day")
    )
    data = load_table(early.drop("old"), "y", aside="day")
    notes = make_experiment(data, "control", scenario=BY_TIME).data.notes
    assert "no test row is of class c" in notes
    before = (data.aside["day"][len(data.y_train) :] < datetime.date(2024, 5, 1)).sum()
    moved = f"{before} test rows with day before 2024-05-01 are trained on"
    assert any(note.startswith(moved) for note in notes)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("upgrade(time='day', split='2030-01-01')", "every training row is one with day before"),
        (
            "upgrade(time='day', split='2024-01-01')",
            "a base needs rows of at least 2 classes: 0 training rows are ones with day before "
            "2024-01-01, of 0 classes",
        ),
        ("upgrade(time='old', split='2024-01-01')", "column 'old' has 'no' in row|'yes' in row"),
        ("upgrade(base_column='day')", "column 'day' has .* in row 0: neither yes nor no"),
        ("upgrade(base_column='new')", "table has no column 'new' aside: load the table with"),
    ],
)
def test_rows_that_make_no_base(table, scenario, message):
    data = load_table(table, "y", aside=["day", "old"])
    with pytest.raises(InputError, match=message):
        make_experiment(data, "control", scenario=scenario)


def test_no_test_row_after_the_split(table):
    of_training = int(load_table(table.drop("old", "day"), "y").order[0])
    late = pl.when(pl.int_range(N) == of_training).then(datetime.date(2025, 1, 1)).otherwise("day")
    data = load_table(table.drop("old").with_columns(day=late), "y", aside="day")
    with pytest.raises(InputError, match="every test row is one with day before"):
        make_experiment(data, "control", scenario=Upgrade(time="day", split="2024-12-31"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time": "day"}, "where do the rows of the base end\\? Give split="),
        ({"split": 3}, "which column is to be split\\? Give time="),
        ({"base_column": "a", "base_share": 0.5}, "base_share and base_column both say what"),
        ({"base_column": "a", "time": "b", "split": 1}, "base_column and time both say what"),
        ({"base": "a.csv", "base_share": 0.5}, "base_share and base both say what the base is"),
        ({"base": "a.csv", "per_base": 2}, "per_base is for bases that are trained"),
        ({"id": "a"}, "id joins rows to those of a base: give base= too"),
    ],
)
def test_ways_that_do_not_go_together(parameters, message):
    with pytest.raises(InputError, match=message):
        make_scenario("upgrade", **parameters)


def test_a_given_share_is_scheduled_as_before():
    data = toys.dataset(120)
    schedule = make_schedule(make_experiment(data, "control", scenario="upgrade", runs=4))
    assert [schedule.jobs[key].run for key in schedule.bases] == [0, 0, 1, 1]
    assert not schedule.given
