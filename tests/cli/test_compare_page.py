import sys

import polars as pl
import pytest


@pytest.fixture
def files(run, tmp_path):
    for name, predictions in (("base", "aabb"), ("cand", "abbb")):
        table = pl.DataFrame(
            {"id": range(4), "prediction": list(predictions), "label": list("aabb")}
        )
        table.write_csv(tmp_path / f"{name}.csv")
    return "base.csv", "cand.csv"


def test_both_commands_write_the_page(run, files, tmp_path):
    code, _, err = run("compare", *files, "--html", "page.html")
    assert (code, err) == (0, "wrote page.html\n")
    assert "base.csv → cand.csv" in (tmp_path / "page.html").read_text()
    code, out, err = run("gate", *files, "--max-churn", "0", "--json", "--html", "gate.html")
    assert (code, err) == (1, "wrote gate.html\n")
    assert out.startswith("{")
    assert 'class="decision">reject<' in (tmp_path / "gate.html").read_text()


@pytest.mark.parametrize("command", ["compare", "gate"])
def test_an_unwritable_place_is_one_line_before_the_work(run, command):
    limit = ["--max-churn", "1"] if command == "gate" else []
    # The files are not there either: the place is looked at first.
    assert run(command, "x.csv", "y.csv", *limit, "--html", "none/page.html") == (
        2,
        "",
        "unchurn: cannot write none/page.html: there is no folder none\n",
    )


@pytest.mark.parametrize("package", ["jinja2", "altair", "vl_convert"])
def test_a_missing_extra_is_named_before_the_work(run, files, monkeypatch, package):
    for name in (
        "unchurn.comparison.report.page",
        "unchurn.comparison.report.charts",
        "unchurn.report.html",
    ):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    expected = f"unchurn: this needs {package}: pip install 'unchurn[charts]'\n"
    assert run("compare", *files, "--html", "page.html") == (2, "", expected)
    assert run("compare", *files)[0] == 0  # only the page needs it
