"""Frames as people have them, given to `StableClassifier` and `upgrade`."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from safetensors import safe_open
from safetensors.torch import save_file
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toys
from unchurn import StableClassifier, load_table, upgrade
from unchurn.core.errors import InputError
from unchurn.training.learners.base import RemarkWarning

X, Y = toys.blobs(120, n_classes=2)
FEW = {"epochs": 2, "random_state": 0}
# Upgrades here are judged on rows that the base may have seen; another file asks for the warning.
pytestmark = pytest.mark.filterwarnings("ignore:the base may have seen")


def model(**options):
    return StableClassifier(**({"method": "control"} | FEW | options))


def numbers(**more):
    """A frame of two numbers, and more columns."""
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **more})


def mixed(**more):
    """The same with text."""
    return numbers(place=np.array(["north", "east"])[(X[:, 2] > 0).astype(int)], **more)


DAYS = pd.date_range("2024-01-01", periods=len(Y))


def pipeline():
    """A model in production that takes two columns of such frames, and ignores all others."""
    columns = make_column_transformer((StandardScaler(), ["a", "b"]))
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.parametrize("frame", [numbers(), mixed()], ids=["numbers", "mixed"])
def test_two_columns_of_one_name_are_named(frame):
    message = "2 columns are called 'a': rename or drop some"
    fitted, base = model().fit(frame, Y), pipeline().fit(frame, Y)
    double = frame.copy()
    double.insert(1, "a", 1.0, allow_duplicates=True)
    for call in (
        lambda: model().fit(double, Y),
        lambda: fitted.predict(double),
        lambda: fitted.score(double, Y),
        lambda: upgrade(base, double, Y, **FEW),
        lambda: upgrade(base, double.assign(y=Y), target="y", **FEW),
        lambda: upgrade(fitted, double, Y, X_test=frame, y_test=Y, **FEW),
        lambda: load_table(double.assign(y=Y), "y"),
    ):
        with pytest.raises(InputError, match=message):
            call()
    with pytest.raises(InputError, match="2 columns are called '1'"):
        model().fit(pd.DataFrame({1: X[:, 0], "1": X[:, 1]}), Y)
    twice = pd.concat([frame, pd.DataFrame({"y": Y, "z": Y}).rename(columns={"z": "y"})], axis=1)
    with pytest.raises(InputError, match="2 columns are called 'y'"):
        upgrade(base, twice, target="y", **FEW)


@pytest.mark.parametrize("kind", [numbers, mixed])
@pytest.mark.parametrize(
    "as_given", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"]
)
def test_a_date_that_the_base_takes_is_left_out_of_the_successor(kind, as_given, tmp_path):
    frame, plain = as_given(kind(day=DAYS)), as_given(kind())
    base = pipeline().fit(frame, Y)
    parts = {"X_test": frame[:40], "y_test": Y[:40], "X_unlabelled": frame[40:50]}
    with pytest.warns(RemarkWarning, match="^column 'day' has dates or times: left out of what"):
        found = upgrade(base, frame, Y, model="mlp", **parts, **FEW)
    assert found.comparison.n == 40
    found.model.save(tmp_path / "model")
    for one in (found.model, StableClassifier.load(tmp_path / "model")):
        assert one.predict_proba(frame).tobytes() == one.predict_proba(plain).tobytes()
    with pytest.warns(RemarkWarning, match="^column 'day'"):
        anchored = model(method="anchor", reference=base).fit(frame, Y)
    assert anchored.preparation_ == found.model.preparation_
    again = upgrade(found.model, frame, Y, **parts, **FEW)  # as ours, it takes no days: no warning
    assert again.model.preparation_ == found.model.preparation_


def test_what_else_is_no_feature_is_left_out_and_all_of_it_is_named():
    n = len(Y)
    frame = mixed(
        nothing=None, text=["2024-01-31"] * n, zone=DAYS.tz_localize("Europe/Berlin"),
        took=pd.to_timedelta(np.arange(n), "h"), several=[[1, 2]] * n, gaps=np.nan,
    )  # fmt: skip
    base = pipeline().fit(frame, Y)
    with pytest.warns(RemarkWarning) as warned:
        found = upgrade(base, frame, Y, model="mlp", **FEW)
    (said,) = (str(one.message) for one in warned if "left out" in str(one.message))
    for one in ("'nothing' has no value", "'text' has dates", "'zone' has dates or times",
                "'took' has durations", "'several' has lists", "'gaps' has no value"):  # fmt: skip
        assert one in said
    assert [one.name for one in found.model.preparation_.columns] == ["a", "b", "place"]
    with pytest.raises(InputError, match="no column of X can be learned from: column 'zone' has"):
        upgrade(base, frame[["zone", "took"]], Y, model="mlp", **FEW)


def test_a_date_is_refused_where_nobody_needs_it():
    with pytest.raises(InputError, match=r"'day' has dates or times: .* it out drop it from X"):
        model().fit(mixed(day=DAYS), Y)
    with pytest.raises(InputError, match=r"'again' has dates or times: .* out drop them from X"):
        model().fit(mixed(day=DAYS, again=DAYS), Y)
    for kind in (pl.Date, pl.Time, pl.Datetime("us", "UTC"), pl.Duration, pl.List(pl.Int64)):
        odd = pl.Series("odd", [None] * (len(Y) - 1), dtype=kind)
        filled = odd.append(
            pl.Series("odd", [[1]]) if kind == pl.List else pl.Series([1]).cast(kind)
        )
        with pytest.raises(InputError, match=r"^column 'odd' has [a-z ]+: turn it into numbers"):
            model().fit(pl.from_pandas(mixed()).with_columns(filled), Y)
    with pytest.raises(InputError, match=r"column 'c' has no value: .*drop it from X"):
        model().fit(pl.from_pandas(mixed()).with_columns(c=pl.lit(None, pl.String)), Y)
    with pytest.raises(InputError, match="X has no columns"):
        model().fit(mixed()[[]], Y)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model().fit(mixed()[:0], Y[:0])


@pytest.mark.parametrize("part", ["X_test", "X_unlabelled"])
def test_rows_without_a_column_are_refused_before_any_training(part, monkeypatch):
    frame = mixed()
    parts = {"X_test": frame, "y_test": Y} | {part: frame.drop(columns="place")}
    monkeypatch.setattr("unchurn.training.estimator.fitting.fit_together", None)
    monkeypatch.setattr("unchurn.training.upgrade.own_kind.fit_to_targets", None)
    for successor in ("mlp", None):
        with pytest.raises(InputError, match=f"^{part}: no column 'place': there are a, b"):
            upgrade(pipeline().fit(frame, Y), frame, Y, model=successor, **parts)


def rewritten(path, to, **change):
    """The same saved model with another header."""
    with safe_open(str(path), framework="pt") as file:
        record = json.loads(file.metadata()["unchurn"]) | change
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(tensors, to, {"unchurn": json.dumps(record)})
    return to


@pytest.mark.parametrize("as_given", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_the_columns_of_a_prepared_frame_are_remembered(as_given, tmp_path):
    frame = as_given(mixed())
    fitted = model().fit(frame, Y)
    fitted.save(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model")
    by_hand = fitted.preparation_.transform(pl.DataFrame(frame))
    for one in (fitted, loaded, model().fit(load_table(mixed(y=Y), "y"))):
        assert one.feature_names_in_.tolist() == ["a", "b", "place"]
        assert one.feature_names_in_.dtype == object
        assert one.n_features_in_ == 3
    expected = fitted.predict_proba(frame).tobytes()
    for one in (fitted, loaded):
        for rows in (as_given(mixed(more=1)), frame[["place", "b", "a"]], by_hand):
            assert one.predict_proba(rows).tobytes() == expected
        with pytest.raises(InputError, match="no column 'b': there are a, place"):
            one.predict(frame[["a", "place"]])
        with pytest.raises(InputError, match=r"of shape \(2,\), .* with the columns a, b, place"):
            one.predict(X[:, :2])
    assert not hasattr(clone(fitted), "feature_names_in_")
    assert not hasattr(fitted.fit(X, Y), "feature_names_in_")
    assert fitted.n_features_in_ == 4


def test_a_model_that_was_saved_without_its_columns_is_loaded(tmp_path):
    model().fit(mixed(), Y).save(tmp_path / "model")
    old = StableClassifier.load(rewritten(tmp_path / "model", tmp_path / "old", features=[]))
    assert not hasattr(old, "feature_names_in_")
    new = StableClassifier.load(tmp_path / "model")
    assert old.predict_proba(mixed()).tobytes() == new.predict_proba(mixed()).tobytes()
    with pytest.raises(InputError, match="it names 2 features, and takes 3"):
        StableClassifier.load(rewritten(tmp_path / "model", tmp_path / "bad", features=["a", "b"]))


def test_names_that_are_no_text_are_not_remembered(tmp_path):
    named, numbered = mixed(), mixed().set_axis([0, 1, 2], axis=1)
    fitted = model().fit(named, Y).fit(numbered, Y)
    fitted.save(tmp_path / "model")
    for one in (fitted, StableClassifier.load(tmp_path / "model")):
        assert not hasattr(one, "feature_names_in_")
        assert one.n_features_in_ == 3
        assert one.predict(numbered).shape == Y.shape


def test_an_interrupted_refit_leaves_the_columns_as_they_were(monkeypatch):
    fitted = model().fit(mixed(), Y)
    monkeypatch.setattr("unchurn.training.estimator.fitting.fit_together", None)
    with pytest.raises(TypeError):
        fitted.fit(mixed(more=1).drop(columns="a"), Y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "place"]


N = len(Y)
NO_NUMBERS = {
    "days": DAYS,
    "hours": pd.to_timedelta(np.arange(N), "h"),
    "lists": [[1]] * N,
    "months": pd.period_range("2024-01", periods=N, freq="M"),
    "objects": [object()] * N,
}


@pytest.mark.parametrize("kind", [numbers, mixed])
@pytest.mark.parametrize("odd", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_was_numbers_is_not_taken_for_them_when_it_is_times(kind, odd):
    fitted = model().fit(kind(), Y)
    with pytest.raises(InputError, match="column 'a' was numbers to learn from, and has "):
        fitted.predict(kind().assign(a=odd))
    if kind is mixed:
        with pytest.raises(InputError, match="column 'place' was text to learn from, and has "):
            fitted.predict(kind().assign(place=odd))


@pytest.mark.parametrize(
    ("learned", "given"),
    [
        (["1", "2"], [1, 2]), (["1", "2"], [1.0, 2.0]), (["1.0", "2.0"], [1, 2]),
        ([False, True], [0, 1]), ([False, True], [0.0, 1.0]), ([False, True], ["False", "True"]),
        (["False", "True"], [False, True]), (["0", "1"], [False, True]),
    ],
)  # fmt: skip
def test_a_category_is_known_whatever_type_holds_it(learned, given):
    """New rows come from elsewhere than those that were learned from: 1 is 1.0 beside gaps."""
    which = (X[:, 3] > 0).astype(int)
    frame, same = (mixed(c=np.array(values)[which]) for values in (learned, given))
    fitted = model().fit(frame, Y)
    expected = fitted.predict_proba(frame)
    assert fitted.predict_proba(same).tobytes() == expected.tobytes()
    assert fitted.predict_proba(pl.from_pandas(same)).tobytes() == expected.tobytes()
    assert (fitted.predict_proba(mixed(c="never seen")) != expected).any()


def test_numbers_as_categories_of_text_are_numbers():
    frame = pl.from_pandas(mixed()).with_columns(pl.col("a").cast(pl.Float64))
    fitted = model().fit(frame, Y)
    texts = frame.with_columns(pl.col("a").cast(pl.String).cast(pl.Categorical))
    assert fitted.predict_proba(texts).tobytes() == fitted.predict_proba(frame).tobytes()


def test_a_gap_in_codes_that_became_floats_is_a_gap():
    codes = ["1", "2", None] * 40
    frame = mixed(c=codes)
    fitted = model().fit(frame, Y)
    as_floats = frame.assign(c=[np.nan if code is None else float(code) for code in codes])
    assert fitted.predict_proba(as_floats).tobytes() == fitted.predict_proba(frame).tobytes()


def test_frames_that_hold_nothing_yet_or_at_all():
    lazy = pl.from_pandas(mixed()).lazy()
    base, fitted = pipeline().fit(mixed(), Y), model().fit(mixed(), Y)
    for call in (
        lambda: model().fit(lazy, Y),
        lambda: fitted.predict(lazy),
        lambda: upgrade(base, lazy, Y),
    ):
        with pytest.raises(InputError, match=r"X is a LazyFrame: collect\(\) it first"):
            call()
    with pytest.raises(InputError, match="X has no rows"):
        upgrade(base, mixed()[:0], Y[:0])
    with pytest.raises(InputError, match="X_test has no rows"):
        upgrade(base, mixed(), Y, X_test=mixed()[:0], y_test=Y[:0])


def test_an_id_is_no_feature_of_a_frame():
    frame = mixed().assign(customer_id=[f"c{i}" for i in range(len(Y))], row_id=np.arange(len(Y)))
    with pytest.warns(RemarkWarning, match="is an id, .*: it is no feature") as warned:
        found = StableClassifier(**FEW).fit(frame, Y)
    named = [str(one.message).split("'")[1] for one in warned]
    assert named == ["customer_id", "row_id"]
    assert not {"customer_id", "row_id"} & set(found.feature_names_in_)
    same = StableClassifier(**FEW).fit(mixed(), Y)
    np.testing.assert_array_equal(found.predict_proba(frame), same.predict_proba(mixed()))


def test_a_gap_in_numbers_that_had_none_is_refused_with_the_fix():
    frame = pd.DataFrame({"a": np.arange(len(Y), dtype=float), "b": 1.0})
    fitted = StableClassifier(**FEW).fit(frame, Y)
    frame.loc[3, "a"] = np.nan
    with pytest.raises(
        InputError, match=r"column 'a' has gaps, and X had none .*: fill them before"
    ):
        fitted.predict(frame)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_of_plain_numbers_are_taken_by_name_too(kind):
    frame = numbers(c=1000 * X[:, 2])
    fitted = model().fit(kind(frame), Y)
    for other in (frame[["c", "b", "a"]], frame.assign(more=1)):
        expected, given = fitted.predict_proba(kind(frame)), kind(other.to_dict("list"))
        np.testing.assert_array_equal(fitted.predict_proba(given), expected)
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        fitted.predict(frame[["a", "b"]])


def test_a_reference_knows_the_columns_of_plain_numbers_by_name():
    """In another order its weights are for other inputs, so that they are not started from."""
    frame = numbers(c=1000 * X[:, 2])
    base, turned = model(epochs=20).fit(frame, Y), frame[["c", "b", "a"]]
    given = {"X_test": turned, "y_test": Y, "epochs": 1}
    found = upgrade(base, turned, Y, **given)
    assert "warm_start" not in found.method
    assert found.comparison.estimates["accuracy_base"].value == base.score(frame, Y)
    said = model(method="anchor(a=1.0)", epochs=20, reference=base).fit(turned, Y)
    assert np.mean(said.predict(turned) == base.predict(frame)) > 0.9


def test_raw_numbers_given_for_prepared_ones_are_warned_of():
    frame = numbers(c=1000 + X[:, 2])
    data = load_table(frame.assign(y=Y), "y")
    fitted = model().fit(data)
    with pytest.warns(RemarkWarning, match=r"look raw, up to 1e\+03, .* columns a, b, c$"):
        fitted.predict(frame.to_numpy())
    fitted.predict(data.x_test)  # warnings are errors
    fitted.predict(frame)


def test_text_in_an_array_is_refused_with_a_way_out():
    fitted = model().fit(mixed(), Y)
    with pytest.raises(
        InputError, match=r"could not convert .*: give a frame with the columns a, b"
    ):
        fitted.predict(mixed().to_numpy())


def test_more_columns_of_an_array_are_refused_with_a_way_out():
    with pytest.raises(InputError, match=r"inputs of \(2,\), not \(4,\): give frames, of which"):
        upgrade(model().fit(X[:, :2], Y), X, Y, X_test=X, y_test=Y, epochs=1)


def test_a_frame_without_rows_is_said_to_have_none():
    fitted = model().fit(numbers(c=np.where(X[:, 0] > 0, "u", "v")), Y)
    with pytest.raises(InputError, match="X has no rows"):
        fitted.predict(numbers(c="u")[:0])
