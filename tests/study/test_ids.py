"""Files of predictions call a row as its owner does, so that they join with the owner's tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier

import toys
from unchurn import Columns, bench, compare, load_table
from unchurn.core.errors import InputError
from unchurn.study.results.ids import find_ids
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Upgrade

N = 120
QUICK = {"runs": 2, "epochs": 1, "workers": 1}


@pytest.fixture
def table(rng):
    """Text ids, numbers as ids, an id that is there twice, and days; none is the row's number."""
    ids = rng.permutation(N)
    return toys.frame(N).with_columns(
        row=pl.Series([f"r{i}" for i in ids]),
        id=pl.Series(ids + 1000, dtype=pl.Int32),
        user_id=pl.Series(ids // 2),
        day=pl.Series(pd.date_range("2024-01-01", periods=N).to_numpy()).cast(pl.Date),
    )


def written(folder, name="control-0"):
    return pl.read_parquet(folder / f"predictions/{name}.parquet")


@pytest.mark.parametrize(
    ("aside", "own"),
    [
        (["row", "user_id", "day", "id"], "id"),
        (["user_id", "day"], None),
        ([], None),
    ],
)
def test_rows_are_called_by_the_tables_id_else_by_their_number(tmp_path, table, aside, own):
    table = table.select("x0", "x1", "x2", "x3", "y", *aside)
    bench(table, "control", target="y", aside=aside, out=tmp_path, **QUICK)
    numbered = table.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    column = own or "number"
    Result.load(tmp_path).save(tmp_path / "again")
    for folder in (tmp_path, tmp_path / "again"):
        found = written(folder)
        assert found.columns[:3] == ["id", "prediction", "label"]
        joined = found.join(numbered, left_on="id", right_on=column, how="inner")
        assert len(joined) == len(found) == N // 4
        assert joined["label"].equals(joined["y"], check_names=False)


def test_an_id_of_another_name_has_that_beside(tmp_path, table):
    """Whoever has a file by order_id joins by it; files of the bench go by id, as all of them."""
    table = table.drop("id", "user_id", "day").rename({"row": "order_id"})
    result = bench(table, "control", target="y", aside="order_id", out=tmp_path, **QUICK)
    found = written(tmp_path)
    assert found.columns[:4] == ["id", "order_id", "prediction", "label"]
    assert found["id"].equals(found["order_id"], check_names=False)
    assert result.subject.data.id_column == "order_id"
    mine = table.select("order_id", prediction="y").reverse()
    both = compare(found, mine, columns=Columns(id="order_id"), min_overlap=0.25)
    assert both.n == N // 4
    assert both.estimates["accuracy_candidate"].value == 1


@pytest.mark.parametrize(
    ("aside", "own"),
    [
        (["row"], "row"),
        (["row", "user_id", "day", "opened", "note", "share"], "row"),
        (["number", "user_id"], "number"),
        (["row", "number"], ""),  # whichever it is
        (["user_id", "day", "opened", "note", "share"], ""),
    ],
)
def test_the_only_column_aside_that_tells_rows_apart_is_the_id(table, rng, aside, own):
    day = pl.col("day").cast(pl.String)
    table = table.drop("id").with_columns(
        number=pl.Series(rng.permutation(N)),
        share=pl.Series(rng.random(N)),
        opened=day + "T12:00",
        note="said on " + day,
    )
    data = load_table(table.select("x0", "y", *aside), "y", aside=aside)
    name, ids = find_ids(data, None)
    assert name == own
    if own:
        assert ids.tolist() == data.aside[own][-len(ids) :].to_list()
    assert find_ids(data, None, others=("row", "number"))[0] == ""


def test_an_id_that_is_a_feature_is_an_id(table):
    """Else numbers of rows would be joined with it."""
    name, ids = find_ids(load_table(table, "y", aside=["row", "day", "user_id"]), None)
    assert name == "id"
    assert set(ids) <= set(table["id"])


@pytest.mark.parametrize("odd", [None, "twice"])
def test_what_names_no_row_is_no_id(table, odd):
    """Missing, or there twice, if only among the rows that are trained on."""
    first = load_table(table, "y", aside=["row", "user_id", "day"]).order[:2]
    is_odd = pl.int_range(N).is_in(first.tolist())
    table = table.select("y", "x0", id=pl.when(is_odd).then(pl.lit(odd)).otherwise("row"))
    data = load_table(table, "y", aside="id")
    name, ids = find_ids(data, None)
    assert name == ""
    assert table["y"].gather(ids).to_list() == [data.classes[i] for i in data.y_test]


def test_a_pandas_index_is_an_id(tmp_path, table):
    own = table.select("x0", "x1", "y").to_pandas().set_index(table["id"].to_numpy())
    own.to_csv(tmp_path / "t.csv")
    bench(tmp_path / "t.csv", "control", target="y", out=tmp_path, **QUICK)
    found = written(tmp_path)
    assert found.columns[:3] == ["id", "prediction", "label"]
    assert own.loc[found["id"].to_numpy(), "y"].tolist() == found["label"].to_list()


def check_all_written(folder, table, column):
    """Hold what runs and their bases predicted against the table."""
    for name in ("control-0", "base-model-0"):
        found = written(folder, name)
        joined = found.join(table.with_columns(id=pl.col(column)), on="id", how="inner")
        assert len(joined) == len(found) > 0
        assert joined["label"].equals(joined["y"], check_names=False)


@pytest.mark.parametrize(
    "scenario", ["upgrade(time='day', split='2024-02-01')", "replay(time='day', every='30d')"]
)
def test_whatever_rows_a_scenario_tests_on(tmp_path, table, scenario):
    table = table.drop("row", "user_id")
    options = {"target": "y", "aside": "id", "scenario": scenario, "out": tmp_path}
    bench(table, "control", **options, **QUICK)
    check_all_written(tmp_path, table, "id")


def test_the_column_that_joins_a_base_is_the_id(tmp_path, table):
    says = {f"prob_{name}": np.full(N, 1 / 3) for name in "abc"}
    base = pl.DataFrame({"row": table["row"], **says}).reverse()
    options = {"target": "y", "aside": ["id", "day"], "out": tmp_path}
    bench(table, "control", scenario=Upgrade(base=base, id="row"), **options, **QUICK)
    check_all_written(tmp_path, table, "row")


@pytest.mark.parametrize(
    "scenario",
    ["retrain", "resample", "upgrade", "upgrade(time='day', split='2024-02-01')",
     "replay(time='day', every='30d')"],
)  # fmt: skip
def test_a_named_id_goes_before_all_others_in_every_scenario(tmp_path, table, scenario):
    options = {"target": "y", "aside": ["id", "day", "user_id"], "scenario": scenario}
    result = bench(table, "control", id="row", out=tmp_path, **options, **QUICK)
    assert result.subject.data.id_column == "row"
    found = written(tmp_path)
    assert found.columns[:2] == ["id", "row"]
    joined = found.join(table, on="row", how="inner")
    assert len(joined) == len(found) > 0
    assert joined["label"].equals(joined["y"], check_names=False)
    page = tmp_path / "page.html"
    result.report(page)
    assert all(f"row {result.subject.ids[one.number]}" in page.read_text()
               for one in result.examples)  # fmt: skip


def test_a_named_id_joins_a_base_too_unless_that_is_a_model(tmp_path, table):
    says = {f"prob_{name}": np.full(N, 1 / 3) for name in "abc"}
    base = pl.DataFrame({"row": table["row"], **says}).reverse()
    table = table.drop("id", "user_id", "day")
    model = DummyClassifier().fit(np.zeros((N, 4)), table["y"].to_numpy())
    for given in (base, model):
        bench(table, "control", target="y", id="row", scenario=Upgrade(base=given), out=tmp_path,
              **QUICK)  # fmt: skip
        check_all_written(tmp_path, table, "row")
    with pytest.raises(InputError, match="id is 'row', and 'x0' in the scenario: give one"):
        bench(table, "control", target="y", id="row", scenario=Upgrade(base=base, id="x0"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("user_id", "column 'user_id' of table has ids that are missing or twice"),
        ("gap", "column 'gap' of table has ids that are missing or twice"),
        ("y", "'y' is to be predicted: it cannot be aside"),
        ("rows", "no column 'rows'"),
    ],
)
def test_a_named_id_must_be_one(table, name, message):
    table = table.with_columns(gap=pl.when(pl.col("row") != "r3").then("row"))
    options = {"target": "y", "aside": ["id", "row", "user_id", "day", "gap"]}
    with pytest.raises(InputError, match=message):
        bench(table, "control", id=name, **options, **QUICK)


def test_only_tables_have_ids(table):
    with pytest.raises(InputError, match="has no column 'row' aside: only a table of your own"):
        bench(toys.dataset(80), "control", id="row", **QUICK)
    data = load_table(table.drop("id", "user_id", "day"), "y", aside="row")
    assert bench(data, "control", id="row", **QUICK).subject.data.id_column == "row"


def test_data_by_name_have_numbers_of_test_rows(tmp_path):
    bench(toys.dataset(80), "control", out=tmp_path, **QUICK)
    assert written(tmp_path)["id"].to_list() == list(range(40))


def test_ids_that_do_not_fit_are_refused(tmp_path, table):
    bench(table.drop("row", "user_id", "day"), "control", target="y", aside="id", out=tmp_path,
          **QUICK)  # fmt: skip
    with np.load(tmp_path / "result.npz") as kept:
        arrays = dict(kept)
    np.savez(tmp_path / "result.npz", **{**arrays, "ids": arrays["ids"][1:]})
    with pytest.raises(ValueError, match="ids are not those of 30 test rows"):
        Result.load(tmp_path)
