"""What a replay leaves behind: its folder, page and charts, and its numbers from these."""

import datetime
import json

import polars as pl
import pytest

import toys
from unchurn import bench
from unchurn.core.errors import InputError
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Replay

BY_MONTH = Replay(time="day", every="30d")
SHORT = {"epochs": 2, "batch_size": 16, "workers": 1}


@pytest.fixture
def table(rng):
    return toys.history(rng)


@pytest.fixture
def played(table, tmp_path):
    methods = ["control", "anchor"]
    options = {"target": "y", "scenario": BY_MONTH, "runs": 3, "out": tmp_path, **SHORT}
    return bench(table, methods, **options)


def test_a_folder_holds_all_of_it(played, tmp_path):
    loaded = Result.load(tmp_path)
    assert loaded.to_dict() == played.to_dict()
    assert loaded.table() == played.table()
    assert loaded.subject.scenario == BY_MONTH
    assert loaded.releases().equals(played.releases())
    written = pl.read_csv(tmp_path / "releases.csv")
    assert written.columns == played.releases().columns
    assert written.height == 2 * 3
    # The mean over releases, by their rows, is the table's.
    own = written.filter(method="control")
    for metric in ("accuracy", "bad_flips", "churn_first", "accuracy_base"):
        whole = played.subject.scenario.metrics[metric].of(played.settings[0].runs["test"]).mean
        by_row = (own[metric] * own["tested_on"]).sum() / own["tested_on"].sum()
        assert by_row == pytest.approx(100 * whole, abs=1e-3)
    text = " ".join(played.table().split())
    for said in ("one every 30d by day", "bad flips to first", "bad flips − control's",
                 "jackknife over chains of releases"):  # fmt: skip
        assert said in text


def test_releases_can_be_measured_again_from_the_predictions(played, tmp_path):
    written = pl.read_csv(tmp_path / "releases.csv")
    for method in ("control", "anchor"):
        found = []
        for run in range(3):
            own, base = (
                pl.read_parquet(tmp_path / f"predictions/{name}-{run}.parquet")
                for name in (method, f"base-model-of-{method}")
            )
            assert own["id"].equals(base["id"])
            assert own["release"].equals(base["release"])
            right, before = (one["prediction"] == one["label"] for one in (own, base))
            found.append(own.select("release", accuracy=right, bad_flips=before & ~right))
        each = pl.concat(found).group_by("release").agg(pl.all().mean() * 100, n=pl.len() / 3)
        told = written.filter(method=method).join(each, on="release", suffix="_again")
        assert told.height == 3
        assert told["n"].to_list() == told["tested_on"].to_list()
        for metric in ("accuracy", "bad_flips"):
            again = told[f"{metric}_again"].to_list()
            assert told[metric].to_list() == pytest.approx(again, abs=1e-3)


def test_an_id_that_is_called_release_is_none_of_ours(table, tmp_path):
    own = table.with_columns(release=pl.int_range(table.height) + 5000)
    options = {"target": "y", "scenario": BY_MONTH, "runs": 2, "id": "release", **SHORT}
    bench(own, ["control"], out=tmp_path, **options)
    found = pl.read_parquet(tmp_path / "predictions/control-0.parquet")
    assert set(found["id"]) <= set(own["release"])
    assert set(found["release"]) == {1, 2, 3}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda subject: subject.pop("history"), "a history is of the scenario replay"),
        (lambda subject: subject["history"]["times"].pop(), "3 releases, and 4 numbers of rows"),
        (
            lambda subject: (
                subject["history"]["times"].pop(),
                subject["history"]["trained_on"].pop(),
            ),
            "part is not tested by releases 1 to 2",
        ),
        (
            lambda subject: subject["history"]["times"].__setitem__(0, "<b>soon</b>"),
            "which is no time",
        ),
        (lambda subject: subject["history"]["times"].__setitem__(0, 3), "history.times"),
        (lambda subject: subject.update(scenario="upgrade"), "a history is of the scenario replay"),
    ],
)
def test_a_folder_that_was_edited(played, tmp_path, edit, message):
    record = json.loads((tmp_path / "result.json").read_text())
    edit(record["subject"])
    (tmp_path / "result.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=message):
        Result.load(tmp_path)


def test_a_page_shows_what_happened_over_time_and_escapes_all(table, tmp_path):
    name = "<b>day</b>"
    result = bench(
        table.rename({"day": name}), ["control", "anchor"], target="y", runs=2,
        scenario=Replay(time=name, every="30d"), **SHORT,
    )  # fmt: skip
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<b>day" not in page
    assert "&lt;b&gt;day" in page
    for title in (
        "Accuracy over time",
        "Bad flips from release to release",
        "Churn from release to release",
        "Bad flips against the first release",
        "Churn against the first release",
    ):
        assert f"<h2>{title}</h2>" in page
    assert "first release, kept" in page


def test_charts_have_a_line_for_each_method_over_time(played):
    (points,) = played.chart_over_time("bad_flips").to_dict()["datasets"].values()
    assert [(p["method"], p["release"]) for p in points] == [
        (method, day)
        for method in ("control", "anchor")
        for day in ("2024-03-01", "2024-03-31", "2024-04-30")
    ]
    first = datetime.datetime(2024, 3, 1, tzinfo=datetime.UTC)
    assert points[0]["at"] == 1000 * first.timestamp()
    axis = played.chart_over_time("bad_flips").to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [p["at"] for p in points[:3]]  # a tick a release
    own = played.releases().filter(method="anchor")["bad_flips"].to_list()
    assert [p["bad_flips"] for p in points[3:]] == pytest.approx(own, abs=1e-3)
    (points,) = played.chart_over_time().to_dict()["datasets"].values()
    kept = points[-1]
    assert kept["method"] == "first release, kept"
    assert kept["accuracy"] == pytest.approx(played.releases()["accuracy_first"][2], abs=1e-3)
    with pytest.raises(InputError, match="no metric 'speed': there are accuracy, bad_flips"):
        played.chart_over_time("speed")


def test_a_budget_is_of_the_release_before(played):
    assert list(played.choose(max_bad_flips=0.9, max_churn=0.9)) == ["control", "anchor"]
