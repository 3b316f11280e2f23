"""Tables of text in every spelling are read, or refused with the option that reads them."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from unchurn.core.errors import InputError
from unchurn.core.tables import TextForm, open_text, read_table

ROWS = {"name": ["é", "b"], "x": [0.5, 1.25]}


def test_a_csv_of_numbers_alone_has_no_header(tmp_path):
    (tmp_path / "bare.csv").write_text("1,1,2\n3,4,5\n")
    assert read_table(tmp_path / "bare.csv").shape == (2, 3)
    (tmp_path / "named.csv").write_text("a,b,c\n3,4,5\n")
    assert read_table(tmp_path / "named.csv").columns == ["a", "b", "c"]


def test_column_types_are_decided_by_all_rows(tmp_path):
    (tmp_path / "late.csv").write_text("a\n" + "1\n" * 500 + "1.5\n")
    assert read_table(tmp_path / "late.csv")["a"].to_list()[-1] == 1.5


def test_a_byte_order_mark_is_no_header(tmp_path):
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf1,2\n3,4\n")
    assert read_table(tmp_path / "bom.csv").shape == (2, 2)


def test_names_are_names_not_patterns(tmp_path):
    for name in ("logits[1].csv", "*.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
        assert read_table(tmp_path / name).shape == (1, 2)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(InputError, match=r"folder\.parquet: is a folder"):
        read_table(tmp_path / "folder.parquet")


def check(path, form=None):
    assert read_table(path, form).to_dict(as_series=False) == ROWS


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.csv", "name,x\né,0.5\nb,1.25\n", {}),
        ("a.tsv", "name\tx\né\t0.5\nb\t1.25\n", {}),
        ("a.csv", "name;x\né;0,5\nb;1,25\n", {"delimiter": ";", "decimal": ","}),
        ("a.csv", "name|x\r\né|0.5\r\nb|1.25\r\n", {"delimiter": "|"}),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
@pytest.mark.parametrize("packed", [False, True])
def test_text_is_read_in_every_spelling(tmp_path, name, content, form, encoding, packed):
    is_marked = encoding in ("utf-8", "utf-8-sig", "utf-16")
    asked = TextForm(**form, encoding=None if is_marked else encoding)
    data = content.encode(encoding)
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    check(path, asked)


def test_arrow_is_read_in_its_forms(tmp_path):
    frame = pl.DataFrame(ROWS)
    for name in ("a.feather", "a.arrow", "a.ipc"):
        frame.write_ipc(tmp_path / name, compression="zstd")
        check(tmp_path / name)
    frame.write_ipc_stream(tmp_path / "stream.arrow")
    check(tmp_path / "stream.arrow")


def test_an_arrow_file_that_ends_its_reader_is_one_line(tmp_path):
    """Its text claims billions of buffers, for which Polars asks for 193 TB; found by mutation."""
    find = Path(__file__).parents[1] / "fuzz/finds/compare--feather-41978d3a/files/base.feather"
    (tmp_path / "a.feather").write_bytes(find.read_bytes())
    with pytest.raises(InputError, match=r"a\.feather: damaged, or too large: .*SIGABRT"):
        read_table(tmp_path / "a.feather")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "gone.feather")


@pytest.mark.parametrize(
    ("name", "content", "form", "message"),
    [
        ("a.csv", b"a;b\n1;2\n", {}, "a.csv: one column: is the delimiter ';'? Give delimiter="),
        ("a.csv", b"a\tb\n1\t2\n", {}, "one column: is the delimiter a tab?"),
        ("a.tsv", b"a,b\n1,2\n", {}, "one column: is the delimiter ','?"),
        ("a.csv", b"a,b\n\xe9,1\n", {}, "is not UTF-8: give encoding= latin-1"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16-be"), {}, "give encoding= utf-16-le or utf-16-be"),
        ("a.csv", b"a,b\n\xe9,12\n", {"encoding": "utf-16"}, "is not utf-16: give encoding="),
        ("a.csv.gz", b"no gzip", {}, "a.csv.gz: damaged, or not a table"),
        ("a.xlsx", b"PK", {}, "a.xlsx: damaged, or not an Excel workbook"),
        ("a.xls", b"", {}, "a.xls: is a workbook: save it as .xlsx"),
        ("a.dat", b"", {}, "a.dat: the name must end in .csv, .tsv"),
        ("a.feather", b"FEA1....", {}, "a.feather: damaged"),
        ("a.arrow", b"nonsense", {}, "a.arrow: damaged"),
        ("a.csv", b"\n1,2\n", {}, "its first line is empty"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", {}, "a.csv: line 3 has 3 columns, the first 2: a text"),
        ("a.tsv", b'a\tb\n"1\n1"\t2\n1\t2\t3\n', {}, "line 4 has 3 columns, the first 2: a text "
         "that holds a tab needs quotes"),
        ("a.csv", b'a,b\n1,2\n1,"2\n3,4\n', {}, "the quote that is opened in line 3 is never clos"),
        ("a.csv", b'a,b\n1,"2\n' + b"3,4\n" * 50_000, {}, "the quote that is opened in line 2 is"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_how(tmp_path, name, content, form, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        read_table(tmp_path / name, TextForm(**form))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"delimiter": ";;"}, "delimiter= must be one character"),
        ({"delimiter": ""}, "delimiter= must be one character"),
        ({"decimal": "x"}, "decimal= must be . or ,"),
        ({"encoding": "no-such"}, "no encoding 'no-such'"),
    ],
)
def test_odd_forms_are_named(form, message):
    with pytest.raises(InputError, match=message):
        TextForm(**form)


def test_a_column_that_has_commas_in_its_only_name_is_one_column(tmp_path):
    (tmp_path / "a.tsv").write_text("price, net\n1\n2\n")
    assert read_table(tmp_path / "a.tsv").columns == ["price, net"]


def test_text_stays_as_it_is_written_where_it_is_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("id,p,q\n007,0.5,NA\n7,1,0.25\n")
    table = open_text(tmp_path / "a.csv").read(["q", "id", "p"], numbers=["p"])
    assert table.to_dict(as_series=False) == {
        "q": ["NA", "0.25"], "id": ["007", "7"], "p": [0.5, 1.0],
    }  # fmt: skip
    odd = open_text(tmp_path / "a.csv").read(["q"], numbers=["q"])
    assert odd["q"].to_list() == ["NA", "0.25"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"id;p\n7;0,25\n"),
        ("a.csv", b"id,p\n7,0.25\n"),  # for which neither option is meant
        ("a.tsv", b"id\tp\n7\t0.25\n"),
        ("a.csv", b"id|p\n7|0,25\n"),
        ("a.csv", b'id,p\n7,"0,25"\n'),
    ],
)
def test_what_is_given_for_one_file_leaves_others_as_they_are(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    text = open_text(tmp_path / name, TextForm(delimiter=";", decimal=","))
    table = text.read(["id", "p"], numbers=["p"])
    assert table["id"].to_list() == ["7"]
    assert table["p"].cast(pl.Float64).to_list() == [0.25]
