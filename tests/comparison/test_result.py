"""The flipped examples: ranked for a labeller, and safe in a spreadsheet."""

import polars as pl

from unchurn import Columns, compare
from unchurn.comparison.result import flipped, write_flipped


def frame(predictions, **columns):
    return pl.DataFrame({"id": range(len(predictions)), "prediction": predictions, **columns})


def test_flips_are_ranked_for_a_labeller_and_safe_in_a_spreadsheet(tmp_path):
    labels = ["a", "a", "a", "=b", "a"]
    base = pl.DataFrame({"id": ["@1", "2", "3", "4", "-5"], "p_a": [0.9, 0.9, 0.2, 0.9, 0.9],
                         "p_=b": [0.1, 0.1, 0.8, 0.1, 0.1], "label": labels})  # fmt: skip
    candidate = pl.DataFrame({"id": ["@1", "2", "3", "4", "-5"], "p_a": [0.3, 0.1, 0.9, 0.2, 0.9],
                              "p_=b": [0.7, 0.9, 0.1, 0.8, 0.1]})  # fmt: skip
    table = flipped(compare(base, candidate))
    assert table["id"].to_list() == ["2", "@1", "3", "4"]
    assert table["kind"].to_list() == ["bad", "bad", "good", "good"]
    assert table["confidence"].to_list() == [0.9, 0.7, 0.9, 0.8]
    assert write_flipped(compare(base, candidate), tmp_path / "f.csv") == 4
    cells = (tmp_path / "f.csv").read_text()
    assert "'@1,a,'=b,a,bad" in cells
    assert not any(c[0] in "=+@" for line in cells.splitlines() for c in line.split(",") if c)


def test_formulas_are_safe_in_columns_of_any_kind(tmp_path):
    kinds = pl.Series(["=1+0", "@x"], dtype=pl.Categorical)
    result = compare(frame([0, 1], s=kinds), frame([1, 0]), slices=["s"])
    write_flipped(result, tmp_path / "f.csv")
    assert sorted((tmp_path / "f.csv").read_text().split()[1:]) == ["0,0,1,,'=1+0", "1,1,0,,'@x"]


def test_confidence_is_that_of_the_prediction():
    ids, p = [1, 2, 3, 4], [0.6, 0.2, 0.1, 0.1]
    base = pl.DataFrame({"id": ids, "p_0": p, "p_1": [1 - one for one in p]})
    other = pl.DataFrame({"id": ids, "p_0": [0.4] * 4, "p_1": [0.6] * 4})
    found = flipped(compare(base, other, columns=Columns(threshold=0.7)))
    assert found["candidate"].to_list() == ["0"] * 3
    assert found["confidence"].to_list() == [0.4] * 3


def test_flips_are_those_that_the_command_line_writes():
    found = compare(frame([0, 1, 1], label=[0, 0, 1]), frame([1, 0, 1]))
    assert found.flips().equals(flipped(found))
    assert found.flips()["kind"].to_list() == ["bad", "good"]


def test_a_comparison_is_equal_to_itself_alone():
    one, other = (compare([0, 1], [1, 1], slices={"s": ["a", "b"]}) for _ in range(2))
    assert one == one
    assert one != other
    assert len({one, other, one}) == 2
