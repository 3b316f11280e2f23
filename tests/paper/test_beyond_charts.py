"""The chart of what recipes cost: what it names, and what it has no room for."""

import numpy as np
import pytest

from unchurn.methods.registry import DEFAULT
from unchurn.metrics.churn import churn_summary
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Runs
from unchurn.paper.beyond.charts import apart, broken, costs, is_above
from unchurn.paper.beyond.rows import Over, Row

LABELS = np.zeros(100, int)
PLAIN = churn_summary(np.array([[0] * 100, [1] * 20 + [0] * 80]), LABELS)


def recipe(name, flips, trained=1, served=1, loses=False):
    """A recipe whose runs differ in so many of 100 examples; plain training's in 20."""
    runs = np.array([[0] * 100, [1] * flips + [0] * (100 - flips)])
    difference = Interval(-0.1, -0.2, -0.05) if loses else Interval(0, -0.1, 0.1)
    row = Row(
        dataset="wine", recipe=name, runs=Runs(predictions=runs, labels=LABELS), control=PLAIN,
        churn=Interval(0, -0.1, 0.1), accuracy=difference, trained=trained, served=served,
    )  # fmt: skip
    return Over(recipe=name, rows=(row,))


def written(chart):
    """The texts of a chart, and where their points are."""
    spec = chart.to_dict()
    sets = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"][1:]]
    values = [value for own in sets for value in own]
    return {one["name"]: (one["place"], one["churn"]) for one in values}


def test_the_default_plain_training_the_ensemble_and_the_best_are_named():
    recipes = [
        recipe("control", 20), recipe(DEFAULT, 15), recipe("ema", 12), recipe("swa", 18),
        recipe("harmful", 5, loses=True), recipe("ensemble", 10, 5, 5),
        recipe("ensemble+ema", 8, 5, 5),
    ]  # fmt: skip
    names = written(costs(recipes, "toys"))
    assert names == {
        "plain training": (0, 100), f"default: {DEFAULT}": (0, 75), "ema": (0, 60),
        "ensemble of five": (1, 50), "ensemble+ema": (1, 40),
    }  # fmt: skip


def test_what_lies_above_the_chart_is_counted_at_its_edge():
    recipes = [
        recipe("control", 20), recipe("bad", 30), recipe("worse", 40), recipe("twin", 32, 2, 2)
    ]  # fmt: skip
    assert [one.recipe for one in recipes if is_above(one)] == ["bad", "worse", "twin"]
    names = written(costs(recipes, "toys"))
    assert names["▲ 2 more, up to 200 %"] == (0, 130)
    assert names["▲ 1 more, up to 160 %"] == (1, 130)


def test_names_do_not_overlap():
    assert apart([90, 50], [1, 1], 4) == [90, 50]
    assert apart([90, 89, 88], [2, 1, 1], 4) == [90, 82, 78]


@pytest.mark.parametrize("name", ["ema", "weight_decay+safe_ema", "a" * 40, "a" * 40 + "+ema"])
def test_names_that_fit_or_have_no_seam_stay_whole(name):
    assert broken(name) == name
    assert broken(f"weight_decay+{'a' * 20}+ema") == f"weight_decay\n+{'a' * 20}+ema"
