"""`upgrade`, and references of every kind."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import toys
from unchurn import StableClassifier, load_table, upgrade
from unchurn.core.errors import InputError
from unchurn.datasets.base import split
from unchurn.methods.registry import FROM_ANSWERS, FROM_WEIGHTS
from unchurn.training.estimator.budget import hold_out
from unchurn.training.estimator.examples import Rows
from unchurn.training.estimator.references import Answers, what_model_says
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(240, distance=1.5)
NAMES = np.array(["cat", "dog", "eel"])[Y]
FEW = {"epochs": 4, "random_state": 0}
# Most upgrades here are judged on rows that the base may have seen; one test asks for the warning.
pytestmark = pytest.mark.filterwarnings("ignore:the base may have seen")


@pytest.fixture(scope="module")
def base():
    return StableClassifier(method="control", epochs=8, random_state=5).fit(X[:120], NAMES[:120])


def test_a_base_of_ours_is_started_from_and_the_comparison_is_of_unseen_rows(base, tmp_path):
    base.save(tmp_path / "base.safetensors")
    found = upgrade(
        tmp_path / "base.safetensors", X[:200], NAMES[:200], X_test=X[200:], y_test=NAMES[200:],
        base_saw=np.arange(200) < 120, random_state=0,
    )  # fmt: skip
    assert found.method == FROM_WEIGHTS
    assert found.model.epochs == 8  # as the base was trained
    assert found.comparison.n == 40
    moved = np.mean(found.model.predict(X[200:]) != base.predict(X[200:]))
    assert found.comparison.estimates["churn"].value == moved
    alone = StableClassifier(method=FROM_WEIGHTS, reference=base, epochs=8, random_state=0)
    alone.fit(X[:200], NAMES[:200])
    assert alone.predict_proba(X).tobytes() == found.model.predict_proba(X).tobytes()


def test_without_rows_to_test_on_a_quarter_is_held_out(base):
    assert upgrade(base, X, NAMES, **FEW).comparison.n == 60


def test_a_network_may_replace_any_classifier():
    trees = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:120], NAMES[:120])
    found = upgrade(trees, X, NAMES, model="mlp", **FEW)
    assert found.method == FROM_ANSWERS
    assert found.model.predict(X[:3]).dtype == NAMES.dtype


def test_a_frame_is_prepared_as_the_bases_table_was():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.char.upper(NAMES), "y": NAMES})
    first = load_table(frame[:160], "y")
    base = StableClassifier(method="control", **FEW).fit(first)
    found = upgrade(base, frame, target="y", random_state=0)
    assert repr(found) == f"Upgraded(method={found.method!r}, comparison={found.comparison!r})"
    assert found.method == FROM_WEIGHTS
    assert found.model.preparation_ == base.preparation_
    assert set(found.model.predict(frame.drop("y"))) == set(NAMES)


def test_a_table_is_compared_on_rows_that_the_base_has_not_seen():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.char.upper(NAMES), "y": NAMES})
    base = StableClassifier(method="control", **FEW).fit(frame[:160].drop("y"), NAMES[:160])
    saw = np.arange(len(frame)) < 160
    found = upgrade(base, frame, target="y", base_saw=saw, **FEW)
    assert found.comparison.n == (~saw).sum() // 4
    data = load_table(frame, "y", preparation=base.preparation_)
    with pytest.warns(RemarkWarning, match="may have seen .* give X and y with base_saw, or X_tes"):
        upgrade(base, data, **FEW)
    other = load_table(frame[:100], "y")
    with pytest.raises(InputError, match="load yours by preparation="):
        upgrade(base, other, **FEW)


def test_weights_are_those_of_the_rows(base):
    """A class that weighs next to nothing is not learned."""
    weights = np.where(NAMES[0] == NAMES, 1e-6, 1.0)
    found = upgrade(base, X, NAMES, sample_weight=weights, method="control", epochs=30)
    assert NAMES[0] not in found.model.predict(X)
    with pytest.raises(InputError, match=r"sample_weight must have shape \(240,\)"):
        upgrade(base, X, NAMES, sample_weight=weights[:9])


def test_a_base_of_ours_that_knows_no_table_is_given_none(base):
    """Raw rows would be garbage to what was fitted to arrays that somebody had prepared."""
    frame = pl.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "kind": np.char.upper(NAMES), "y": NAMES}
    )
    for rows in ({"X": frame, "target": "y"}, {"X": frame.drop("y"), "y": NAMES}):
        with pytest.raises(InputError, match="does not say how its table was prepared: give X as"):
            upgrade(base, **rows)


def test_true_and_false_are_numbers_as_ever():
    rows = pl.DataFrame({"a": X[:, 0], "b": X[:, 1] > 0, "c": X[:, 2]})
    base = StableClassifier(method="control", **FEW).fit(rows, NAMES)
    found = upgrade(base, rows, NAMES, **FEW)
    assert found.method == FROM_WEIGHTS
    assert found.model.preparation_ is None


def raw_frame():
    """A table as a company has it: text, and one number that is not there."""
    places = np.array(["north", "east", "south"])[(Y + (np.arange(len(Y)) % 5 == 0)) % 3]
    frame = pd.DataFrame({"price": 40_000 + 9_000 * X[:, 0], "age": X[:, 1], "place": places})
    frame.loc[7, "age"] = np.nan
    return frame


def raw_pipeline():
    """What is in production there: it takes such a frame itself."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = [(numbers, ["price", "age"]), (OneHotEncoder(), ["place"])]
    return make_pipeline(make_column_transformer(*columns), LogisticRegression())


