"""One table in every format; text of users' data comes out as text, whatever it looks like."""

import csv
import io
import json
import math
import re

import polars as pl
import pytest
from rich.cells import cell_len

from unchurn import InputError
from unchurn.report import formats
from unchurn.report.table import Cell, Column, Note, Table

HOSTILE = [
    "<script>alert(1)</script>", "a|b", "*bold*", "`code`", "[link](http://x)", "# head", "a_b_c",
    "&lt;", "\\", "$x^2$ & 50% ~{#}", '=HYPERLINK("http://x")', "+1+1", "@SUM(A1)", "-2+3",
    "two\nlines", "\x1b[31mred", '"quoted", and', "日本語", "é",
]  # fmt: skip


def numbers(text="1.00", value=0.01, **more):
    return Cell(text=text, value=value, spread="(0.10)", **more)


def table(rows=(), *, notes=()):
    columns = (
        Column(heading="method", is_text=True),
        Column(heading="churn"),
        Column(heading="difference", may_go=3),
        Column(heading="also", may_go=4),
    )
    return Table(columns=columns, rows=tuple(rows), notes=tuple(notes))


TWO_ROWS = table(
    [
        (Cell(text="control"), numbers(), Cell(text="+0.50", value=0.005), Cell(text="x")),
        (Cell(text="b"), numbers("12.00", 0.12, is_best=True), Cell(text=""), Cell(text="")),
    ],
    notes=[
        Note(text="Percent."),
        Note(text="the best.", explains_mark=True),
        Note(text="Of differences.", of=("difference", "also")),
    ],
)
FAILED = table([(Cell(text="mixup"), Cell(text="run 0: it failed, for a long, long reason"))])


def test_text_is_aligned_and_marks_the_best():
    assert formats.text(TWO_ROWS) == (
        "method           churn  difference  also\n"
        "control    1.00 (0.10)       +0.50     x\n"
        "b        *12.00 (0.10)\n"
        "\n"
        "Percent.\n"
        "Asterisk: the best.\n"
        "Of differences.\n"
    )


def test_markdown_is_bold_where_it_is_best():
    assert formats.markdown(TWO_ROWS) == (
        "| method | churn | difference | also |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| control | 1.00 (0.10) | +0.50 | x |\n"
        "| b | **12.00 (0.10)** |  |  |\n"
        "\n"
        "Percent.  \n"
        "Bold: the best.  \n"
        "Of differences.  \n"
    )


def test_latex_is_a_tabular_and_its_notes():
    assert formats.latex(TWO_ROWS) == (
        "\\begin{tabular}{lrrr}\n"
        "\\toprule\n"
        "method & churn & difference & also \\\\\n"
        "\\midrule\n"
        "control & 1.00 (0.10) & +0.50 & x \\\\\n"
        "b & \\textbf{12.00 (0.10)} &  &  \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\n"
        "{\\footnotesize\n"
        "Percent.\\\\\n"
        "Bold: the best.\\\\\n"
        "Of differences.\\\\\n"
        "}\n"
    )
    assert formats.latex(table()).endswith("\\end{tabular}\n")


def test_csv_has_no_notes():
    rows = list(csv.reader(io.StringIO(formats.csv_(TWO_ROWS))))
    assert rows[0] == ["method", "churn", "difference", "also"]
    assert rows[1:] == [["control", "1.00 (0.10)", "+0.50", "x"], ["b", "12.00 (0.10)", "", ""]]


def test_json_has_values_and_null_for_what_is_no_number():
    odd = [Cell(text="–", value=value) for value in (math.nan, math.inf, None)]
    found = json.loads(formats.json_(table([*TWO_ROWS.rows, (Cell(text="odd"), *odd)])))
    assert found["rows"][0] == {
        "method": "control",
        "churn": 0.01,
        "difference": 0.005,
        "also": "x",
    }
    assert found["rows"][1] == {"method": "b", "churn": 0.12, "difference": None, "also": None}
    assert found["rows"][2] == {"method": "odd", "churn": None, "difference": None, "also": "–"}
    assert json.loads(formats.json_(TWO_ROWS))["notes"] == ["Percent.", "Of differences."]


