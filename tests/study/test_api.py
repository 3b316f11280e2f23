"""`unchurn.bench` and `unchurn bench`: one code, one set of defaults, one folder."""

import inspect
import json
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import toys
from unchurn import bench, cli
from unchurn.core.errors import InputError
from unchurn.methods import Control, Ema
from unchurn.study.api import make_experiment
from unchurn.study.config import BenchConfig
from unchurn.study.design.settings import make_setting
from unchurn.training.learners.make import make_learner

DATA = toys.dataset(200)
FEW = {"runs": 2, "workers": 1}
QUICK = {"epochs": 1, **FEW}  # of networks


def test_defaults_are_the_same():
    ours = {name: p.default for name, p in inspect.signature(bench).parameters.items()}
    for name, field in BenchConfig.model_fields.items():
        if name in ours and name not in ("data", "model_args"):
            assert field.get_default() == ours[name], name


def test_both_leave_the_same_folder(tmp_path, monkeypatch):
    methods = "control,label_smoothing(a=0.3)+ema,ensemble(m=2)"
    options = ("--runs", "2", "--epochs", "2", "--batch-size", "64", "--learning-rate", "0.01",
               "--workers", "1", "--out", str(tmp_path / "cli"))  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["unchurn", "bench", "digits", "--methods", methods, *options])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code
    bench("digits", methods.split(","), runs=2, epochs=2, batch_size=64, learning_rate=0.01,
          workers=1, out=tmp_path / "api")  # fmt: skip
    one, two = (
        {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        for folder in (tmp_path / "cli", tmp_path / "api")
    )
    assert one.keys() == two.keys()
    apart = {p.name for p in one if one[p] != two[p]}
    assert apart <= {"record.json", "result.json"}  # which have the seconds that it took
    first, second = (json.loads(side[Path("result.json")]) for side in (one, two))
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_an_estimator_is_benched_by_name_class_or_object(tmp_path):
    name = "sklearn.ensemble:ExtraTreesClassifier"
    given = {"n_estimators": 5, "max_depth": 4}
    by_name = bench(DATA, ["control", "knn_ls(k=5)"], model=name, model_args=given, **FEW)
    by_class = bench(
        DATA, ["control", "knn_ls(k=5)"], model=ExtraTreesClassifier, model_args=given, **FEW
    )
    of_object = bench(DATA, ["control", "knn_ls(k=5)"], model=ExtraTreesClassifier(**given), **FEW)
    assert by_name.table("csv") == by_class.table("csv") == of_object.table("csv")
    assert by_name.subject.learner_label == "ExtraTreesClassifier"
    assert "n_estimators=5" in by_name.subject.learner_facts["estimator"]


def test_every_step_of_a_pipeline_has_the_runs_seed():
    pipeline = make_pipeline(StandardScaler(), ExtraTreesClassifier(3, random_state=0))
    methods = ["control", "ensemble(m=2)"]
    one, two = (bench(DATA, methods, model=pipeline, **FEW) for _ in range(2))
    assert one.table("csv") == two.table("csv")
    assert one.settings[0].summary["test"].churn.mean > 0
    assert pipeline.get_params()["extratreesclassifier__random_state"] == 0  # it is the user's


def test_estimators_are_told_apart_by_all_that_they_hold():
    priors = np.full(2000, 1 / 2000)
    other = priors.copy()
    other[1000:1002] += [1e-4, -1e-4]
    learners = [make_learner(GaussianNB(priors=p)) for p in (priors, other, priors)]
    one, two, three = (str(learner.identity) for learner in learners)
    assert one == three != two


def test_methods_are_taken_in_every_form():
    forms = [
        "control, ema",
        ["control", "ema"],
        [Control(), Ema()],
        [make_setting("control"), "ema"],
    ]
    tables = {bench(DATA, methods, **QUICK).table("csv") for methods in forms}
    assert len(tables) == 1


def test_a_training_function_may_have_defaults_and_arguments():
    def train(x, targets, seed=0, depth=3):
        assert depth in (3, 5)
        return toys.extra_trees(x, targets, seed)

    bench(DATA, ["control"], learner=train, **FEW)

    def needs(x, targets, seed, depth=3):
        return train(x, targets, seed, depth)

    assert bench(DATA, ["control"], model=needs, model_args={"depth": 5}, **FEW).choose()
    with pytest.raises(InputError, match="a model or a learner, not both"):
        bench(DATA, ["control"], model="lenet5", learner=train, **QUICK)


def test_a_built_in_network_takes_arguments():
    result = bench(DATA, ["control"], model="mlp", model_args={"n_hidden": 3}, **QUICK)
    assert result.subject.learner_label == "mlp(n_hidden=3)"
    with pytest.raises(InputError, match=r"model 'mlp\(depth=3\)' fails on"):
        bench(DATA, ["control"], model="mlp", model_args={"depth": 3}, **QUICK)


def test_a_model_that_ignores_its_seed_is_said_to():
    result = bench(DATA, ["control"], model=GaussianNB(), **FEW)
    said = " ".join(result.table().split())
    n = len(DATA.y_test)
    assert f"All runs of control agree on all {n} test rows: as far as they tell, plain" in said


def test_tables_are_taken_as_frames_and_as_paths(tmp_path):
    table = pl.DataFrame({"x": range(60), "y": [("no", "yes")[i > 30] for i in range(60)]})
    table.write_csv(tmp_path / "shop.csv")
    forms = [table, table.to_pandas(), str(tmp_path / "shop.csv"), tmp_path / "shop.csv"]
    results = [bench(form, ["control"], target="y", **QUICK) for form in forms]
    assert len({result.subject.data.fingerprint for result in results}) == 1
    with pytest.raises(InputError, match="which column is to be predicted"):
        bench(table, ["control"], **QUICK)
    with pytest.raises(InputError, match="target is for a table of your own"):
        bench("digits", ["control"], target="y", **QUICK)


def test_a_result_is_a_frame_and_a_chart():
    result = bench(DATA, ["control", "mixup"], **QUICK)
    frame = result.to_frame()
    assert frame["method"].to_list() == ["control", "mixup"]
    churn = result.settings[0].summary["test"].churn.mean
    assert frame["churn"][0] == pytest.approx(100 * churn)
    assert "LayerChart" in type(result.chart()).__name__


def test_without_methods_it_tries_what_the_model_can():
    result = bench(DATA, model=ExtraTreesClassifier(3), **FEW)
    assert list(result.by_method) == ["control", "ensemble", "bagging"]


def test_an_estimators_plain_fit_is_its_own(tmp_path):
    """Retrained by hand with the stream's seed, it predicts the same."""
    from unchurn.training.loop.streams import Stream

    result = bench(DATA, ["control"], model=ExtraTreesClassifier(3), validation=False, **FEW)
    for run in range(2):
        seed = int(Stream(0, run, 0).generator("weights").integers(2**31))
        alone = ExtraTreesClassifier(3, random_state=seed).fit(DATA.x_train, DATA.y_train)
        np.testing.assert_array_equal(
            result.settings[0].predictions["test"][run], alone.predict(DATA.x_test)
        )


def test_classes_that_training_never_saw_have_a_column():
    from unchurn.training.learners.sklearn import EstimatorTraining

    targets = np.eye(3, dtype=np.float32)[np.arange(20) % 2]  # never class 2
    predict = EstimatorTraining(ExtraTreesClassifier(3))(DATA.x_train[:20], targets, 0)
    p = predict(DATA.x_test)
    assert p.shape == (100, 3)
    assert (p[:, 2] == 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": LinearSVC()}, "LinearSVC has no predict_proba"),
        ({"model": "sklearn.ensemble:Nothing"}, "model 'sklearn.ensemble:Nothing': module"),
        ({"model": HistGradientBoostingClassifier, "model_args": {"no": 1}}, "HistGradient.*no"),
        (
            {"model": ExtraTreesClassifier(), "methods": ["ema"]},
            "ema changes more than the targets",
        ),
        ({"model": LogisticRegression(C=-1)}, "LogisticRegression: The 'C' parameter"),
        ({"model": "cnn"}, "no model 'cnn': there are mlp"),
        ({"model": 3}, "model must be a name, an estimator, or a function"),
        (
            {"scenario": "upgrades"},
            "no scenario 'upgrades' .did you mean 'upgrade'.*: there are retrain",
        ),
        ({"device": "gpu"}, "device 'gpu' cannot be used"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(InputError, match=message):
        bench(DATA, options.pop("methods", ["control"]), **options, **FEW)


def test_an_estimator_without_weights_takes_no_soft_targets():
    from sklearn.neighbors import KNeighborsClassifier

    learner = make_learner(KNeighborsClassifier())
    with pytest.raises(InputError, match=r"softens targets: KNeighborsClassifier.fit takes no"):
        make_experiment(DATA, ["label_smoothing"], learner=learner)
    make_experiment(DATA, ["control", "ensemble"], learner=learner)


def test_the_time_of_what_will_run_is_measured():
    """An estimate asks the learner itself, on some of the examples."""
    asked = []

    def slow(x, targets, seed):
        asked.append(len(x))
        return lambda x: np.full((len(x), 3), 1 / 3)

    x, y = toys.blobs(5000)
    assert make_learner(slow).probe(x, y, 3).seconds > 0
    assert asked == [2000]


@pytest.mark.parametrize(
    ("scenario", "preset", "tried"),
    [
        ("retrain", "quick", ["control", "ensemble", "bagging"]),
        ("upgrade", "quick", ["control", "anchor", "rcp", "stay"]),
        (
            "retrain",
            "best",
            ["control", "label_smoothing", "knn_ls", "distill", "ensemble", "medoid", "bagging"],
        ),
    ],
)
def test_what_is_no_network_tries_as_much_of_each_recipe_as_it_can(scenario, preset, tried):
    """Of `anchor+safe_ema` trees try `anchor`, once."""
    learner = make_learner(toys.extra_trees)
    found = make_experiment(toys.dataset(), learner=learner, scenario=scenario, preset=preset)
    assert [setting.name for setting in found.settings] == tried


@pytest.mark.parametrize(
    ("data", "options", "problem"),
    [
        (DATA, {"methods": 5}, "methods must be a text or a list, not 5"),
        (DATA, {"scenario": 3}, "scenario must be a name or a Scenario, not 3"),
        (DATA, {"workers": "2"}, "workers must be a whole number of at least 1, not '2'"),
        (DATA, {"workers": 0}, "workers must be a whole number of at least 1, not 0"),
        (DATA, {"seed": 1.5}, "seed must be a whole number of at least 0, not 1.5"),
        (DATA, {"runs": 2.5}, "runs must be a whole number of at least 1, not 2.5"),
        (
            (DATA.x_train, DATA.y_train),
            {},
            "a table's path or a frame, not tuple",
        ),
    ],
)
def test_what_is_of_another_type_is_named(data, options, problem):
    with pytest.raises(InputError, match=re.escape(problem)):
        bench(data, **{"methods": "control", **QUICK, **options})


def test_a_setting_that_is_given_twice_is_tried_once():
    given = ["control", "ema(decay=0.9)", Control(), "control", Ema(decay=0.9), "ema(decay=0.99)"]
    found = make_experiment(DATA, given).settings
    assert [str(one.method) for one in found] == ["control", "ema(decay=0.9)", "ema(decay=0.99)"]


def test_options_of_networks_are_refused_for_trees():
    for name, value in (("epochs", 3), ("batch_size", 7), ("learning_rate", 5.0)):
        with pytest.raises(InputError, match=f"{name} is for networks, and extra_trees is none"):
            bench(toys.dataset(60), "control", model=toys.extra_trees, **{name: value})