@pytest.mark.parametrize("has_target", [True, False])
def test_a_pipeline_that_takes_raw_frames_may_be_the_base(has_target):
    frame = raw_frame()
    base = raw_pipeline().fit(frame[:120], NAMES[:120])
    saw = np.arange(len(frame)) < 120
    rows = (frame.assign(y=NAMES),) if has_target else (frame, NAMES)
    given = {"target": "y"} if has_target else {}
    more = frame[:9].assign(age=1.0)
    given |= {"base_saw": saw, "X_unlabelled": more, "model": "mlp"}
    found = upgrade(base, *rows, **given, **FEW)
    assert found.method == FROM_ANSWERS
    assert found.comparison.n == 30  # a quarter of what the base has not seen
    assert np.mean(found.model.predict(frame) == NAMES) > 0.8
    _, test, _, _ = split(np.arange(120, 240), NAMES[120:], test_size=0.25, stratify=True)
    moved = np.mean(found.model.predict(frame.iloc[test]) != base.predict(frame.iloc[test]))
    assert found.comparison.estimates["churn"].value == pytest.approx(moved)


def test_what_a_frame_cannot_be_upgraded_by(base):
    frame = raw_frame().assign(y=NAMES)
    trees = raw_pipeline().fit(frame, NAMES)
    with pytest.raises(InputError, match=r"no column 'yy' \(did you mean 'y'"):
        upgrade(trees, frame, target="yy")
    with pytest.raises(InputError, match="give y, or target= of a column, not both"):
        upgrade(trees, frame, NAMES, target="y")
    with pytest.raises(InputError, match="target= is a column of a frame, and X is str: a file"):
        upgrade(trees, "table.csv", target="y")
    frame.loc[3, "y"] = None
    with pytest.raises(InputError, match=r"target 'y' has 1 missing value\(s\): drop these rows"):
        upgrade(trees, frame, target="y")
    dated = raw_frame().assign(opened=pd.Timestamp("2026-01-01"))
    with pytest.raises(
        InputError, match=r"'opened' has dates or times: .* leave it out drop it from X"
    ):
        StableClassifier().fit(dated, NAMES)


def test_classes_are_matched_by_name_and_new_ones_are_left_to_the_labels(base):
    two = LogisticRegression().fit(X[NAMES != "dog"], NAMES[NAMES != "dog"])
    said = what_model_says(two, X, X, np.array(["cat", "dog", "eel"]), None)
    assert said.known.tolist() == [True, False, True]
    assert said.weights is None
    probabilities = np.exp(said.logits)
    np.testing.assert_allclose(probabilities[:, [0, 2]], two.predict_proba(X), atol=1e-5)
    found = upgrade(two, X, NAMES, model="mlp", epochs=60, random_state=0)
    assert "dog" in found.model.predict(X)  # which the base never says
    # A base with a class that is no more: what it gave to that goes to the others.
    left = base.predict_proba(X)[:, [0, 2]]
    said = what_model_says(base, X, X, np.array(["cat", "eel"]), None)
    expected = left / left.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(said.logits), expected, atol=1e-5)
    with pytest.raises(InputError, match=r"knows the classes .* none of \['x', 'y'\]"):
        what_model_says(base, X, X, np.array(["x", "y"]), None)


