"""A comparison in words: sentences, tables, and any name shown as it is."""

import numpy as np
import polars as pl

from unchurn import Columns, compare
from unchurn.comparison import words
from unchurn.report import formats


def test_markdown_shows_any_name_as_text():
    evil = "<img src=x onerror=alert(1)>|*b*"
    result = compare([evil, "a"], ["a", "a"], [evil, "a"])
    text = words.markdown(result)
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;\\|\\*b\\*" in text
    assert words.headline(result).startswith("50.00% of 2 predictions change")


def test_it_prints_as_a_sentence_and_in_a_notebook_as_tables():
    found = compare(["cat", "dog"], ["cat", "eel"])
    assert repr(found).startswith("50.00% of 2 predictions change")
    assert "| churn | 50.00% |" in found._repr_markdown_()


def test_tables_hold_the_numbers_that_they_show():
    slices = {"country": ["de"] * 60 + ["fr"] * 60}
    result = compare(np.zeros(120, int), (np.arange(120) < 30).astype(int), slices=slices)
    table = words.slices(result)
    assert table.headings[:3] == ("slice", "examples", "churn")
    assert [cell.text for cell in table.rows[0][:3]] == ["country=de", "60", "50.00%"]
    assert [cell.value for cell in table.rows[0][:3]] == [None, 60, 0.5]
    churn = words.measures(result).rows[0][1]
    assert (churn.text, churn.value) == ("25.00%", 0.25)


def test_a_heading_with_a_class_in_it_shows_as_text():
    p = np.array([[0.2, 0.8], [0.9, 0.1]])
    table = {"id": [1, 2], "p_a|b": p[:, 0], "p_<i>": p[:, 1]}
    result = compare(pl.DataFrame(table), pl.DataFrame(table), columns=Columns(positive="<i>"))
    head = formats.markdown(words.thresholds(result)).splitlines()[0]
    assert head == "| threshold for &lt;i&gt; | churn |"


def test_what_is_not_known_is_a_dash_that_nothing_is_sorted_by():
    result = compare(np.zeros(60, int), np.zeros(60, int), slices={"s": ["x"] * 60})
    rest = words.slices(result).rows[0][4]
    assert rest.text == "–"
    assert "<td>–</td>" in formats.html(words.slices(result))
