"""An upgrade whose base is given: a model of any framework, or what it says, in any form."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import toys
from bases import (
    BATCHES,
    BEFORE,
    DATA,
    LOGITS,
    SAID,
    SHORT,
    TABLE,
    TREND,
    X,
    base_of,
    named,
    shuffled,
)
from unchurn import StableClassifier, bench, load_table
from unchurn.core.errors import InputError
from unchurn.gate.stay import served_probabilities
from unchurn.methods import Smelu
from unchurn.methods.registry import FROM_ANSWERS, FROM_WEIGHTS
from unchurn.study.advice.advice import advice
from unchurn.study.api import make_experiment
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Upgrade
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.streams import BASE_FIT
from unchurn.training.networks.factories import mlp


def test_a_given_models_predictions_are_what_runs_are_held_against(tmp_path):
    methods = ["control", "anchor", "knn_ls(k=3)"]
    result = bench(DATA, methods, scenario=Upgrade(base=TREND), runs=3, out=tmp_path, **SHORT)
    np.testing.assert_array_equal(base_of(result), BEFORE)
    bases = result.settings[0].runs["test"].base
    assert (bases == bases[0]).all()  # one for all runs
    control = result.settings[0].predictions["test"]
    right = bases[0] == DATA.y_test
    expected = np.mean([np.mean(right & (run != DATA.y_test)) for run in control])
    metric = result.subject.scenario.metrics["bad_flips"]
    assert metric.of(result.settings[0].runs["test"]).mean == pytest.approx(expected)
    assert "held against the base that was given." in " ".join(result.table().split())
    assert [r.setting.n_trained for r in result.settings] == [1, 1, 2]
    loaded = Result.load(tmp_path)
    assert loaded.subject.scenario.text == "upgrade(base='given')"
    assert loaded.table() == result.table()


def test_nothing_is_trained_or_kept_for_it(tmp_path):
    experiment = make_experiment(DATA, ["control", "anchor"], scenario=Upgrade(base=TREND), runs=2)
    schedule = make_schedule(experiment)
    assert schedule.n_trainings == len(schedule.jobs) == 4
    (base,) = schedule.given
    assert schedule.bases == [base, base]
    assert not Store(tmp_path).has(experiment.identity(schedule.given[base]))
    done = []
    bench(
        DATA, ["control", "anchor"], scenario=Upgrade(base=TREND), runs=2, **SHORT,
        on_progress=lambda *progress: done.append(progress[:2]),
    )  # fmt: skip
    assert (done[0], done[-1]) == ((0, 4), (4, 4))


@pytest.mark.parametrize(
    "base",
    [
        SAID,
        LOGITS,
        pl.DataFrame(named(SAID, "prob_")),
        pl.DataFrame(named(SAID, "prob_")).to_dict(as_series=False) | {"other": ["x"] * 240},
    ],
    ids=["probabilities", "logits", "frame", "more columns"],
)
def test_what_it_says_by_place(base):
    base = pl.DataFrame(base) if isinstance(base, dict) else base
    result = bench(DATA, "control", scenario=Upgrade(base=base), runs=2, **SHORT)
    np.testing.assert_array_equal(base_of(result), BEFORE)


@pytest.mark.parametrize("name", ["b.csv", "b.parquet", "b.npz", "b.xlsx", "b.feather", "b.jsonl"])
@pytest.mark.parametrize("columns", [named(SAID, "prob_"), named(LOGITS, "logits_")])
def test_files_are_joined_by_id(tmp_path, name, columns):
    path = toys.write_table(tmp_path / name, shuffled(columns).to_dict(as_series=False))
    experiment = make_experiment(DATA, "control", scenario=Upgrade(base=path, id="row"))
    given, parts = experiment.scenario.given, experiment.parts
    for part in ("validation", "test"):
        said = np.array(DATA.classes)[given.predictions[part]]
        np.testing.assert_array_equal(said, TREND.predict(parts.x[part]))
        np.testing.assert_allclose(
            given.probabilities[part], TREND.predict_proba(parts.x[part]), atol=1e-6
        )
    expected = np.log(TREND.predict_proba(parts.x_train))
    np.testing.assert_allclose(given.logits, expected, atol=1e-4)


def test_arrays_in_numpys_files(tmp_path):
    np.save(tmp_path / "b.npy", SAID)
    np.savez(tmp_path / "b.npz", probabilities=SAID[:, ::-1], classes=np.array([*"cba"]))
    np.savez(tmp_path / "numbers.npz", logits=LOGITS)
    for name in ("b.npy", "b.npz", "numbers.npz"):
        given = make_experiment(DATA, "control", scenario=Upgrade(base=tmp_path / name)).scenario
        said = np.array(DATA.classes)[given.given.predictions["test"]]
        np.testing.assert_array_equal(said, BEFORE)


def test_rows_of_named_data_are_training_rows_then_test_rows():
    data = toys.dataset(100)
    said = LogisticRegression().fit(data.x_train, data.y_train)
    both = said.predict_proba(np.concatenate([data.x_train, data.x_test]))
    given = make_experiment(data, "control", scenario=Upgrade(base=both)).scenario.given
    np.testing.assert_array_equal(given.predictions["test"], said.predict(data.x_test))
    # A model's own numbers of classes, where no name is known, are the data's.
    alone = make_experiment(data, "control", scenario=Upgrade(base=said)).scenario.given
    np.testing.assert_array_equal(alone.predictions["test"], said.predict(data.x_test))


METHODS = ["anchor(a=0.5)", "rcp", "focal", "anchor(a=0.5)+ema"]


@pytest.mark.parametrize("classes", ["abc", "ab"])
def test_methods_look_at_it_as_a_fit_looks_at_its_reference(classes):
    """Also at one that does not know a class: what StableClassifier does is done here."""
    rows = np.isin(np.array(DATA.classes)[DATA.y_train], [*classes])
    names = np.array(DATA.classes)[DATA.y_train]
    base = LogisticRegression().fit(DATA.x_train[rows], names[rows])
    result = bench(DATA, METHODS, scenario=Upgrade(base=base), runs=2, **SHORT)
    assert set(base_of(result)) <= set(classes)
    for method, found in zip(METHODS, result.settings, strict=True):
        own = {"method": method, "reference": base, "random_state": 0, **BATCHES}
        alone = StableClassifier(mlp, **own).fit(DATA.x_train, names)  # not scaled, as in a study
        predicted = np.array(DATA.classes)[found.predictions["test"][0]]
        np.testing.assert_array_equal(predicted, alone.predict(DATA.x_test))


def test_both_models_answer(tmp_path):
    scenario = Upgrade(base=SAID)
    result = bench(
        DATA, ["control", "stay(ratio=2)"], scenario=scenario, runs=2, out=tmp_path, **SHORT
    )
    alone = StableClassifier(method="control", random_state=0, **BATCHES).fit(DATA)
    before = TREND.predict_proba(DATA.x_test).astype(np.float32)
    served = served_probabilities(before, alone.predict_proba(DATA.x_test), 2)
    np.testing.assert_array_equal(result.settings[1].predictions["test"][0], served.argmax(axis=1))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A network of ours, in a file, that was trained on the first half of the table."""
    path = tmp_path_factory.mktemp("base") / "old.safetensors"
    half = load_table(TABLE.drop("row")[:120], "y")
    StableClassifier(method="control", random_state=1, **BATCHES).fit(half).save(path)
    return path


