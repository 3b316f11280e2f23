"""A comparison's tables: the numbers that they show, for any width, and what is not known."""

import numpy as np
import polars as pl

from unchurn import Columns, compare
from unchurn.comparison.report import tables
from unchurn.comparison.report.charts import charts
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


def thresholds(*given, n=200):
    """The table of thresholds for two models whose probabilities differ by a little."""
    p = np.linspace(0.01, 0.99, n)
    one, two = (np.column_stack([1 - x, x]) for x in (p, np.roll(p, 9)))
    return compare(one, two, columns=Columns(positive="1", threshold=given[0] if given else None))


def test_thresholds_that_were_given_are_marked_and_nothing_is_said_of_one_half():
    found = tables.thresholds(thresholds((0.3, 0.4)))
    assert {row[0].text: row[-1].text for row in found.rows} == {
        "0.1": "", "0.3": "base's", "0.4": "candidate's", "0.5": "", "0.7": "", "0.9": "",
    }  # fmt: skip
    assert [note.text for note in found.notes] == [
        "Above, base's threshold is 0.3 and the candidate's 0.4; here both have the same."
    ]


def test_one_threshold_that_was_given_is_as_above():
    result = thresholds(0.4)
    found = tables.thresholds(result)
    (row,) = [row for row in found.rows if row[-1].text == "as above"]
    assert (row[0].text, row[1].value) == ("0.4", result.estimates["churn"].value)
    assert found.notes == ()
    between = tables.thresholds(thresholds(0.42))
    assert not any(row[-1].text for row in between.rows)
    assert [note.text for note in between.notes] == ["Above, the threshold is 0.42."]
    assert [len(row) for row in tables.thresholds(thresholds()).rows] == [2] * 5


def test_a_chart_has_a_line_at_a_threshold_that_was_given():
    def drawn(*given):
        found = [one for one in charts(thresholds(*given)) if "along the threshold" in one["title"]]
        return found[0]["caption"], str(found[0]["spec"])

    caption, spec = drawn((0.3, 0.4))
    assert caption.endswith("Dashed: the thresholds that were given.")
    assert "[{'threshold': 0.3}, {'threshold': 0.4}]" in spec
    assert "strokeDash" not in drawn()[1]


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
