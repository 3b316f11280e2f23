"""A class that is spelled as missing values are is doubted where one side alone has it."""

import polars as pl
import pytest

from unchurn import Columns, compare

SAID = ["cat", "dog"] * 100


def doubts(base, candidate, labels=None, **options):
    found = compare(base, candidate, labels, **options)
    assert {doubt.warning for doubt in found.doubts} <= set(found.warnings)
    return [doubt.warning for doubt in found.doubts]


@pytest.mark.parametrize("spelled", ["NA", "nan", "NaN", "None", "null", "N/A"])
def test_what_r_and_pandas_write_for_a_gap_is_doubted_in_one_model_or_the_labels(spelled):
    other = [spelled, *SAID[1:]]
    (said,) = doubts(SAID, other)
    assert said.startswith(f"{spelled!r} counts as a class, and is in candidate alone (1 row):")
    assert "Leave such cells empty" in said
    assert "is in base alone" in doubts(other, SAID)[0]
    assert "is in labels alone" in doubts(SAID, SAID, other)[0]
    beside = pl.DataFrame({"prediction": SAID, "label": other})
    assert "is in the labels alone" in doubts(SAID, beside)[0]
    assert "is in the labels alone" in doubts(beside, beside)[0]


def test_a_class_of_that_name_is_one_where_two_sides_know_it():
    other = ["None", *SAID[1:]]
    assert not doubts(other, other)
    assert not doubts(SAID, other, other)
    assert not doubts(["0", "1", "NA"], ["0", "1", "1"])  # a gap among numbers


def test_gaps_of_retrainings_are_doubted_and_a_gate_holds():
    other = ["NA", *SAID[1:]]
    (said,) = doubts(SAID, SAID, retrains=[SAID, other, other])
    assert "is in retraining 2, retraining 3 alone (2 rows)" in said
    verdict = compare(SAID, other).gate({"max_churn": 0.5})
    assert [(check.name, check.decision) for check in verdict.checks] == [
        ("churn", "promote"),
        ("gaps", "hold"),
    ]


def test_a_column_may_be_called_count(tmp_path):
    (tmp_path / "p.csv").write_text("id,count\n1,spam\n2,ham\n3,spam\n")
    path = str(tmp_path / "p.csv")
    assert compare(path, path, columns=Columns(prediction="count")).n == 3
