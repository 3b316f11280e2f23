"""A comparison's tables: the numbers that they show, for any width, and what is not known."""

import numpy as np
import polars as pl

from unchurn import Columns, compare
from unchurn.comparison.report import tables
from unchurn.report import formats


def test_tables_hold_the_numbers_that_they_show():
    slices = {"country": ["de"] * 60 + ["fr"] * 60}
    result = compare(np.zeros(120, int), (np.arange(120) < 30).astype(int), slices=slices)
    table = tables.slices(result)
    assert table.headings[:3] == ("slice", "examples", "churn")
    assert [cell.text for cell in table.rows[0][:3]] == ["country=de", "60", "50.00%"]
    assert [cell.value for cell in table.rows[0][:3]] == [None, 60, 0.5]
    churn = tables.measures(result).rows[0][1]
    assert (churn.text, churn.value) == ("25.00%", 0.25)


def test_slices_tell_what_turned_wrong_where_labels_do():
    base, truth = np.zeros(120, int), np.zeros(120, int)
    candidate = (np.arange(120) < 30).astype(int)  # all of them wrong, and all in de
    half = {"country": ["de"] * 60 + ["fr"] * 60}
    table = tables.slices(compare(base, candidate, truth, slices=half))
    de = dict(zip(table.headings, table.rows[0], strict=True))
    assert (de["bad flips"].text, de["accuracy"].text) == ("50.00%", "-50.00")
    assert "accuracy" not in tables.slices(compare(base, candidate, slices=half)).headings
    narrow = formats.text(table, 60)
    assert max(map(len, narrow.splitlines())) <= 60
    assert "differs" in narrow
    assert "Not shown for want of width: 95 % interval, q" in narrow


def test_a_half_that_counts_otherwise_by_threshold_is_told():
    base, candidate = (np.column_stack([1 - p, p]) for p in np.array([[0.5, 0.9], [0.4, 0.9]]))
    found = tables.thresholds(compare(base, candidate, columns=Columns(positive="1")))
    assert found.rows[2][1].text == "50.00%"  # as the most probable, both are 0
    assert [note.text[:24] for note in found.notes] == ["At 0.5 it is not as abov"]
    same = tables.thresholds(compare(candidate, candidate, columns=Columns(positive="1")))
    assert same.notes == ()


def test_a_heading_with_a_class_in_it_shows_as_text():
    p = np.array([[0.2, 0.8], [0.9, 0.1]])
    table = {"id": [1, 2], "p_a|b": p[:, 0], "p_<i>": p[:, 1]}
    result = compare(pl.DataFrame(table), pl.DataFrame(table), columns=Columns(positive="<i>"))
    head = formats.markdown(tables.thresholds(result)).splitlines()[0]
    assert head == "| threshold for &lt;i&gt; | churn |"


def test_what_is_not_known_is_a_dash_that_nothing_is_sorted_by():
    result = compare(np.zeros(60, int), np.zeros(60, int), slices={"s": ["x"] * 60})
    rest = tables.slices(result).rows[0][4]
    assert rest.text == "–"
    assert "<td>–</td>" in formats.html(tables.slices(result))


def test_of_two_classes_none_is_wrong_in_two_ways():
    base, candidate, two, three = [0, 1, 0], [1, 1, 1], [0, 1, 1], [0, 1, 2]

    def names(truth):
        rows = tables.measures(compare(base, candidate, truth)).rows
        return [row[0].text for row in rows]

    assert "wrong → another wrong" in names(three)
    assert "wrong → another wrong" not in names(two)
    assert "good flips (wrong → right)" in names(two)
