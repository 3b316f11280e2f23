"""Fresh runs of what was chosen among many settings: what is reported, kept and read again."""

import json

import numpy as np
import pytest

import toys
from unchurn import bench
from unchurn.core.executors.local import Local
from unchurn.study.advice.advice import advice
from unchurn.study.api import make_experiment
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.report.table import OPTIMISM, chosen_table
from unchurn.study.results.collect import collect
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Upgrade
from unchurn.study.trainings.fresh_runs import _schedule, expected_schedule
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.base import DivergedError
from unchurn.training.learners.make import make_learner
from unchurn.training.loop.config import Training

DATA = toys.dataset(200)
RUNS = 3
SMOOTHED = [make_setting("label_smoothing", a=a) for a in (0.01, 0.05, 0.1, 0.3, 0.5, 0.7)]
SETTINGS = [make_setting("control"), make_setting("mixup"), *SMOOTHED]
QUICK = {"runs": RUNS, "epochs": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fresh")


@pytest.fixture(scope="module")
def result(folder):
    return bench(DATA, SETTINGS, workers=1, out=folder, **QUICK)


def column(table, heading):
    return {row[0].text: row[table.headings.index(heading)] for row in table.rows}


def test_what_is_reported_is_of_the_runs_after_those_that_chose(result):
    """As one who asks for twice as many runs gets them: the second half."""
    twice = bench(DATA, SETTINGS, workers=1, runs=2 * RUNS, epochs=3)
    churns = column(chosen_table(result), "churn")
    for name, chosen in result.choose().items():
        place = result.settings.index(chosen)
        for part, runs in twice.settings[place].predictions.items():
            np.testing.assert_array_equal(chosen.predictions[part], runs[:RUNS])
            np.testing.assert_array_equal(chosen.fresh.predictions[part], runs[RUNS:])
        assert churns[name].value == chosen.fresh.summary["test"].churn.mean
    unchosen = [one for one in result.settings if one not in result.choose().values()]
    assert len(unchosen) == 5
    assert all(one.fresh is None for one in unchosen)


def test_differences_from_control_are_of_fresh_runs_on_both_sides(result):
    chosen = result.choose()
    control, winner = (chosen[n].fresh.summary["test"] for n in ("control", "label_smoothing"))
    found = result.against_control(chosen["label_smoothing"])
    assert found["churn"].value == pytest.approx(winner.churn.mean - control.churn.mean)
    assert found["accuracy"].value == pytest.approx(winner.accuracy.mean - control.accuracy.mean)
    assert f"{control.accuracy.mean:.2%} accurate" in advice(result)


def test_the_optimism_is_shown_and_kept(result, folder):
    row = result.choose()["label_smoothing"]
    first, fresh = (r.summary["test"] for r in (row, row.fresh))
    less = first.churn.mean - fresh.churn.mean
    shown = column(chosen_table(result), OPTIMISM.format("churn"))
    assert shown["label_smoothing"].value == pytest.approx(less)
    said = f"(churn chosen − fresh: {100 * less:+z.2f}, the mean of the method that tried several"
    assert said in " ".join(result.table().split())
    kept = json.loads((folder / "result.json").read_text())["settings"]
    mine = kept[result.settings.index(row)]
    assert mine["fresh"]["optimism"]["churn"] == pytest.approx(less)
    assert mine["fresh"]["metrics"]["test"]["churn"]["mean"] == pytest.approx(fresh.churn.mean)
    assert mine["metrics"]["test"]["churn"]["mean"] == pytest.approx(first.churn.mean)
    assert sum("fresh" in one for one in kept) == 3
    frame = result.to_frame()
    assert frame["fresh_churn"].is_not_nan().to_list() == frame["chosen"].to_list()


def test_a_folder_alone_shows_it_again(result, folder, tmp_path):
    loaded = Result.load(folder)
    assert loaded.to_dict() == result.to_dict()
    for form in ("text", "markdown", "latex", "csv", "json", "html"):
        assert loaded.table(form) == result.table(form)
    assert advice(loaded) == advice(result)
    loaded.report(tmp_path / "page.html")
    assert OPTIMISM.format("churn") in (tmp_path / "page.html").read_text()
    loaded.save(tmp_path)
    for name in ("result.json", "result.npz", "table.csv"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_any_number_of_workers_gives_the_same_bytes_and_a_stop_costs_nothing(
    result, folder, tmp_path
):
    class StoppedError(Exception):
        pass

    def stop_in_fresh(done, total, last):
        if done == total - 4:
            raise StoppedError

    with pytest.raises(StoppedError):
        bench(DATA, SETTINGS, workers=1, out=tmp_path, on_progress=stop_in_fresh, **QUICK)
    seen = []
    bench(DATA, SETTINGS, workers=2, out=tmp_path, on_progress=lambda *r: seen.append(r), **QUICK)
    trained = [last for _, _, last in seen if last is not None]
    assert 0 < len(trained) <= 4
    assert seen[-1][0] == seen[-1][1]
    for name in ("table.csv", "table.md", "table.tex", "result.npz"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_few_settings_and_the_papers_protocol_get_none(tmp_path):
    few = bench(DATA, SETTINGS[:-1], workers=1, **QUICK)
    assert all(one.fresh is None for one in few.settings)
    assert "fresh" not in few.table() + few.table("csv") + json.dumps(few.to_dict())
    experiment = make_experiment(DATA, SETTINGS, learner=_learner(), runs=RUNS)
    plain = collect(carry_out(make_schedule(experiment), Store(tmp_path), Local(1)))
    assert all(one.fresh is None for one in plain.settings)
    assert expected_schedule(make_experiment(DATA, SETTINGS[:-1]), Store(tmp_path)) is None


def _learner():
    return make_learner("mlp", Training(3))


def test_the_plan_counts_them_and_knows_those_that_are_there(result, folder, tmp_path):
    settings = [*SETTINGS, make_setting("ensemble", m=2), make_setting("ensemble", m=4)]
    experiment = make_experiment(DATA, settings, learner=_learner(), runs=RUNS)
    planned = expected_schedule(experiment, Store(tmp_path))
    assert {job.run for job in planned.jobs.values()} == {3, 4, 5}
    # Control, mixup, label smoothing; of the ensemble the costliest, whose first member is control.
    assert len(planned.jobs) == (3 + 3) * RUNS
    there = expected_schedule(make_experiment(DATA, SETTINGS, learner=_learner(), runs=RUNS),
                              Store(folder))  # fmt: skip
    chosen = [one.setting.text for one in result.choose().values()]
    assert [setting.text for setting in there.experiment.settings] == chosen
    store, experiment = Store(folder), there.experiment
    assert all(store.has(experiment.identity(job)) for job in there.jobs.values())


def test_a_winner_whose_fresh_run_fails_is_none(tmp_path):
    """As any setting with a failed run; the next best is chosen, and trained again in turn."""
    plain = bench(DATA, SETTINGS, workers=1, **QUICK)
    winner = plain.choose()["label_smoothing"].setting.text

    def breaks(fit):
        def broken(self, methods, *args, run, **options):
            strength = getattr(methods[0], "a", 0)
            if run >= RUNS and make_setting("label_smoothing", a=strength).text == winner:
                raise DivergedError("no luck")
            return fit(self, methods, *args, run=run, **options)

        return broken

    with pytest.MonkeyPatch.context() as patch:
        kind = type(_learner())
        patch.setattr(kind, "fit_together", breaks(kind.fit_together))
        result = bench(DATA, SETTINGS, workers=1, out=tmp_path, **QUICK)
    other = result.choose()["label_smoothing"]
    assert other.setting.text != winner
    assert other.fresh is not None
    assert f"run {RUNS}: no luck" in result.table("csv")
    assert Result.load(tmp_path).table() == result.table()


@pytest.mark.parametrize(
    ("runs", "per_base", "first"), [(5, 2, 6), (6, 2, 6), (5, 1, 5), (2, 5, 5)]
)
def test_fresh_runs_of_an_upgrade_have_bases_of_their_own(runs, per_base, first):
    made = make_experiment(toys.dataset(120), scenario=Upgrade(per_base=per_base), runs=runs)
    fresh = _schedule(made, made.settings[:1]).experiment.run_numbers
    assert fresh == range(first, first + runs)


def test_where_no_run_has_a_base_of_its_own_fresh_runs_are_the_next():
    made = make_experiment(toys.dataset(120), runs=3)
    assert _schedule(made, made.settings[:1]).experiment.run_numbers == range(3, 6)
