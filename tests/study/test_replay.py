"""History played again: a release every period, each held against the one before and the first."""

import datetime

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
from unchurn.study.scenarios import Replay
from unchurn.training.learners.base import score_distinct
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import BASE_FIT
from unchurn.training.networks.factories import mlp

BY_MONTH = Replay(time="day", every="30d")
SHORT = {"epochs": 2, "batch_size": 16, "workers": 1}
START = datetime.date(2024, 1, 1)


@pytest.fixture
def table(rng):
    return toys.history(rng)


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
    return pl.DataFrame(
        {"day": toys.days(when), "x0": x[:, 0], "x1": x[:, 1], "label": y.astype(int)}
    )


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


def test_another_scenario_has_no_releases():
    result = bench(toys.dataset(120), "control", model=toys.extra_trees, runs=2, workers=1)
    for ask in (result.releases, result.chart_over_time):
        with pytest.raises(InputError, match="retrain has no releases: the scenario replay has"):
            ask()


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
