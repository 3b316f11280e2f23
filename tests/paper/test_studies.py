import csv
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from unchurn.core.errors import InputError
from unchurn.methods import METHODS, Control
from unchurn.paper.experiments import experiments, smaller
from unchurn.paper.published import ablation, along, find_published, published
from unchurn.paper.studies import RECIPES, STUDIES, Study
from unchurn.study.design.settings import make_setting
from unchurn.study.results.subject import subject_of

pytestmark = pytest.mark.usefixtures("small_phishing")


@pytest.mark.parametrize(
    ("study", "dataset", "count"),
    [("table1", "mnist", 10), ("table2", "svhn", 1), ("table3", "svhn", 26),
     ("figure2", "svhn", 15), ("figure3", "phishing", 108), ("trial-epochs", "phishing", 10),
     ("trial-lenet5", "svhn", 2), ("trial-reference", "phishing", 2), ("trial-anchor", "mnist", 2),
     ("trial-warm-up", "svhn", 6), ("trial-light", "mnist", 11), ("trial-pooling", "svhn", 6)],
)  # fmt: skip
def test_studies_have_the_papers_settings(study, dataset, count):
    settings = STUDIES[study].settings(dataset)
    assert len({(s.name, repr(s.method)) for s in settings}) == len(settings) == count


def test_table3_has_31_rows_of_26_settings():
    text = files("unchurn.paper").joinpath("data", "table_ablation.csv").read_text()
    assert len(list(csv.DictReader(text.splitlines()))) == 31
    assert len(ablation()) == 26
    assert all("churn_incorrect" not in row.mean for row in ablation())


def test_figure2_runs_along_each_parameter():
    values = {p: {row.parameters[p] for row in along(p)} for p in ("a", "b", "k")}
    assert values["a"] == {0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1}
    assert values["b"] == {0, 0.05, 0.1, 0.5, 0.9}
    assert values["k"] == {10, 100, 500}
    assert {(row.parameters["k"], row.parameters["a"]) for row in along("b")} == {(10, 0.5)}


def test_tables_train_what_was_published():
    for dataset in RECIPES:
        settings = [*STUDIES["table1"].settings(dataset), *STUDIES["table2"].settings(dataset)]
        for setting in settings:
            theirs = published()[dataset, setting.name].parameters
            assert {p: setting.method.get_params()[p] for p in theirs} == theirs


@pytest.mark.parametrize("dataset", RECIPES)
def test_every_row_of_the_tables_finds_what_was_published(dataset):
    settings = [*STUDIES["table1"].settings(dataset), *STUDIES["table2"].settings(dataset)]
    for setting in settings:
        found = find_published("table1", dataset, setting)
        assert found is published()[dataset, setting.name]
    assert find_published("table1", dataset, make_setting("anchor", a=0.3)) is None


def test_what_the_paper_does_not_give_may_be_any():
    for n_warm in (1000, 2000):
        setting = make_setting("codistill_kl", a=0.5, n_warm=n_warm)
        assert find_published("trial-warm-up", "svhn", setting).mean["churn"] == 13.01


@pytest.mark.parametrize("study", ["table1", "table2", "figure3"])
def test_another_method_is_no_part_of_the_papers_studies(study, monkeypatch):
    before = experiments(study, "phishing")
    monkeypatch.setitem(METHODS, "mine", type("Mine", (Control,), {}))
    monkeypatch.setattr(METHODS["mixup"], "grid", {"a": (0.2, 0.7)})
    after = experiments(study, "phishing")
    assert list(after) == list(before)
    for name, experiment in after.items():
        assert experiment.settings == before[name].settings


def test_figure3_is_as_captioned():
    settings = STUDIES["figure3"].settings("mnist")
    assert {s.method.k for s in settings if s.name == "knn_ls"} == {100}
    assert {s.method.n_warm for s in settings if s.name.startswith("codistill")} == {1000}
    assert "ensemble" not in {s.name for s in settings}


def test_what_is_smaller_is_in_the_name_and_said():
    (name,) = experiments("table1", "phishing", epochs=2, runs=3, subset=50, methods=["control"])
    assert name == "table1-phishing-control-50examples-3runs-2epochs"
    (run,) = experiments("table1", "phishing", epochs=2, runs=3, subset=50).values()
    assert len(run.data.y_train) == 50
    assert smaller(subject_of(run)) == [
        "50 of 7,406 train", "99 of 3,649 test", "2 of 20 epochs",
        "3 of 5 runs",
    ]  # fmt: skip
    assert "trained on 50 of 201 examples" in run.data.notes
    again = experiments("table1", "phishing", epochs=2, runs=3, subset=50)
    assert next(iter(again.values())).data.fingerprint == run.data.fingerprint


def test_settings_are_asked_for_as_they_are_written():
    asked = ["mixup(a=0.5)", "knn_ls(k=100, a=1, b=0.5)"]
    ((name, run),) = experiments("figure3", "phishing", methods=asked).items()
    assert re.fullmatch(r"figure3-phishing-part-[0-9a-f]{8}", name)
    assert [one.text for one in run.settings] == ["k=100 a=1 b=0.5", "a=0.5"]


def test_variants_differ_in_recipe_only():
    found = experiments("trial-epochs", "phishing")
    assert [run.learner.training.epochs for run in found.values()] == [5, 10, 20, 50, 100]
    assert next(iter(found)) == "trial-epochs-phishing-5epochs"
    assert {run.learner.model for run in found.values()} == {"mlp"}


def test_a_variant_may_train_on_fewer_examples(monkeypatch):
    few = Study(
        ("phishing",),
        lambda dataset: (make_setting("control"),),
        lambda recipe: {"50examples": replace(recipe, examples=50), "all": recipe},
    )
    monkeypatch.setitem(STUDIES, "trial-size", few)
    found = experiments("trial-size", "phishing")
    sizes = {name: len(run.data.y_train) for name, run in found.items()}
    assert sizes == {"trial-size-phishing-50examples": 50, "trial-size-phishing-all": 201}
    with pytest.raises(InputError, match="tries several numbers of examples itself"):
        experiments("trial-size", "phishing", subset=60)


def test_other_splits_have_the_same_rows():
    found = list(experiments("trial-split", "phishing").values())
    assert [s.name for s in found[0].settings] == ["control", "label_smoothing", "knn_ls"]
    assert len({run.data.fingerprint for run in found}) == 5
    for run in found:
        rows = np.concatenate([run.data.x_train, run.data.x_test]).sum(axis=0)
        np.testing.assert_allclose(rows, np.concatenate(
            [found[0].data.x_train, found[0].data.x_test]).sum(axis=0))  # fmt: skip
        assert len(run.data.y_train) == 201


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("table3", "mnist"), {}, "table3 has no dataset 'mnist': it has svhn"),
        (("table1", "phishing"), {"methods": ["ensemble"]}, "table1 has no method 'ensemble'"),
        (("table1", "phishing"), {"subset": 10**6}, "a subset has 2 to 201 training examples"),
        (("table1", "phishing"), {"runs": 1}, "at least 2 runs"),
        (("table1", "phishing"), {"epochs": 0}, "epochs must be"),
        (("trial-epochs", "phishing"), {"epochs": 9}, "tries several numbers of epochs itself"),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(InputError, match=message):
        experiments(*arguments, **options)