def test_html_carries_what_is_sorted_by():
    html = formats.html(TWO_ROWS, "methods")
    assert html.startswith('<table id="methods" class="sortable">')
    assert '<th scope="col" class="text"><button type="button">method</button></th>' in html
    assert '<td data-value="0.01">1.00 <span class="sd">(0.10)</span></td>' in html
    assert '<td class="best" data-value="0.12">12.00' in html
    assert formats.notes_of(TWO_ROWS)[1] == "Bold: the best."


@pytest.mark.parametrize(
    ("width", "heading", "left_out"),
    [
        (40, "method           churn  difference  also", None),
        (39, "method           churn  difference", "also"),
        (33, "method           churn", "also, difference"),
        (20, "method    churn", "also, difference, sd"),
        (3, "method    churn", "also, difference, sd"),  # no narrower than that
    ],
)
def test_what_is_too_wide_goes_without_columns_then_without_spreads(width, heading, left_out):
    lines = formats.text(TWO_ROWS, width).splitlines()
    assert lines[0] == heading
    assert len(lines[0]) <= max(width, 15)
    said = " ".join(" ".join(lines).split())
    assert ("Of differences." in said) == (left_out in (None, "also"))
    if left_out is None:
        assert "want of width" not in said
    elif width > 3:
        assert f"Not shown for want of width: {left_out}." in said


def test_deviations_go_before_what_may_go_last():
    columns = (
        Column(heading="method", is_text=True),
        Column(heading="setting", is_text=True, may_shorten=True),
        Column(heading="churn"),
        Column(heading="difference", may_go=1),
    )
    row = (
        Cell(text="mixup"),
        Cell(text="a=0.123456789 b=0.123456789"),
        Cell(text="1.00", spread="(0.10)"),
        Cell(text="-0.10 [-0.20, -0.01]"),
    )
    one = Table(columns=columns, rows=(row,))
    said = {width: formats.text(one, width).splitlines() for width in (80, 65, 55, 30)}
    assert "(0.10)" in said[80][1]
    assert "(0.10)" not in said[65][1]
    assert " a=0.123456789 b=0…  " in said[55][1]
    assert len(said[55][1]) == 55
    assert said[55][1].endswith("-0.10 [-0.20, -0.01]")
    assert "[" not in said[30][1]


def test_a_short_row_ends_in_its_reason_in_every_format():
    reason = "run 0: it failed, for a long, long reason"
    assert formats.text(FAILED, 30).splitlines()[1] == f"mixup   {reason}"
    assert f"| mixup | {reason} |  |  |" in formats.markdown(FAILED)
    assert f"mixup & {reason} &  &  \\\\" in formats.latex(FAILED)
    assert f'<td class="rest" colspan="3">{reason}</td></tr>' in formats.html(FAILED)
    assert pl.read_csv(io.StringIO(formats.csv_(FAILED))).row(0) == ("mixup", reason, None, None)
    (row,) = json.loads(formats.json_(FAILED))["rows"]
    assert row == {
        "method": "mixup", "churn": None, "difference": None, "also": None, "reason": reason,
    }  # fmt: skip


def foreign(words):
    rest = [Cell(text="") for _ in range(3)]
    return table([(Cell(text=words, is_foreign=True), *rest)])


def test_text_of_users_data_stays_text_in_html(visit, tmp_path):
    html = "".join(formats.html(foreign(words)) for words in HOSTILE)
    (tmp_path / "page.html").write_text(f'<meta charset="utf-8">{html}', "utf-8")
    page, _, said = visit(tmp_path / "page.html")
    assert page.locator("td:first-child").all_text_contents() == HOSTILE
    assert page.locator("td *").count() == 0
    assert said == []


