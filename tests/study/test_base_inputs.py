"""A fitted model as the base of an upgrade is asked with the inputs that it was fitted to."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from unchurn import StableClassifier, bench, load_table
from unchurn.core.errors import InputError
from unchurn.study.api import make_experiment
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Upgrade

TABLE = load_breast_cancer(as_frame=True).frame  # whose numbers reach from thousandths to thousands
X, Y = TABLE.drop(columns="target"), TABLE.target
OLD = slice(200)
DATA = load_table(TABLE, "target")
TEST = DATA.order[len(DATA.y_train) :]  # rows of the table that are tested on
BATCHES = {"epochs": 2, "batch_size": 16}
SHORT = {**BATCHES, "target": "target", "runs": 2, "workers": 1, "validation": False}
GUESSES = "nothing says which inputs the base was fitted to: it is given rows"


def pipeline():
    return make_pipeline(StandardScaler(), LogisticRegression())


def network(**options):
    return StableClassifier(random_state=0, **{**BATCHES, **options})


def accuracy_of_base(result):
    return result.to_frame()["accuracy_base"][0] / 100


FITTED = {
    "pipeline of a frame": pipeline().fit(X[OLD], Y[OLD]),
    "pipeline of an array": pipeline().fit(X[OLD].to_numpy(), Y[OLD]),
    "pipeline of prepared inputs": pipeline().fit(DATA.x_train[OLD], DATA.y_train[OLD]),
    "boosted trees of a frame": LGBMClassifier(n_estimators=5, verbose=-1).fit(X[OLD], Y[OLD]),
    "boosted trees of an array": LGBMClassifier(n_estimators=5, verbose=-1).fit(
        X[OLD].to_numpy(), Y[OLD]
    ),
    "network of a frame": network().fit(X[OLD], Y[OLD]),
    "network of an array": network().fit(X[OLD].to_numpy(), Y[OLD]),
    "network of a dataset": network().fit(DATA),
}


@pytest.mark.parametrize("name", FITTED)
def test_its_accuracy_is_the_models_own_on_the_tables_rows(name):
    base = FITTED[name]
    rows = X.iloc[TEST] if hasattr(base, "feature_names_in_") else X.iloc[TEST].to_numpy()
    expected = base.score(DATA.x_test if "prepared" in name else rows, Y[TEST])
    result = bench(TABLE, "control", scenario=Upgrade(base=base), **SHORT)
    assert accuracy_of_base(result) == pytest.approx(expected)
    assert expected > 0.85  # or wrong inputs could have given the same
    # A number of inputs alone tells nothing, so that it was found out is told.
    assert any(GUESSES in note for note in result.notes) is ("array" in name or "prepared" in name)


def test_training_starts_from_a_network_of_a_frame_of_numbers():
    """Which scales them itself; new models then get the very numbers that its network got."""
    base = FITTED["network of a frame"]
    result = bench(TABLE, "warm_start", scenario=Upgrade(base=base), **SHORT)
    rows = DATA.order[: len(DATA.y_train)]
    alone = network(method="warm_start", reference=base).fit(X.iloc[rows], Y[rows])
    predicted = result.settings[0].predictions["test"][0]
    assert np.mean(predicted == alone.predict(X.iloc[TEST])) > 0.99  # but for rounding
    given = make_experiment(
        DATA, "control", scenario=Upgrade(base=base), validation=False
    ).scenario.given
    np.testing.assert_allclose(
        given.probabilities["test"], base.predict_proba(X.iloc[TEST]), rtol=1e-6
    )


@pytest.mark.parametrize("name", ["network of a frame", "network of an array"])
def test_weights_for_inputs_that_are_scaled_otherwise_are_refused_with_a_way_out(name):
    with pytest.raises(InputError, match=r"scales its inputs .*: fit it to the table as a frame"):
        make_experiment(DATA, "warm_start", scenario=Upgrade(base=FITTED[name]))


MIXED = X[["mean radius", "mean texture"]].assign(
    size=np.where(X["mean area"] > 600, "large", "small"), customer_id=[f"c{i}" for i in X.index]
)


def test_a_pipeline_of_text_and_numbers_gets_its_columns_by_name():
    columns = make_column_transformer(
        (OneHotEncoder(), ["size"]), (StandardScaler(), ["mean texture"])
    )
    base = make_pipeline(columns, LogisticRegression()).fit(MIXED[["mean texture", "size"]], Y)
    table = MIXED.assign(target=Y)
    result = bench(table, "control", scenario=Upgrade(base=base), **SHORT)
    test = load_table(table, "target").order[-len(TEST) :]
    assert accuracy_of_base(result) == pytest.approx(base.score(MIXED.iloc[test], Y[test]))
    assert result.notes == ()


class Rule:
    """A model of which nothing but its answers is known; it takes frames alone."""

    classes_ = np.array([0, 1])

    def predict_proba(self, rows):
        return np.eye(2)[(rows["size"] == "small").astype(int)]


def test_a_model_that_says_nothing_of_its_inputs_is_tried():
    table = MIXED.assign(target=Y)
    result = bench(table, "control", scenario=Upgrade(base=Rule()), **SHORT)
    test = table.iloc[load_table(table, "target").order[-len(TEST) :]]
    expected = np.mean((test["size"] == "small") == test["target"])
    assert accuracy_of_base(result) == pytest.approx(expected)
    assert any(f"{GUESSES} as the table has them, as it refuses" in note for note in result.notes)


def test_inputs_that_only_the_prepared_ones_fit_are_told():
    table = MIXED.assign(target=Y)
    data = load_table(table, "target")
    base = LogisticRegression().fit(data.x_train, data.y_train)
    result = bench(table, "control", scenario=Upgrade(base=base), **SHORT)
    assert accuracy_of_base(result) == pytest.approx(base.score(data.x_test, data.y_test))
    assert any("only these fit its number of inputs" in note for note in result.notes)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (LogisticRegression().fit(DATA.x_train[:, :7], DATA.y_train), "base takes 7 inputs, table"),
        (
            LogisticRegression().fit(
                pd.DataFrame(DATA.x_train[:, :2], columns=["a", "b"]), Y[:426]
            ),
            "base was fitted to columns that table lacks, a, b",
        ),
        (
            make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X[["mean area"]][OLD], Y[OLD]),
            "base fails on rows of table: Found unknown categories",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_way_out(base, message):
    with pytest.raises(InputError, match=f"{message}.*: give what it says of every row instead"):
        bench(TABLE, "control", scenario=Upgrade(base=base), **SHORT)


def test_a_base_no_better_than_a_guess_is_told_wherever_a_result_is_shown(tmp_path):
    worst = np.full((len(TABLE), 2), (0.6, 0.4))  # always the rarer class
    result = bench(
        pl.from_pandas(TABLE), "control", scenario=Upgrade(base=worst), out=tmp_path, **SHORT
    )
    (caution,) = result.notes
    assert "no more than always saying the commonest class" in caution
    for one in (result, Result.load(tmp_path)):
        assert str(one).count(caution) == one._repr_markdown_().count(caution) == 1
    result.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().count("no more than always saying") == 1
