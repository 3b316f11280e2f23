"""Which examples are shown: those that flip most, or, against a model before, that break most."""

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import bench, load_table
from unchurn.metrics.registry import Runs
from unchurn.study.results.examples import flip_shares, flipping_examples, flips_in_words

LABELS = np.array([0, 0, 1, 1, 2])
PREDICTIONS = np.array([[0, 1, 1, 0, 0], [0, 0, 1, 0, 1], [0, 1, 1, 1, 2], [0, 1, 1, 1, 2]])
BASE = np.tile([0, 0, 0, 0, 2], (4, 1))
CLASSES = ("ant", "bee", "cat")


def test_of_retrainings_it_is_the_share_of_the_pairs_of_runs():
    runs = Runs(predictions=PREDICTIONS, labels=LABELS)
    assert flip_shares(runs) == pytest.approx([0, 3 / 6, 0, 4 / 6, 5 / 6])
    assert flips_in_words(runs, 1, CLASSES) == (
        "50% of the pairs of runs differ", "predicted bee\N{NO-BREAK SPACE}×3, "
        "ant\N{NO-BREAK SPACE}×1",
    )  # fmt: skip
    assert (flip_shares(Runs(predictions=PREDICTIONS[:1], labels=LABELS)) == 0).all()


def test_against_a_model_before_it_is_the_share_of_the_runs_that_break_it():
    """Wrong before and right now, or wrong in both, is nothing that broke."""
    runs = Runs(predictions=PREDICTIONS, labels=LABELS, base=BASE)
    assert flip_shares(runs) == pytest.approx([0, 3 / 4, 0, 0, 2 / 4])
    assert flips_in_words(runs, 4, CLASSES) == (
        "broken in 2 of 4 runs", "cat → ant\N{NO-BREAK SPACE}×1, cat → bee\N{NO-BREAK SPACE}×1",
    )  # fmt: skip
    data = toys.dataset(10)
    assert [one.number for one in flipping_examples(runs, data)] == [1, 4]


def test_a_missing_value_is_a_dash():
    gaps = {"age": [None, 3] * 10, "kind": ["x", None] * 10, "share": [float("nan"), 0.5] * 10}
    data = load_table(pl.DataFrame({**gaps, "y": ["a", "b"] * 10}), "y")
    runs = Runs(predictions=np.stack([data.y_test, 1 - data.y_test]), labels=data.y_test)
    shown = {one.features for one in flipping_examples(runs, data)}
    assert shown == {
        (("age", "–"), ("kind", "x"), ("share", "–")),
        (("age", "3"), ("kind", "–"), ("share", "0.5")),
    }


def test_an_upgrades_examples_are_its_bad_flips():
    options = {"runs": 3, "epochs": 2, "workers": 1, "scenario": "upgrade", "validation": False}
    result = bench(toys.dataset(300, distance=1), ["control"], **options)
    runs = result.repeated.runs["test"]
    assert result.examples
    often = []
    for example in result.examples:
        was_right = runs.base[:, example.number] == runs.labels[example.number]
        is_wrong = runs.predictions[:, example.number] != runs.labels[example.number]
        often.append(np.sum(was_right & is_wrong))
    assert min(often) > 0
    assert often == sorted(often, reverse=True)
