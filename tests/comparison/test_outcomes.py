"""What happened to each example, counted over examples or over clusters of them."""

import numpy as np
import polars as pl

from unchurn import compare


def frame(predictions, **columns):
    return pl.DataFrame({"id": range(len(predictions)), "prediction": predictions, **columns})


def test_clusters_widen_the_intervals(rng):
    users = np.repeat(np.arange(100), 20)
    flip = np.repeat(rng.random(100) < 0.2, 20).astype(int)  # all of a user's rows flip together
    plain = compare(np.zeros(2000, int), flip).estimates["churn"]
    result = compare(np.zeros(2000, int), flip, cluster=users)
    found = result.estimates["churn"]
    assert found.value == plain.value
    assert found.high - found.low > 3 * (plain.high - plain.low)
    table = frame(np.zeros(2000, int), user=users)
    assert compare(table, frame(flip), cluster="user").estimates["churn"] == found
    sliced = compare(table, frame(flip), cluster="user", slices={"half": users < 50})
    assert all(s.p > 0.001 for s in sliced.slices)


def test_the_same_rate_in_every_cluster_is_no_certainty():
    """Each of 30 users has 3 flips of 10: rounding alone once made the interval a point."""
    users, flip = np.repeat(np.arange(30), 10), np.tile(np.arange(10) < 3, 30).astype(int)
    churn = compare(np.zeros(300, int), flip, cluster=users).estimates["churn"]
    assert churn.low < 0.29 < 0.31 < churn.high


def test_examples_without_a_label_count_for_churn_alone():
    table = frame([0, 1, 1, 0], label=pl.Series([0, 1, None, None], dtype=pl.Int64))
    result = compare(table, frame([0, 0, 0, 0]))
    assert result.estimates["churn"].value == 0.5
    assert result.n_labelled == 2
    assert result.estimates["bad_flips"].value == 0.5
    assert "2 examples have no true label" in " ".join(result.notes)