@pytest.mark.parametrize("words", HOSTILE)
def test_text_of_users_data_stays_text_in_markdown(words):
    """Read back by the rules of Markdown: a backslash takes the next sign as it is."""
    _, _, line, *rest = formats.markdown(foreign(words)).splitlines()
    assert rest == []
    cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)
    assert len(cells) == 6  # one before and one behind the four
    inside = line.removeprefix("| ").removesuffix(" |  |  |  |").replace("&#8203;", "")
    for sign in "`*_[]|#~$":
        assert not re.search(rf"(?<!\\)(?:\\\\)*{re.escape(sign)}", inside)
    assert "<" not in inside
    shown = re.sub(r"\\([\\`*_\[\]|#~$])", r"\1", inside)
    shown = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert shown == " ".join(words.replace("\x1b", " ").split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("@octocat", "@&#8203;octocat"),  # no one is told of it
        ("mail a@b.org", "mail a@&#8203;b.org"),
        ("see #12", "see \\#&#8203;12"),
        ("GH-12", "GH-&#8203;12"),
        ("https://x.org", "https:&#8203;//x.org"),
        ("HTTP://x.org", "HTTP:&#8203;//x.org"),
        ("www.x.org", "www.&#8203;x.org"),
        ("&#64;octocat", "&amp;\\#&#8203;64;octocat"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("a\x1b[2Jb\u202ec\nd", "a \\[2Jb c d"),
    ],
)
def test_nothing_in_markdown_is_a_link_a_mention_or_an_escape(words, expected):
    assert formats.in_markdown(words) == expected


@pytest.mark.parametrize("words", HOSTILE)
def test_text_of_users_data_is_no_command_in_latex(words):
    line = formats.latex(foreign(words)).split("\\midrule\n")[1].split("\\bottomrule")[0]
    inside = line.removesuffix(" &  &  &  \\\\\n")
    assert not re.search(r"(?<!\\)[&%#_{}]", inside)
    assert not re.search(r"\\(?![&%$#_{}])", inside)
    assert "^" not in inside
    assert "~" not in inside


@pytest.mark.parametrize("words", HOSTILE)
def test_text_of_users_data_is_no_formula_in_csv(words):
    (_, row) = csv.reader(io.StringIO(formats.csv_(foreign(words))))
    assert row[0].removeprefix("'") == words
    assert row[0][0] not in "=+@"
    assert len(row) == 4


@pytest.mark.parametrize("words", HOSTILE)
def test_text_of_users_data_stays_on_its_line_of_a_terminal(words):
    one = foreign(words)
    first, second, *rest = formats.text(one).splitlines()
    assert rest == []
    assert second.isprintable()
    assert cell_len(second) == cell_len("".join(c if c.isprintable() else " " for c in words))
    assert first.index("churn") - len("  ") == max(cell_len(second), len("method"))


@pytest.mark.parametrize("words", HOSTILE)
def test_text_of_users_data_is_itself_in_json(words):
    assert json.loads(formats.json_(foreign(words)))["rows"][0]["method"] == words


@pytest.mark.parametrize("form", formats.FORMATS)
def test_every_format_renders_a_table_without_rows(form):
    assert formats.render(table(), form) == formats.FORMATS[form](table())


def test_an_unknown_format_is_named():
    with pytest.raises(InputError, match="no format of table 'xml': there are text, markdown"):
        formats.render(TWO_ROWS, "xml")


def test_names_that_share_a_beginning_stay_distinct_where_they_are_shortened():
    columns = (Column(heading="class", is_text=True, may_shorten=True), Column(heading="n"))
    names = [f"customer_support/billing/{kind}_invoice" for kind in ("late", "lost")]
    table = Table(columns=columns, rows=tuple((Cell(text=name), Cell(text="1")) for name in names))
    _, one, two = formats.text(table, 30).splitlines()
    assert one != two
    assert max(len(one), len(two)) <= 30
