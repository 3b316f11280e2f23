"""History played again: a release every period, each held against the one before and the first."""

import datetime
import json

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import bench, load_table
from unchurn.core.errors import InputError
from unchurn.methods import Anchor, Control, Reference, WarmStart
from unchurn.study.api import make_experiment
from unchurn.study.design.schedule import make_schedule
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Replay, make_scenario
from unchurn.training.learners.base import score_distinct
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import BASE_FIT
from unchurn.training.networks.factories import mlp

N = 200
BY_MONTH = Replay(time="day", every="30d")
SHORT = {"epochs": 2, "batch_size": 16, "workers": 1}
START = datetime.date(2024, 1, 1)


def days(numbers):
    return [START + datetime.timedelta(days=int(number)) for number in numbers]


@pytest.fixture
def table(rng):
    """Clouds with a day of the first 150 of 2024: five periods of 30 days, four releases."""
    when = rng.permutation(np.arange(N) * 150 // N)
    return toys.frame(N, distance=1).drop("row").with_columns(pl.Series("day", days(when)))


def in_time(table):
    """Inputs, labels and periods of all rows as a replay has them."""
    data = load_table(table, "y", aside="day")
    x = np.concatenate([data.x_train, data.x_test])
    y = np.concatenate([data.y_train, data.y_test])
    return x, y, np.array([(day - START).days // 30 for day in data.aside["day"]])


def by_hand(method, x, y, release, reference=None):
    """A fit of run 1 as a release has it."""
    return toys.fit_run(
        method, mlp, x, y, 3, training=Training(2, 16), seed=0, run=1, fit=release * BASE_FIT,
        reference=reference,
    )  # fmt: skip


def test_a_row_is_tested_by_the_release_in_use_when_it_came(table):
    """Each is trained on all rows before it; the one before and the first predict the same rows."""
    result = bench(
        table, "control", target="y", scenario=BY_MONTH, runs=2, validation=False, **SHORT
    )
    x, y, period = in_time(table)
    tested = period >= 2
    expected = {kind: np.zeros(len(y), int) for kind in ("predictions", "base", "first")}
    fits = [by_hand(Control(), x[period <= k], y[period <= k], k) for k in range(4)]
    said = [fit.probabilities(x).argmax(axis=1) for fit in fits]
    for release in (1, 2, 3):
        rows = period == release + 1
        expected["predictions"][rows] = said[release][rows]
        expected["base"][rows] = said[release - 1][rows]
        expected["first"][rows] = said[0][rows]
    runs = result.settings[0].runs["test"]
    np.testing.assert_array_equal(runs.labels, y[tested])
    for kind, classes in expected.items():
        np.testing.assert_array_equal(getattr(runs, kind)[1], classes[tested])
    assert (runs.predictions[0] != runs.predictions[1]).any()  # another seed


def test_what_looks_at_a_base_looks_at_the_release_before_by_the_same_setting(table):
    method = WarmStart() + Anchor(a=0.5)
    result = bench(
        table, [method, "control"], target="y", scenario=BY_MONTH, runs=2, validation=False,
        **SHORT,
    )  # fmt: skip
    x, y, period = in_time(table)
    before = by_hand(Control(), x[period <= 0], y[period <= 0], 0)  # plain for all
    for release in (1, 2, 3):
        seen = period <= release
        logits, weights = score_distinct(before, x)[seen], before.weights()
        reference = Reference(lambda z=logits: z, y[seen], weights=lambda w=weights: w)
        before = by_hand(method, x[seen], y[seen], release, reference)
    runs = result.settings[0].runs["test"]
    last = period[period >= 2] == 4
    expected = before.probabilities(x[period == 4]).argmax(axis=1)
    np.testing.assert_array_equal(runs.predictions[1][last], expected)
    np.testing.assert_array_equal(runs.first, result.settings[1].runs["test"].first)


def drifting(rng, n=1760):
    """A label that is x0 > 0, and from 31 March on the reverse, when more rows come."""
    late = np.arange(n) >= n // 4
    when = np.where(late, 90 + rng.integers(0, 60, n), rng.integers(0, 90, n))
    x = rng.normal(size=(n, 2))
    y = (x[:, 0] > 0) ^ late ^ (rng.random(n) < 0.15)
    return pl.DataFrame({"day": days(when), "x0": x[:, 0], "x1": x[:, 1], "label": y.astype(int)})


def test_a_change_of_the_rule_shows_at_its_date(rng):
    """Accuracy falls where the change is; what was right by chance flips when it is learned."""
    result = bench(
        drifting(rng), ["control", "safe_ema"], target="label", scenario=BY_MONTH, runs=3,
        epochs=4, batch_size=16, workers=1,
    )  # fmt: skip
    found = result.releases()
    assert found["time"].unique().sort().to_list() == ["2024-03-01", "2024-03-31", "2024-04-30"]
    for method in ("control", "safe_ema"):
        own = found.filter(method=method).sort("release")
        accuracy, bad, good = (
            own[name].to_list() for name in ("accuracy", "bad_flips", "good_flips")
        )
        assert accuracy[1] < 30 < 70 < min(accuracy[0], accuracy[2])
        assert max(bad[:2]) < 3 < 8 < bad[2]  # labels are wrong in 15 % of rows: right before
        assert max(good[:2]) < 10 < 60 < good[2]
        assert own["accuracy_first"].to_list()[2] < 30  # the first release never learned it
        assert own["churn_first"].to_list()[2] > 70
    assert result.subject.history.times[2] == "2024-03-31T00:00:00"


METHODS = [
    "control", "safe_ema", "warm_start+anchor(a=0.5)+ema", "warm_start+anchor(a=0.5)", "stay",
    "ensemble(m=2)+anchor", "knn_ls(k=3)", "codistill_kl(n_warm=1)+rcp", "project", "focal",
]  # fmt: skip


def test_the_same_whatever_the_workers_and_where_it_stopped(table, tmp_path):
    options = {"target": "y", "scenario": BY_MONTH, "runs": 2, **SHORT}
    whole = bench(table, METHODS, out=tmp_path / "whole", **options)

    def stop(done, total, last):
        if done > stop.at:
            raise KeyboardInterrupt

    for stop.at in (5, 30, 60):
        with pytest.raises(KeyboardInterrupt):
            bench(table, METHODS, out=tmp_path / "parts", on_progress=stop, **options)
    parts = bench(table, METHODS, out=tmp_path / "parts", **{**options, "workers": 2})
    for one, other in zip(whole.settings, parts.settings, strict=True):
        assert not one.failures
        for part in ("test", "validation"):
            for kind in ("predictions", "base", "first"):
                first, second = (getattr(r.runs[part], kind) for r in (one, other))
                np.testing.assert_array_equal(first, second)
    assert whole.table() == parts.table()


def test_a_setting_alone_is_what_it_is_among_others(table):
    """What is trained together looks at the same: a chain has its own releases before."""
    data = load_table(table, "y", aside="day")
    schedule = make_schedule(make_experiment(data, METHODS, scenario=BY_MONTH, runs=2))
    together = schedule.together(schedule.jobs)
    assert max(map(len, together)) > 1
    for keys in together:
        assert len({tuple(schedule.references.get(key, ())) for key in keys}) == 1
    options = {"target": "y", "scenario": BY_MONTH, "runs": 2, **SHORT, "epochs": 5}
    among = bench(table, METHODS[2:4], **options)
    for number in (0, 1):
        alone = bench(table, METHODS[2 + number], **options)
        np.testing.assert_array_equal(
            alone.settings[0].predictions["test"], among.settings[number].predictions["test"]
        )


def test_settings_are_chosen_on_rows_that_nothing_is_trained_or_tested_on(table):
    data = load_table(table, "y", aside="day")
    experiment = make_experiment(data, "control", scenario=BY_MONTH)
    rows = experiment.parts.rows
    assert not set(rows["validation"]) & (set(rows["train"]) | set(rows["test"]))
    period = in_time(table)[2]
    assert set(period[rows["validation"]]) == {2, 3, 4}
    assert sorted([*rows["test"], *rows["validation"]]) == np.flatnonzero(period >= 2).tolist()
    assert set(period[rows["train"]]) == {0, 1, 2, 3}  # the last is only tested on
    history = experiment.scenario.history
    np.testing.assert_array_equal(history.tested_by["test"], period[rows["test"]] - 1)
    trained = [np.isin(period[rows["train"]], range(k + 1)).sum() for k in range(4)]
    assert list(history.trained_on) == trained
    for release, n in enumerate(trained):
        seen = experiment.scenario.rows(0, 0, release * BASE_FIT, len(rows["train"]))
        assert len(seen) == n
        assert period[rows["train"]][seen].max() == release


def test_trees_are_played_again_too(table):
    methods = ["control", "anchor(a=0.8)", "rcp", "stay", "ensemble(m=2)"]
    result = bench(
        table, methods, target="y", scenario=BY_MONTH, model=toys.extra_trees, runs=3, workers=1
    )
    assert list(result.choose()) == ["control", "anchor", "rcp", "stay", "ensemble"]
    assert "asks the release before when it serves" in " ".join(result.table().split())
    assert "All runs of control agree" not in result.table()
    assert [row.setting.n_trained for row in result.settings] == [1, 1, 1, 1, 2]
    assert len(result.releases()) == 5 * 3


def test_of_equal_chains_it_is_said_what_intervals_are_of(table, monkeypatch):
    monkeypatch.setattr("unchurn.study.advice.equal_runs.FEW_ROWS", 50)
    model = "sklearn.naive_bayes:GaussianNB"
    options = {"target": "y", "scenario": BY_MONTH, "model": model, "runs": 2, "workers": 1}
    text = " ".join(bench(table, "control", **options).table().split())
    assert "does not depend on its seed, and intervals are of the examples alone." in text
    assert "no churn of retraining" not in text


def test_what_follows_a_release_that_failed_fails_too(table):
    def fails(x, targets, seed):
        n = len(x)  # from the second release on
        value = np.nan if n > 70 else 1 / 3
        return lambda inputs: np.full((len(inputs), 3), value) + np.eye(3)[[n % 3]] / 10

    result = bench(
        table, "anchor", target="y", scenario=BY_MONTH, model=fails, runs=2, workers=1,
        validation=False,
    )  # fmt: skip
    (row,) = result.settings
    assert len(row.failures) == 2
    assert row.failures[0] == "run 0: the learner predicts probabilities that are not finite"
    assert result.releases().is_empty()


def test_a_class_that_came_later_is_none_that_earlier_releases_know(table):
    late = table.with_columns(
        day=pl.when(pl.col("y") == "c")
        .then(pl.max_horizontal("day", pl.lit(datetime.date(2024, 3, 5))))
        .otherwise("day")
    )
    data = load_table(late, "y", aside="day")
    experiment = make_experiment(data, "focal", scenario=BY_MONTH, runs=2)
    known = [experiment.scenario.known_to(release * BASE_FIT) for release in range(4)]
    assert [None if mask is None else mask.tolist() for mask in known] == [
        [True, True, False], [True, True, False], None, None
    ]  # fmt: skip
    (told,) = (note for note in experiment.data.notes if "class c" in note)
    assert told.startswith("no row of class c came before 2024-03-0")
    assert told.endswith(": releases until then do not know it")
    result = bench(data, ["focal", "rcp+ema"], scenario=BY_MONTH, runs=2, **SHORT)
    assert not any(row.failures for row in result.settings)


def test_fresh_runs_are_chains_too(table, tmp_path):
    methods = ["control", *(f"label_smoothing(a={a / 10})" for a in range(6))]
    options = {"target": "y", "scenario": BY_MONTH, "runs": 2, "workers": 1, "out": tmp_path}
    result = bench(table, methods, model=toys.extra_trees, **options)
    chosen = result.choose()["label_smoothing"]
    assert chosen.fresh is not None
    assert chosen.fresh.runs["test"].first.shape == chosen.runs["test"].predictions.shape
    loaded = Result.load(tmp_path)
    assert loaded.releases().equals(result.releases())


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


def test_another_scenario_has_no_releases():
    result = bench(toys.dataset(120), "control", model=toys.extra_trees, runs=2, workers=1)
    for ask in (result.releases, result.chart_over_time):
        with pytest.raises(InputError, match="retrain has no releases: the scenario replay has"):
            ask()


def test_a_budget_is_of_the_release_before(played):
    assert list(played.choose(max_bad_flips=0.9, max_churn=0.9)) == ["control", "anchor"]


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
    with pytest.raises(InputError, match="column 'day' has None in row 7: no date"):
        bench(gap, target="y", scenario=BY_MONTH)
    with pytest.raises(InputError, match="only a table of your own has such columns"):
        bench("digits", scenario=BY_MONTH)


def test_identities_go_by_the_rows_and_not_by_how_they_are_told(table):
    def identity(scenario, table=table, **options):
        data = load_table(table, "y", aside=scenario.columns[0])
        made = make_experiment(data, "control", scenario=scenario, **options)
        return made.identity(next(iter(make_schedule(made).jobs.values())))

    moved = table.with_columns(day=pl.col("day").cast(pl.String))
    renamed = moved.rename({"day": "when"})
    assert identity(BY_MONTH) == identity(BY_MONTH, moved)
    assert identity(BY_MONTH) == identity(Replay(time="when", every="720h"), renamed)
    assert identity(BY_MONTH) != identity(Replay(time="day", every="29d"))
    assert identity(BY_MONTH) != identity(BY_MONTH, validation=False)


def test_time_may_be_a_number(table, tmp_path):
    numbered = table.with_columns(pl.col("day").rank("ordinal").alias("step")).drop("day")
    options = {"target": "y", "model": toys.extra_trees, "runs": 2, "workers": 1}
    result = bench(numbered, "control", scenario=Replay(time="step", every=50), **options)
    assert result.releases()["time"].to_list() == ["101", "151"]
    result.save(tmp_path)
    loaded = Result.load(tmp_path)
    assert loaded.subject.history.times == (51.0, 101.0, 151.0)
    spec = loaded.chart_over_time("churn_to_base").to_dict()
    assert spec["layer"][0]["encoding"]["x"]["type"] == "quantitative"
    assert "one every 50 rows by step" in " ".join(loaded.table().split())
