"""Upgrades on tables that have more to learn from than the base had."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from unchurn import StableClassifier, upgrade
from unchurn.methods.registry import FROM_WEIGHTS
from unchurn.training.learners.base import RemarkWarning

N, OLD = 600, 300
GIVEN = {"base_saw": np.arange(N) < OLD, "random_state": 0}
SHORT = {"epochs": 8, "random_state": 1}
TWO_KINDS = np.resize(["x", "x", "y"], N)


@pytest.fixture
def labels(rng):
    return np.where(rng.random(N) < 0.5, "no", "yes")


@pytest.fixture
def frame(rng, labels):
    """Two columns that say little, and one that says all."""
    weak = {"a": rng.normal(size=N) + 0.3 * (labels == "yes"), "kind": TWO_KINDS}
    return pl.DataFrame(weak).with_columns(survey=pl.Series((labels == "yes") * 2.0 - 1))


def accuracy(found):
    return found.comparison.estimates["accuracy_candidate"].value


def test_a_new_column_is_learned_from(frame, labels):
    old = frame.drop("survey")
    base = StableClassifier(**SHORT).fit(old[:OLD], labels[:OLD])
    with pytest.warns(RemarkWarning, match=r"not learned from column 'survey': the new model"):
        found = upgrade(base, frame, labels, method="safe_ema", **GIVEN)
    assert accuracy(found) > 0.95
    assert found.comparison.estimates["accuracy_base"].value < 0.8
    assert "survey" in found.model.preparation_.names


def test_by_default_it_then_goes_by_the_bases_answers(frame, labels):
    base = StableClassifier(**SHORT).fit(frame.drop("survey")[:OLD], labels[:OLD])
    with pytest.warns(RemarkWarning) as said:
        found = upgrade(base, frame, labels, **GIVEN)
    assert "not learned from column 'survey'" in str(said[0].message)
    assert "warm_start" not in str(found.method)
    assert accuracy(found) > 0.95


def test_what_starts_from_weights_leaves_it_out_and_says_so(frame, labels):
    old = frame.drop("survey")
    base = StableClassifier(**SHORT).fit(old[:OLD], labels[:OLD])
    with pytest.warns(RemarkWarning, match=r"column 'survey': .* so these are left out"):
        found = upgrade(base, frame, labels, method=FROM_WEIGHTS, **GIVEN)
    same = upgrade(base, old, labels, method=FROM_WEIGHTS, **GIVEN)
    assert found.model.preparation_ == base.preparation_
    assert np.array_equal(found.model.predict(old), same.model.predict(old))


def test_plain_numbers_are_no_exception(frame, labels):
    numbers = frame.select("a", "survey").to_pandas()
    for base in (StableClassifier(**SHORT), LogisticRegression()):
        base.fit(numbers[["a"]][:OLD], labels[:OLD])
        found = upgrade(base, numbers, labels, method="safe_ema", model="mlp", **GIVEN)
        assert accuracy(found) > 0.95


def test_a_category_that_many_new_rows_have_is_learned(frame, labels):
    kinds = frame.with_columns(
        kind=pl.when(pl.int_range(N) < OLD).then("kind").otherwise(pl.Series(labels) + "!")
    ).drop("survey")
    base = StableClassifier(**SHORT).fit(kinds[:OLD], labels[:OLD])
    with pytest.warns(RemarkWarning, match=r"values of 'kind' \(50.00% of the rows\)"):
        found = upgrade(base, kinds, labels, method="safe_ema", **GIVEN)
    assert accuracy(found) > 0.95


def test_rare_new_categories_and_dates_and_ids_leave_the_table_as_it_was(frame, labels):
    old = frame.drop("survey")
    base = StableClassifier(**SHORT).fit(old[:OLD], labels[:OLD])
    rows = old.with_columns(
        kind=pl.when(pl.int_range(N) == N - 1).then(pl.lit("z")).otherwise("kind"),
        row_id=pl.int_range(N),
        day=pl.date_range(pl.date(2020, 1, 1), pl.date(2021, 8, 22), eager=True)[:N],
    )
    found = upgrade(base, rows, labels, method=FROM_WEIGHTS, **GIVEN)
    assert found.model.preparation_ == base.preparation_
