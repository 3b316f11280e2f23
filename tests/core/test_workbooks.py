"""Workbooks are read as the same table in CSV would be; damaged and swollen ones are one line."""

import io
import sys
import zipfile

import pandas as pd
import polars as pl
import pytest
import xlsxwriter

from unchurn.core import workbooks
from unchurn.core.errors import InputError
from unchurn.core.tables import read_table


def write(path, *sheets):
    """A workbook of sheets, each the cells of some rows; None is no cell."""
    with xlsxwriter.Workbook(path) as book:
        for rows in sheets:
            sheet = book.add_worksheet()
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return path


def repacked(path, **members):
    """The same workbook with other content in some of its members."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {f"xl/worksheets/{name}.xml": text.encode() for name, text in members.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in content.items():
            archive.writestr(name, member)
    path.write_bytes(packed.getvalue())


@pytest.mark.parametrize("ending", [".xlsx", ".XLSM"])
def test_cells_keep_their_types(tmp_path, ending):
    rows = [["id", "n", "p", "flag"], ["007", 1, 0.5, True], ["7", None, 0.25, False]]
    table = read_table(write(tmp_path / f"a{ending}", rows))
    assert table.to_dict(as_series=False) == {
        "id": ["007", "7"], "n": [1, None], "p": [0.5, 0.25], "flag": [True, False],
    }  # fmt: skip
    assert table["n"].dtype == pl.Int64


def test_text_anywhere_in_a_column_makes_all_of_it_text(tmp_path):
    rows = [["class"], *([1] for _ in range(2000)), ["01"]]
    table = read_table(write(tmp_path / "a.xlsx", rows))
    assert table["class"].unique().sort().to_list() == ["01", "1"]


def test_numbers_that_may_have_lost_digits_are_floats(tmp_path):
    """Every number of a workbook is a float, also what looks like an integer."""
    table = read_table(write(tmp_path / "a.xlsx", [["id", "n"], [2**53 + 1, 2**53 - 1]]))
    assert table.dtypes == [pl.Float64, pl.Int64]


def test_gaps_stay_in_their_place_and_what_follows_the_last_row_does_not(tmp_path):
    rows = [["label"], ["a"], [None], ["b"], [None], [None]]
    assert read_table(write(tmp_path / "a.xlsx", rows))["label"].to_list() == ["a", None, "b"]


def test_an_index_of_pandas_is_called_as_in_a_csv(tmp_path):
    frame = pd.DataFrame({"x": [1, 2]}, index=["u", "v"])
    frame.to_excel(tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx").columns == ["", "x"]
    rows = [[None, None, "x"], ["u", 1, 2]]
    assert read_table(write(tmp_path / "b.xlsx", rows)).columns == ["", "_duplicated_0", "x"]


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([[0.5, 0.5], [1, 2]], 2),  # numbers alone have no header
        ([[0, 1], [1, 2], [3, 4]], 2),  # as pandas names nameless columns
    ],
)
def test_a_first_row_of_numbers_is_no_header(tmp_path, rows, names):
    table = read_table(write(tmp_path / "a.xlsx", rows))
    assert table.shape == (2, names)


@pytest.mark.parametrize("header", [["label", "label", "x"], ["x", 2024, 2024], ["a", "a_1", "a"]])
def test_two_columns_by_one_name_are_refused_as_in_a_csv(tmp_path, header):
    with pytest.raises(InputError, match=r"a\.xlsx: 2 columns are called '(label|2024|a)'"):
        read_table(write(tmp_path / "a.xlsx", [header, [1, 2, 3]]))


def test_a_name_that_goes_on_from_another_is_no_second_of_it(tmp_path):
    path = write(tmp_path / "a.xlsx", [["label", "label_1", None], [1, 2, 3]])
    assert read_table(path).columns == ["label", "label_1", ""]


def test_several_sheets_are_not_chosen_from(tmp_path):
    path = write(tmp_path / "a.xlsx", [["x"], [1]], [])
    assert read_table(path)["x"].to_list() == [1]
    write(path, [["x"], [1]], [["y"], [2]])
    with pytest.raises(InputError, match=r"a\.xlsx: several of its sheets .*\(Sheet1, Sheet2\)"):
        read_table(path)


def test_an_empty_workbook_and_one_with_a_password_are_named(tmp_path):
    with pytest.raises(InputError, match=r"a\.xlsx: none of its sheets holds anything"):
        read_table(write(tmp_path / "a.xlsx", []))
    (tmp_path / "a.xlsx").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    with pytest.raises(InputError, match=r"a\.xlsx: has a password, or is an old \.xls"):
        read_table(tmp_path / "a.xlsx")


def test_without_its_reader_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "find_spec", lambda name: None)
    write(tmp_path / "a.xlsx", [["x"], [1]])
    message = r"a\.xlsx: a workbook needs fastexcel: pip install 'unchurn\[excel\]'"
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / "a.xlsx")


def test_a_small_file_that_claims_gigabytes_is_refused(tmp_path):
    path = write(tmp_path / "a.xlsx", [["x"], [1]])
    repacked(path, sheet1=" " * (40 << 20))
    with pytest.raises(InputError, match=r"a\.xlsx: claims 4\d,\d+,\d+ bytes, more than"):
        read_table(path)


@pytest.mark.skipif(sys.platform != "linux", reason="only there memory is held to a limit")
def test_a_cell_at_the_far_end_takes_no_memory_of_ours(tmp_path):
    """The reader would set aside 17 billion cells, and gives up; here, that is one line."""
    path = write(tmp_path / "a.xlsx", [["x"], [1]])
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "x")
        sheet.write(1_048_575, 16_383, 1)
    with pytest.raises(InputError, match=r"a\.xlsx: damaged, or too large: .*SIGABRT"):
        read_table(path)


def test_damage_anywhere_is_one_line_that_names_the_file(tmp_path):
    path = write(tmp_path / "a.xlsx", [["x"], ["a"]])
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"a\.xlsx: damaged, or not an Excel workbook"):
            read_table(path)
    path.write_bytes(whole)
    repacked(path, sheet1="<worksheet><sheetData><row>")
    with pytest.raises(InputError) as error:
        read_table(path)
    assert str(error.value).startswith(f"{path}: damaged, or not an Excel workbook: ")
    assert "\n" not in str(error.value)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "gone.xlsx")