def test_unlabelled_rows_are_trained_on_as_the_reference_labels_them(base):
    how = {"module": mlp, "method": "anchor(a=1)", "reference": base, **FEW}  # no scaling
    model = StableClassifier(**how)
    model.fit(X[:100], NAMES[:100], X_unlabelled=X[100:])
    # All targets are then what the reference says, as if it were given for all rows.
    same = StableClassifier(**how).fit(X, NAMES)
    assert model.predict_proba(X).tobytes() == same.predict_proba(X).tobytes()
    plain = StableClassifier(method="control", reference=base, **FEW)
    with_more = plain.fit(X[:100], NAMES[:100], X_unlabelled=X[100:]).predict_proba(X)
    without = StableClassifier(method="control", **FEW).fit(X[:100], NAMES[:100]).predict_proba(X)
    assert (with_more != without).any()


@pytest.mark.parametrize("kind", [toys.classifier, LogisticRegression])
def test_unlabelled_rows_may_be_of_a_class_that_the_base_cannot_say(kind):
    few = NAMES != "eel"
    base = kind().fit(X[few], NAMES[few])
    test = {"X_test": X[200:], "y_test": NAMES[200:], "random_state": 0}
    with pytest.warns(RemarkWarning, match="labels X_unlabelled and does not know 'eel'"):
        upgrade(base, X[:200], NAMES[:200], X_unlabelled=X, method="anchor", **test)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        upgrade(base, X[few], NAMES[few], X_unlabelled=X, method="anchor", **test)
    assert not any("X_unlabelled" in str(one.message) for one in shown)


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"X_unlabelled": X}, "X_unlabelled is labelled by the reference"),
        ({"reference": LogisticRegression()}, {}, "reference must be a fitted classifier"),
    ],
)
def test_bad_references_are_named(options, given, message):
    with pytest.raises(InputError, match=message):
        StableClassifier(method="anchor", **options, **FEW).fit(X, Y, **given)


def test_labels_and_rows_to_test_on_go_together(base):
    with pytest.raises(InputError, match="Give y, or a frame and target="):
        upgrade(base, X)
    with pytest.raises(InputError, match="give X_test and y_test, or neither"):
        upgrade(base, X, NAMES, X_test=X)
    with pytest.raises(InputError, match="give X_test and y_test: too few rows to hold some out"):
        upgrade(base, X[:3], ["cat", "cat", "dog"])
    with pytest.raises(InputError, match="has labels and a test part of its own"):
        upgrade(base, toys.dataset(), X_test=X, y_test=NAMES)


def test_bad_flips_are_counted_on_what_the_base_has_not_seen(base):
    """Rows to compare on, and rows that a budget is measured on, are others than the base's."""
    saw = np.arange(240) < 120
    found = upgrade(base, X, NAMES, base_saw=saw, **FEW)
    assert found.comparison.n == 30  # a quarter of the unseen
    kept, held = hold_out(Y, 0, saw)
    assert not saw[held].any()
    assert len(held) == 48
    assert sorted([*kept, *held]) == list(range(240))
    few = np.arange(240) < 230
    assert len(hold_out(Y, 0, few)[1]) == 5  # half of the ten that are left
    everything = np.ones(240, bool)
    assert len(hold_out(Y, 0, everything)[1]) == 48  # there is nothing else to count on
    with pytest.raises(InputError, match="reference_saw must be 240 booleans"):
        StableClassifier(method="anchor", reference=base, **FEW).fit(X, NAMES, reference_saw=[1])


def test_methods_are_told_what_the_base_has_seen(rng):
    said = Answers(logits=rng.normal(size=(4, 3)).astype(np.float32))
    saw = np.array([True, False, True, False])
    rows = Rows(inputs=X[:4], numbers=Y[:4], n_classes=3, said=said, saw=saw)
    assert rows.reference.seen.tolist() == saw.tolist()
    assert rows.take(np.array([2, 1])).reference.seen.tolist() == [True, False]
    more = rows.with_unlabelled(X[4:6], Answers(logits=said.logits[:2]))
    # What it labelled itself says as little of it as what it was trained on.
    assert more.reference.seen.tolist() == [*saw, True, True]
    unknown = replace(rows, saw=None).with_unlabelled(X[4:6], Answers(logits=said.logits[:2]))
    assert unknown.reference.seen.tolist() == [False] * 4 + [True] * 2
    assert unknown.take(np.array([3, 4])).reference.seen.tolist() == [False, True]


