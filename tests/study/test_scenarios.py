"""What happens between two models: resample and upgrade."""

import numpy as np
import pytest

import toys
from unchurn import bench
from unchurn.core.errors import InputError
from unchurn.gate.stay import served_probabilities
from unchurn.study.api import make_experiment
from unchurn.study.design.schedule import make_schedule
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Resample, Upgrade, make_scenario
from unchurn.study.trainings.store import Store
from unchurn.training.learners.make import make_learner
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import BASE_FIT

DATA = toys.dataset(240, distance=1)
SHORT = {"epochs": 3, "batch_size": 16, "workers": 1}


@pytest.mark.parametrize(
    ("text", "scenario"),
    [
        ("resample", Resample()),
        ("resample(share=0.9, same_seed=True)", Resample(share=0.9, same_seed=True)),
        ("upgrade(base_share=0.25)", Upgrade(base_share=0.25)),
    ],
)
def test_scenarios_are_written_with_their_parameters(text, scenario):
    assert make_scenario(text) == scenario
    assert make_scenario(scenario.text) == scenario


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("reshuffle", {}, "no scenario 'reshuffle': there are retrain, resample, upgrade"),
        (
            "retrain",
            {"share": 0.5},
            "retrain takes no share: it takes nothing; resample does",
        ),
        ("upgrade", {"share": 0.5}, "takes no share: it takes base_share, per_base"),
        ("resample", {"share": 1.0}, "share must be above 0 and below 1"),
        ("resample(share='x')", {}, "share must be from 0 to 1, not 'x'"),
        ("resample(share=0.5", {}, "is no scenario: write resample or "),
        ("upgrade", {"base_share": 0}, "base_share must be above 0"),
        ("upgrade", {"per_base": 0}, "per_base must be a whole number of at least 1"),
    ],
)
def test_bad_scenarios_are_named(text, parameters, message):
    with pytest.raises(InputError, match=message):
        make_scenario(text, **parameters)


def test_samples_are_a_runs_own():
    one, again, other = (Resample().rows(0, run, fit, 100) for run, fit in ((0, 0), (0, 3), (1, 0)))
    np.testing.assert_array_equal(one, again)  # whatever a run trains sees the same
    assert (one != other).any()
    assert len(one) == 100 > len(set(one.tolist()))
    share = Resample(share=0.9).rows(0, 0, 0, 100)
    assert len(share) == 90 == len(set(share.tolist()))


def test_one_seed_leaves_the_datas_part_alone():
    """What does not depend on the data's draw is then the same in all runs."""

    def constant(x, targets, seed):  # predicts by its seed, and by how many rows of a class it saw
        rng = np.random.default_rng(seed)
        return lambda inputs: np.tile(rng.dirichlet(np.ones(3)), (len(inputs), 1))

    def churn(scenario):
        result = bench(DATA, "control", model=constant, runs=5, workers=1, scenario=scenario)
        return result.settings[0].summary["test"].churn.mean

    assert churn("resample") > 0
    assert churn("resample(same_seed=True)") == 0


def test_an_upgrade_holds_every_run_against_its_base(tmp_path):
    methods = ["control", "anchor(a=1)", "warm_start", "knn_ls(k=3)"]
    result = bench(DATA, methods, scenario="upgrade", runs=4, out=tmp_path, **SHORT)
    runs = result.settings[0].runs["test"]
    assert (runs.base[0] == runs.base[1]).all()  # two runs share a base
    assert (runs.base[2] == runs.base[3]).all()
    assert (runs.base[0] != runs.base[2]).any()
    found = {r.setting.name: r for r in result.settings}
    moved = {name: np.mean(r.predictions["test"] != runs.base) for name, r in found.items()}
    assert moved["anchor"] < moved["control"]
    text = " ".join(result.table().split())
    for heading in ("bad flips", "churn to base", "flip index", "churn of two", "base's accuracy"):
        assert heading in text
    assert "bad flips − control's" in text
    assert found["anchor"].setting.n_trained == 1  # the base is there already
    assert found["knn_ls"].setting.n_trained == 2
    assert "share one reference" not in text
    loaded = Result.load(tmp_path)
    assert loaded.to_dict() == result.to_dict()
    assert loaded.table() == result.table()


def test_a_base_sees_its_share_and_what_looks_at_a_fixed_reference_looks_at_it():
    methods = ["control", "rcp", "knn_ls(k=3)", "warm_start+ema"]
    experiment = make_experiment(DATA, methods, scenario="upgrade(base_share=0.25)", runs=4)
    schedule = make_schedule(experiment)
    bases = set(schedule.bases)
    assert [schedule.jobs[key].run for key in schedule.bases] == [0, 0, 1, 1]
    looked_at = {}
    for key, references in schedule.references.items():
        looked_at.setdefault(str(schedule.jobs[key].method), set()).update(references)
    assert looked_at["rcp"] == bases
    assert not looked_at["knn_ls(k=3)"] & bases
    assert all(schedule.keeps(key).weights for key in bases)
    rows = experiment.scenario.rows(0, 1, BASE_FIT, 120)
    assert len(rows) == 30
    assert experiment.scenario.rows(0, 1, 0, 120) is None


def test_to_stay_takes_no_training_of_its_own_and_both_models_answer(tmp_path):
    """What is served is what the function says of both models' probabilities."""
    options = {"scenario": "upgrade", "runs": 2, "out": tmp_path, **SHORT}
    result = bench(DATA, ["control", "stay(ratio=2)", "stay(ratio=2)+ema"], **options)
    experiment = make_experiment(
        DATA, ["control", "stay(ratio=2)"], scenario="upgrade", runs=2,
        learner=make_learner("mlp", Training(3, 16)),
    )  # fmt: skip
    schedule = make_schedule(experiment)
    assert schedule.n_trainings == 3  # two runs and their base
    store = Store(tmp_path)
    new, base = (
        store.get(experiment.identity(schedule.jobs[key])).arrays["test"]
        for key in (schedule.members[0][1][0], schedule.bases[1])
    )
    expected = served_probabilities(base, new, 2).argmax(axis=1)
    np.testing.assert_array_equal(result.settings[1].predictions["test"][1], expected)
    assert (expected != new.argmax(axis=1)).any()
    assert [r.setting.n_models for r in result.settings] == [1, 2, 2]
    assert [r.setting.n_trained for r in result.settings] == [1, 1, 1]


def test_trees_are_upgraded_too():
    methods = ["control", "anchor(a=0.8)", "rcp", "stay"]
    result = bench(DATA, methods, scenario="upgrade", model=toys.extra_trees, runs=4, workers=1)
    assert list(result.choose()) == ["control", "anchor", "rcp", "stay"]
    with pytest.raises(InputError, match="warm_start changes more than the targets"):
        bench(DATA, "warm_start", scenario="upgrade", model=toys.extra_trees, workers=1)
