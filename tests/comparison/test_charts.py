"""Charts of a comparison: names that are told apart, and flips that are there."""

import numpy as np

from unchurn import compare
from unchurn.comparison.report.charts import charts
from unchurn.comparison.report.directions_chart import N_CLASSES

LONG = np.array([f"customer_support/billing/{kind}" for kind in ("late", "lost", "twice")])


def rows(result, title):
    (spec,) = (one["spec"] for one in charts(result) if one["title"] == title)
    return [row for found in spec["datasets"].values() for row in found]


def test_long_names_of_slices_and_classes_stay_distinct_where_they_have_room(rng):
    base, candidate = rng.integers(0, 3, (2, 600))
    teams = np.array([f"organisation-north-west-team-{i % 7}" for i in range(600)])
    result = compare(LONG[base], LONG[candidate], slices={"team": teams})
    slices = [row for row in rows(result, "Churn of slices") if "name" in row]
    assert len({row["name"] for row in slices}) == 7
    assert all(len(row["name"]) <= 24 for row in slices)
    assert {row["slice"] for row in slices} == {f"team={team}" for team in teams}
    classes = {row["to"]: row["candidate"] for row in rows(result, "From which class to which")}
    assert sorted(classes.values()) == sorted(LONG)
    assert all(len(name) <= 16 for name in classes)


def test_of_very_many_classes_those_that_flip_most_into_one_another_are_shown():
    """Each of 40 classes flips five times into one of its own, and once into four others."""
    base = np.repeat(np.arange(40), 30)
    candidate = base.copy()
    for i in range(40):
        candidate[30 * i : 30 * i + 9] = 1000 + 10 * i + np.array([0, 0, 0, 0, 0, 1, 2, 3, 4])
    found = rows(compare(base, candidate), "From which class to which")
    assert [row["flips"] for row in found] == [5] * (N_CLASSES // 2)


def test_classes_stand_in_the_order_of_their_numbers():
    names = np.array([f"topic_{number}" for number in (1, 2, 10, 11)])
    (spec,) = (
        one["spec"]
        for one in charts(compare(names[[0, 1, 2, 3]], names[[1, 2, 3, 0]]))
        if one["title"] == "From which class to which"
    )
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [*names]
    assert compare(names, names[::-1]).paired.classes[1] == "topic_10"  # as text, they do not


def test_of_two_classes_none_is_wrong_in_two_ways():
    def shown(truth):
        return [row["name"] for row in rows(compare([0, 1, 0], [1, 1, 1], truth), "What flipped")]

    assert "wrong → wrong" in shown([0, 1, 2])
    assert "wrong → wrong" not in shown([0, 1, 1])