@pytest.mark.parametrize("method", ["warm_start", "warm_start+focal+ema", "project"])
def test_training_starts_from_a_saved_network(saved, method):
    """A table with the same columns is prepared as the base's was."""
    result = bench(
        TABLE.drop("row"), method, target="y", scenario=Upgrade(base=saved), runs=2, **SHORT
    )
    base = StableClassifier.load(saved)
    data = load_table(TABLE.drop("row"), "y", preparation=base.preparation_)
    np.testing.assert_array_equal(base_of(result), base.predict(data.x_test))
    alone = StableClassifier(method=method, reference=base, random_state=0, **BATCHES).fit(data)
    predicted = np.array(data.classes)[result.settings[0].predictions["test"][0]]
    np.testing.assert_array_equal(predicted, alone.predict(data.x_test))
    assert "prepared as the table of the base was" in result.subject.data.notes


def test_an_id_that_a_base_was_trained_on_stays_a_feature():
    """It was none of those that are left out then, or the base was fitted to a frame."""
    table = TABLE.with_columns(row=pl.int_range(240))
    half = load_table(table[:120], "y")
    columns = [replace(c, name=c.name.replace("row", "row_id")) for c in half.preparation.columns]
    base = StableClassifier(method="control", random_state=1, **BATCHES)
    base.fit(replace(half, preparation=replace(half.preparation, columns=tuple(columns))))
    own = table.rename({"row": "row_id"})
    result = bench(own, "control", target="y", scenario=Upgrade(base=base), runs=2, **SHORT)
    test = own[load_table(own, "y").order[-60:].tolist()]
    np.testing.assert_array_equal(base_of(result), base.predict(test))
    assert "prepared as the table of the base was" in result.subject.data.notes


