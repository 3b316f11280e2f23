"""Files of one's own on the command line: how they are written, what they may hold."""

import json

import polars as pl
import pytest

ROWS = {"id": list(range(60)), "prediction": ["cat", "dog", "eel"] * 20,
        "p_cat": [0.5, 0.25, 0.25] * 20, "p_dog": [0.25, 0.5, 0.25] * 20,
        "p_eel": [0.25, 0.25, 0.5] * 20}  # fmt: skip
COMMANDS = {
    "compare": ("compare", "a", "b", "--json"),
    "gate": ("gate", "a", "b", "--max-churn", "0.5", "--json"),
    "plan": ("plan", "--excess", "0.1", "--retrains", "a", "b", "c"),
}


def write(folder, suffix, change=lambda text: text, encoding="utf-8"):
    for i, name in enumerate("abc"):
        said = ["é"] * (i + 1) + ROWS["prediction"][i + 1 :]
        table = pl.DataFrame(ROWS | {"prediction": said})
        (folder / f"{name}{suffix}").write_bytes(change(table.write_csv()).encode(encoding))


def command(name, suffix):
    return [word + suffix if word in "abc" else word for word in COMMANDS[name]]


@pytest.mark.parametrize("name", COMMANDS)
def test_other_spellings_of_text_need_their_options(run, tmp_path, name):
    write(tmp_path, ".csv", lambda text: text.replace(",", ";").replace(".", ","), "latin-1")
    asked = command(name, ".csv")
    code, _, err = run(*asked)
    assert code == 2
    assert "a.csv: one column: is the delimiter ';'? Give --delimiter\n" in err
    code, _, err = run(*asked, "--delimiter", ";")
    assert code == 2
    assert err.endswith("is not UTF-8: give --encoding latin-1, cp1252 or what it is in\n")
    code, _, err = run(*asked, "--delimiter", ";", "--encoding", "latin-1", "--decimal", ",")
    assert (code in (0, 1), err) == (True, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_tabs_are_read_by_the_name_or_the_option(run, tmp_path, name):
    write(tmp_path, ".tsv", lambda text: text.replace(",", "\t"))
    assert run(*command(name, ".tsv"))[2] == ""
    write(tmp_path, ".csv", lambda text: text.replace(",", "\t"), "utf-16")
    assert run(*command(name, ".csv"), "--delimiter", "tab")[2] == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_small_overlap_is_refused_unless_allowed(run, tmp_path, name):
    for file, moved in (("a", 0), ("b", 40), ("c", 45)):
        said = [f"new{moved}", *(["cat", "dog", "eel"][(i + moved) % 3] for i in range(1, 60))]
        table = pl.DataFrame(ROWS | {"prediction": said}).with_columns(id=pl.col("id") + moved)
        table.write_parquet(tmp_path / f"{file}.parquet")
    asked = command(name, ".parquet")
    if name != "plan":
        asked += ["--retrains", "c.parquet"]
    code, _, err = run(*asked)
    assert code == 2
    assert "(33.33%) are in" in err
    assert "give --min-overlap 0.333\n" in err
    assert run(*asked, "--min-overlap", "0.2")[2] == ""


def test_classes_are_named_by_comma(run, tmp_path):
    table = pl.DataFrame({"cat": [0.7, 0.1], "dog": [0.2, 0.3], "eel": [0.1, 0.6]})
    table.write_csv(tmp_path / "a.csv")
    code, out, _ = run("compare", "a.csv", "a.csv", "--probabilities", "cat,dog,eel", "--json")
    assert code == 0
    assert [row["class"] for row in json.loads(out)["classes"]] == ["cat", "eel"]


def test_a_warning_stands_above_the_answer(run, tmp_path):
    pl.DataFrame({"prediction": ["cat ", "dog"]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"prediction": ["cat", "dog"]}).write_csv(tmp_path / "b.csv")
    code, out, _ = run("compare", "a.csv", "b.csv", "--html", "page.html")
    assert code == 0
    assert out.startswith("warning: classes have spaces around their names, such as 'cat '")
    assert "0.00% of 2 predictions change" in out
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "classes have spaces around their names, such as &#39;cat &#39;" in page


def test_no_escape_sequence_reaches_the_terminal(run, tmp_path):
    """Of names and values: they could move the cursor, hide a line or retitle the window."""
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
    table = pl.DataFrame(
        {"id": [0, 1], "prediction": [f"{evil}a", f"{evil}b"], f"{evil}s": [f"{evil}x"] * 2}
    )
    name = f"{evil}.parquet"
    for path, frame in (
        (name, table),
        ("b.parquet", table.with_columns(prediction=pl.lit(f"{evil}a"))),
    ):
        frame.write_parquet(tmp_path / path)
    sliced = ("--slices", f"{evil}s", "--min-slice", "1")
    for more in ((), ("--markdown",), (*sliced, "--flips", f"{evil}.csv"), ("--id", evil)):
        _, out, err = run("compare", name, "b.parquet", *more)
        for sign in ("\x1b", "\x07", "\x9b", "\u202e"):
            assert sign not in out + err, more
    _, out, err = run("gate", name, "b.parquet", "--max-slice-churn", "0.1", *sliced)
    assert "\x1b" not in out + err


def test_only_some_of_many_classes_are_shown_and_it_says_so(run, tmp_path):
    names = [f"c{i:02}" for i in range(30)]
    pl.DataFrame({"prediction": names}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"prediction": names[1:] + names[:1]}).write_csv(tmp_path / "b.csv")
    for form in ((), ("--markdown",)):
        _, out, _ = run("compare", "a.csv", "b.csv", *form)
        assert "The 12 of 30 classes with the most flips." in out
    pl.DataFrame({"prediction": names[:2]}).write_csv(tmp_path / "a.csv")
    _, out, _ = run("compare", "a.csv", "a.csv")
    assert "classes with the most flips" not in out


def test_files_of_two_tools_are_read_by_the_options_that_one_of_them_needs(run, tmp_path):
    """Every error names what then works: the delimiter, the decimal comma, both predictions."""
    rows = [(i, i % 2, 0.25 + i % 2 / 2) for i in range(60)]
    plain = "".join(f"{i},{said},{p},x\n" for i, said, p in rows)
    german = "".join(f"{i};{1 - said if i < 6 else said};{p};x\n" for i, said, p in rows)
    (tmp_path / "a.csv").write_text("id,pred_v1,p_1,seg\n" + plain)
    (tmp_path / "b.csv").write_text("id;pred_v2;p_1;seg\n" + german.replace(".", ","))
    words = ["compare", "a.csv", "b.csv", "--json"]
    for advice, option, value in (
        ("is the delimiter ';'? Give --delimiter", "--delimiter", ";"),
        ("Name it with --prediction (two by comma", "--prediction", "pred_v1,pred_v2"),
        ("of decimal commas say --decimal ,", "--decimal", ","),
    ):
        code, _, err = run(*words, *(["--probabilities", "p_1"] if "--prediction" in words else []))
        assert (code, advice in err) == (2, True), err
        words += [option, value]
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert json.loads(out)["churn"]["value"] == 0.1