def test_a_frame_without_its_target_is_prepared_by_the_base_too():
    frame = pl.DataFrame(
        {"a": 50 + 9 * X[:, 0], "b": X[:, 1], "kind": np.char.upper(NAMES), "y": NAMES}
    )
    base = StableClassifier(method="control", **FEW).fit(load_table(frame[:160], "y"))
    rows, labels = frame.drop("y"), frame["y"].to_numpy()
    found = upgrade(
        base, rows, labels, X_test=rows[:40], y_test=labels[:40], random_state=0,
        base_saw=np.arange(len(rows)) < 160,
    )  # fmt: skip
    assert found.model.preparation_ == base.preparation_
    prepared = base.preparation_.transform(rows)
    by_hand = StableClassifier(method=FROM_WEIGHTS, reference=base, **FEW).fit(prepared, labels)
    assert by_hand.predict_proba(prepared).tobytes() == found.model.predict_proba(rows).tobytes()


@pytest.mark.parametrize(
    ("model", "y", "given", "message"),
    [
        (None, NAMES, {}, "base must be a fitted classifier .*: NoneType has no predict$"),
        (Ridge().fit(X, Y), NAMES, {}, "base must be a classifier: Ridge is a regressor"),
        (StableClassifier(), NAMES, {}, r"StableClassifier has no classes_: is it fitted\?"),
        (LogisticRegression(), NAMES, {}, r"LogisticRegression has no classes_: is it fitted\?"),
        (LinearSVC(), NAMES, {}, "LinearSVC has no predict_proba: fit it within Calibrated"),
        ("fitted", NAMES[:-5], {}, "X has 240 rows and y 235 labels"),
        ("fitted", NAMES, {"base_saw": NAMES}, "base_saw must be 240 booleans"),
        ("fitted", NAMES, {"base_saw": np.ones(240, bool)}, "the base has seen every row"),
    ],
)
def test_what_cannot_be_meant_is_told_before_training(base, model, y, given, message):
    with pytest.raises(InputError, match=message):
        upgrade(base if model == "fitted" else model, X, y, **given)


def test_a_base_that_may_have_seen_what_it_is_judged_on_is_warned_of(base):
    with pytest.warns(RemarkWarning, match="may have seen the rows that it is judged on"):
        upgrade(base, X, NAMES, **FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        upgrade(base, X, NAMES, base_saw=np.arange(len(X)) < 120, **FEW)


def test_a_column_is_named_as_target(base):
    with pytest.raises(InputError, match="Give y, or a frame and target="):
        upgrade(base, pl.DataFrame({"a": [1.0]}), "a")


def test_a_target_of_python_objects_is_taken_for_what_it_holds():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": pd.Series(Y.tolist(), dtype=object)})
    base = StableClassifier(method="control", **FEW).fit(frame[["a", "b"]], Y)
    found = upgrade(base, frame, target="y", **FEW)
    assert found.model.classes_.dtype == base.classes_.dtype


def test_what_the_base_saw_may_be_zeros_and_ones(base):
    saw = np.arange(240) < 120
    found = upgrade(base, X, NAMES, base_saw=saw.astype(int), **FEW)
    same = upgrade(base, X, NAMES, base_saw=saw, **FEW)
    assert found.model.predict_proba(X).tobytes() == same.model.predict_proba(X).tobytes()
    with pytest.raises(InputError, match="base_saw must be 240 booleans"):
        upgrade(base, X, NAMES, base_saw=2 * saw.astype(int), **FEW)


def test_classes_to_test_on_that_neither_model_knows_are_told(base):
    given = {"base_saw": np.arange(240) < 120, "method": "anchor", "epochs": 1}
    truth = np.where(np.arange(40) < 5, "fox", NAMES[:40])
    with pytest.warns(RemarkWarning, match="y_test has 'fox', which neither y nor the base has"):
        upgrade(base, X, NAMES, X_test=X[:40], y_test=truth, **given)
    # A class of the base's alone is none of these.
    rest = NAMES != "eel"
    given["base_saw"] = given["base_saw"][rest]
    with pytest.warns(RemarkWarning, match="the base knows 'eel', of which") as found:
        upgrade(base, X[rest], NAMES[rest], X_test=X[:40], y_test=NAMES[:40], **given)
    assert len(found) == 1


def test_a_class_that_is_gone_is_warned_of(base):
    rest = NAMES != "eel"
    with pytest.warns(RemarkWarning, match="the base knows 'eel', of which there are no rows"):
        found = upgrade(base, X[rest], NAMES[rest], base_saw=np.arange(240)[rest] < 120, **FEW)
    assert found.model.classes_.tolist() == ["cat", "dog"]


def test_a_misspelt_option_is_named(base):
    for model in (None, LogisticRegression()):
        with pytest.raises(InputError, match=r"'max_badflips' \(did you mean 'max_bad_flips'\?\)"):
            upgrade(base, X, NAMES, model=model, max_badflips=0.01)