def test_a_network_of_another_table_says_what_it_says_of_the_rows(saved):
    """With a column more, the new models have inputs of their own; weights do not fit."""
    wider = TABLE.drop("row").with_columns(new=pl.int_range(240) % 7)
    result = bench(
        wider, ["control", "anchor"], target="y", scenario=Upgrade(base=saved), runs=2, **SHORT
    )
    data = load_table(wider, "y")
    expected = StableClassifier.load(saved).predict(data.test_rows)
    np.testing.assert_array_equal(base_of(result), expected)
    with pytest.raises(InputError, match="warm_start needs the base's weights: its table was pre"):
        bench(wider, "warm_start", target="y", scenario=Upgrade(base=saved), **SHORT)
    # A preset leaves out what cannot be.
    names = [s.name for s in make_experiment(data, scenario=Upgrade(base=saved)).settings]
    assert "focal+safe_ema" in names
    assert not any("warm_start" in name for name in names)


def no_weights(base, **options):
    with pytest.raises(InputError, match="needs the base's weights") as error:
        make_experiment(DATA, "warm_start+ema", scenario=Upgrade(base=base), **options)
    return str(error.value)


def test_weights_that_are_not_there_are_told_before_any_training():
    network = {"random_state": 0, "epochs": 1}
    several = StableClassifier(method="ensemble(m=2)", **network).fit(DATA)
    wider = StableClassifier("mlp_three_hidden", "control", **network).fit(DATA)
    names = np.array(DATA.classes)[DATA.y_train]
    fewer = StableClassifier(method="control", **network).fit(
        DATA.x_train[names != "c"], names[names != "c"]
    )
    assert no_weights(SAID).endswith("only what the base says is known")
    assert no_weights(TREND).endswith("the base is no network of ours")
    assert no_weights(several).endswith("several networks serve")
    assert no_weights(wider).endswith("it is another network than mlp")
    assert no_weights(fewer).endswith("it has other classes")


def identity(base, data=DATA, **options):
    return make_experiment(
        data, "control", scenario=Upgrade(base=base, **options)
    ).scenario.identity()


def test_its_identity_is_its_content(tmp_path, saved):
    frame = pl.DataFrame(named(SAID, "prob_"))
    frame.write_parquet(tmp_path / "one.parquet")
    frame.select(reversed(frame.columns)).write_parquet(tmp_path / "two.parquet")
    shuffled(named(SAID, "prob_")).write_parquet(tmp_path / "three.parquet")
    first = identity(tmp_path / "one.parquet")
    assert identity(tmp_path / "two.parquet") == first
    assert identity(tmp_path / "three.parquet", id="row") == first
    other = SAID.copy()
    other[7] = 1 / 3
    assert identity(other) != first
    # Of two that say the same, weights tell them apart: runs may start from them.
    model = StableClassifier(method="control", random_state=0, epochs=1).fit(DATA)
    said = model.predict_proba(X)[np.argsort(DATA.order)]
    assert identity(model) != identity(said)
    again = tmp_path / "again.safetensors"
    model.save(again)
    assert identity(again) == identity(model)


def test_what_is_sent_to_other_processes_is_without_the_model():
    scenario = make_experiment(DATA, "control", scenario=Upgrade(base=TREND)).scenario
    assert b"LogisticRegression" not in pickle.dumps(scenario)


def test_trees_are_held_against_it():
    result = bench(
        DATA, ["control", "anchor", "stay"], model=toys.extra_trees, scenario=Upgrade(base=SAID),
        runs=2, workers=1, validation=False,
    )  # fmt: skip
    np.testing.assert_array_equal(base_of(result), BEFORE)


def test_a_base_no_better_than_a_guess_is_noted():
    moved = np.roll(SAID, 1, axis=1)  # every class's probability is another's
    result = bench(DATA, "control", scenario=Upgrade(base=moved), runs=2, **SHORT)
    assert any("always saying the commonest class" in note for note in result.subject.data.notes)
    result = bench(DATA, "control", scenario=Upgrade(base=TREND), runs=2, **SHORT)
    assert not any("commonest" in note for note in result.subject.data.notes)


def test_what_its_method_changed_of_the_network_is_noted_and_kept_where_its_weights_are():
    smooth = StableClassifier(method="smelu", random_state=0, **BATCHES).fit(DATA)
    found = make_experiment(DATA, scenario=Upgrade(base=smooth), runs=2)
    assert any("as smelu+warm_start does" in note for note in found.data.notes)
    started = [one.facts().written for one in found.settings if "warm_start" in one.name]
    assert make_setting(f"smelu+{FROM_WEIGHTS}").facts().written in started
    assert all(text.startswith("smelu+") for text in started)
    others = [one.facts().written for one in found.settings if "warm_start" not in one.name]
    assert not any("smelu" in text for text in others)
    with pytest.raises(InputError, match="project serves weights between the reference's"):
        make_experiment(DATA, "project", scenario=Upgrade(base=smooth), runs=2)
    grid = make_experiment(
        DATA, ["control", "smelu+project"], preset="grid", scenario=Upgrade(base=smooth), runs=2
    )
    assert all(one.method.combined[0] == Smelu(1.0) for one in grid.settings[1:])
    assert len(grid.settings) > 2
    wide = partial(mlp, n_hidden=3)
    found = make_experiment(DATA, scenario=Upgrade(base=smooth), learner=TorchLearner(wide), runs=2)
    assert make_setting(FROM_ANSWERS) in found.settings  # as `upgrade` trains
    assert not any("smelu" in one.name for one in found.settings)
    several = StableClassifier(method="smelu+ensemble(m=2)", random_state=0, **BATCHES).fit(DATA)
    found = make_experiment(DATA, scenario=Upgrade(base=several), runs=2)
    assert not any("smelu" in note for note in found.data.notes)  # whose weights nobody starts from
    assert make_setting(FROM_ANSWERS) in found.settings


def test_a_base_that_is_better_than_all_is_to_be_kept():
    sure = np.eye(3)[np.concatenate([DATA.y_train, DATA.y_test])][np.argsort(DATA.order)]
    result = bench(DATA, "control", scenario=Upgrade(base=sure), runs=2, **SHORT)
    assert advice(result).endswith(
        "before is more accurate than any of these, 100.00%: keep it, unless it was trained on "
        "these test rows, of which it then has too many right."
    )
    assert [n for n in result.subject.data.notes if "not trained on test rows" in n]


def test_a_network_for_other_inputs(saved):
    alike = replace(toys.dataset(60), preparation=DATA.preparation)
    with pytest.raises(InputError, match="base takes rows of a table, and toy has none"):
        make_experiment(alike, "control", scenario=Upgrade(base=saved))
    narrow = StableClassifier(epochs=1).fit(DATA.x_train[:, :2], DATA.y_train)
    with pytest.raises(InputError, match=r"base takes inputs of \(2,\), toy has \(4,\)"):
        make_experiment(toys.dataset(60), "control", scenario=Upgrade(base=narrow))


@pytest.mark.parametrize(
    ("base", "joined"),
    [
        (TREND, {}),
        (SAID, {}),
        (shuffled(named(LOGITS, "logits_")), {"id": "row"}),
    ],
)
def test_a_given_base_and_when_it_was_made(base, joined, tmp_path):
    """Tests are on what came after; what came before is trained on, test rows included."""
    step = pl.Series("step", np.random.default_rng(3).permutation(240))
    data = load_table(TABLE.with_columns(step), "y", aside=["row", "step"])
    scenario = Upgrade(base=base, time="step", split=100, **joined)
    experiment = make_experiment(data, "anchor", scenario=scenario, runs=2)
    is_old = (experiment.data.aside["step"] < 100).to_numpy()
    train, validation = (experiment.parts.rows[part] for part in ("train", "validation"))
    assert not is_old[validation].any()
    np.testing.assert_array_equal(
        experiment.scenario.rows(0, 0, BASE_FIT, len(train)), np.flatnonzero(is_old[train])
    )
    assert is_old[train].sum() == is_old.sum() == 100
    said = TREND.predict_proba(experiment.parts.x_train)  # of the very rows that are trained on
    np.testing.assert_array_equal(experiment.scenario.given.logits.argmax(1), said.argmax(1))
    result = bench(data, ["control", "anchor"], scenario=scenario, runs=2, out=tmp_path, **SHORT)
    late = (data.aside["step"] >= 100).to_numpy()[len(data.y_train) :]
    runs = result.settings[0].runs["test"]
    np.testing.assert_array_equal(runs.labels, data.y_test[late])
    np.testing.assert_array_equal(base_of(result), BEFORE[late])
    text = " ".join(result.table().split())
    assert f"test rows are the {late.sum()} with step from 100 on." in text
    assert Result.load(tmp_path).table() == result.table()
    other = make_experiment(data, "control", scenario=replace(scenario, split=90), runs=2)
    assert other.scenario.identity() != experiment.scenario.identity()


def test_a_saved_network_of_ones_own_is_refused_with_both_ways_out(tmp_path):
    def own(shape, n_classes):
        return mlp(shape, n_classes)

    path = tmp_path / "own.safetensors"
    StableClassifier(own, "control", epochs=1, random_state=0).fit(DATA).save(path)
    with pytest.raises(InputError, match=r"network of your own: give a file .* or, in Python"):
        bench(DATA, ["control"], scenario=Upgrade(base=path), runs=2, out=tmp_path / "o", **SHORT)
