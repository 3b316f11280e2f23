import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unchurn import cli

N = 400


def test_the_answer_on_the_terminal(run, files):
    code, out, err = run("compare", *files, "--slices", "country", "--cluster", "user")
    assert (code, err) == (0, "")
    assert f"of {N} predictions change" in out
    assert "bad flips (right → wrong)" in out
    assert "country=de" in out
    assert "base.csv: id: id, prediction: prediction, label: label" in out


def test_json_has_the_promised_keys(run, files):
    arguments = ("--json", "--retrains", "r1.csv", "r2.csv", "r3.parquet", "--slices", "country")
    code, out, err = run("compare", *files, *arguments)
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["schema"] == "unchurn.compare/1"
    assert answer["n"] == N
    for name in ("churn", "accuracy_base", "accuracy_candidate", "accuracy_difference",
                 "churn_correct", "churn_incorrect", "bad_flips", "good_flips",
                 "wrong_to_wrong"):  # fmt: skip
        value = answer[name]
        assert value["low"] <= value["value"] <= value["high"]
    assert 0 <= answer["mcnemar_p"] <= 1
    assert {s["value"] for s in answer["slices"]} == {"de", "fr"}
    assert {c["class"] for c in answer["classes"]} == {"0", "1"}
    assert len(answer["noise_floor"]["retrains"]) == 3


def test_markdown_and_flips(run, files, tmp_path):
    code, out, err = run("compare", *files, "--markdown", "--flips", "f.csv")
    assert code == 0
    assert out.startswith("## unchurn compare\n")
    flips = pl.read_csv(tmp_path / "f.csv")
    assert err == f"wrote f.csv: {flips.height} flips\n"
    assert flips["kind"][0] == "bad"


def test_a_bench_folder_gives_the_retrainings(run, tmp_path):
    short = ("--methods", "control,ensemble", "--runs", "3", "--epochs", "1", "--workers", "1")
    assert run("bench", "digits", *short, "--out", "b")[0] == 0
    pair = ("b/predictions/control-0.parquet", "b/predictions/ensemble-0.parquet")
    code, out, _ = run("compare", *pair, "--retrains", "b", "--json")
    assert code == 0
    assert len(json.loads(out)["noise_floor"]["retrains"]) == 2  # base itself is none
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, err = run("compare", *pair, "--retrains", "empty")
    assert code == 2
    assert "no predictions/control-*.parquet is there" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("base.csv", "none.csv"), "none.csv: No such file or directory"),
        (("base.csv", "cand.csv", "r1.csv"), "Got unexpected extra argument(s) (r1.csv)"),
        (("base.csv", "cand.csv", "--id", "key"), "no column 'key'"),
        (("base.csv", "cand.csv", "--slices", "x"), "no column 'x' for --slices in either file"),
        (("base.csv", "cand.csv", "--json", "--markdown"), "--json or --markdown, not both"),
        (("base.csv", "cand.csv", "--threshold", "2"), "--threshold"),
        (("base.csv", "cand.csv", "--flips", "f.xlsx"), "'--flips': f.xlsx: flips are written as"),
        (("base.csv", "cand.csv", "--flips", "f.csv.gz"), "the name must end in .csv"),
        (("base.csv", "cand.csv", "--retrains", "base.csv"), "base.csv is base: no further"),
        (("base.csv", "cand.csv", "--retrains", "./cand.csv"), "cand.csv is the candidate"),
        (("base.csv", "cand.csv", "--retrains", "r1.csv", "r1.csv"), "r1.csv is there twice"),
        (("--retrains", "r1.csv", "base.csv", "cand.csv"), "put the two to compare before it. See"),
        (("base.csv", "cand.csv", "--flips", "./cand.csv"), "it is another file of this command"),
        (("base.csv", "cand.csv", "--flips", "f", "--html", "f"), "it is another file of this"),
        (("base.csv", "cand.csv", "--labels", "r1.csv", "--flips", "r1.csv"), "it is another file"),
        (("base.csv", "cand.csv", "--retrains", "r1.csv", "--html", "r1.csv"), "is another file"),
        (("base.csv", "cand.csv", "--labels", "none.csv"), "labels: has no rows"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, files, tmp_path, arguments, message):
    if "--labels" in arguments:
        (tmp_path / "none.csv").write_text("id,label\n")
    code, out, err = run("compare", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_neither_torch_nor_numba_is_needed(files, tmp_path):
    """In an environment where importing either fails."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for name in ("torch", "numba", "altair", "jinja2"):
        (blocked / f"{name}.py").write_text("raise ModuleNotFoundError(name=__name__)")
    ours = Path(cli.__file__).parents[2]
    for arguments in (("compare", *files), ("gate", *files, "--max-churn", "0.9")):
        done = subprocess.run(
            [Path(sys.executable).with_name("unchurn"), *arguments],
            cwd=tmp_path, env={"PYTHONPATH": f"{blocked}{os.pathsep}{ours}"}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


CELLS = st.none() | st.integers(-3, 3) | st.floats() | st.text(max_size=4) | st.booleans()
NAMES = st.sampled_from(["id", "prediction", "label", "p_a", "p_b", "score", "x"])
TABLES = st.integers(0, 4).flatmap(
    lambda n: st.dictionaries(NAMES, st.lists(CELLS, min_size=n, max_size=n), max_size=5)
)


@settings(max_examples=150)
@given(TABLES, TABLES, st.sampled_from([".csv", ".jsonl", ".parquet"]))
def test_no_file_makes_a_traceback(tmp_path_factory, base, candidate, suffix):
    folder = tmp_path_factory.mktemp("any")
    paths = []
    for name, table in (("b", base), ("c", candidate)):
        frame = pl.DataFrame(
            {c: [v if v is None else str(v) for v in values] for c, values in table.items()},
            schema_overrides=dict.fromkeys(table, pl.String),
        )
        path = folder / f"{name}{suffix}"
        {".csv": frame.write_csv, ".jsonl": frame.write_ndjson,
         ".parquet": frame.write_parquet}[suffix](path)  # fmt: skip
        paths.append(str(path))
    before, sys.argv = sys.argv, ["unchurn", "gate", *paths, "--max-churn", "0.5"]
    try:
        with pytest.raises(SystemExit) as stop:
            cli.main()
    finally:
        sys.argv = before
    assert stop.value.code in (0, 1, 2, 3)


def test_a_file_may_be_compared_with_itself(run, files, tmp_path):
    assert run("compare", "base.csv", "base.csv", "--html", "page.html")[0] == 0
    title = "base.csv (base) → base.csv (candidate)"
    assert title in (tmp_path / "page.html").read_text("utf-8")


def test_a_name_is_no_pattern_and_classes_no_markup(run, tmp_path):
    rows = {"id": [1, 2], "proba_y": [0.2, 0.9], "proba_[/x]": [0.8, 0.1]}
    pl.DataFrame(rows).write_ndjson(tmp_path / "p[1].jsonl")
    pl.DataFrame({**rows, "id": [3, 4]}).write_ndjson(tmp_path / "p1.jsonl")
    pl.DataFrame(rows).write_csv(tmp_path / "c.csv")
    code, out, _ = run("compare", "p[1].jsonl", "c.csv", "--positive", "[/x]")
    assert code == 0
    assert "0.00% of 2 predictions change" in out
    assert "threshold for [/x]" in out


def test_a_name_that_is_no_text_is_shown_as_well_as_can_be(run, tmp_path):
    name = os.fsdecode(b"caf\xe9.npz")
    for path in (name, "other.npz"):
        np.savez(tmp_path / path, prediction=[0, 1])
    assert run("compare", name, "other.npz", "--html", "page.html")[0] == 0
    assert "caf?.npz" in (tmp_path / "page.html").read_text("utf-8")


def test_the_labelled_list_of_flips_goes_back_in(run, tmp_path):
    ids = [f"-{i}x" for i in range(100)]
    for name, n_flips in (("a", 0), ("b", 4)):
        said = [int(i < n_flips) for i in range(100)]
        pl.DataFrame({"key no": ids, "said": said}).write_csv(tmp_path / f"{name}.csv")
    named = ("--id", "key no", "--prediction", "said")
    assert run("compare", "a.csv", "b.csv", *named, "--flips", "f.csv")[0] == 0
    listed = pl.read_csv(tmp_path / "f.csv")
    listed.with_columns(label=pl.Series([0, 0, 0, 1])).write_csv(tmp_path / "f.csv")
    code, out, _ = run("compare", "a.csv", "b.csv", *named, "--labels", "f.csv", "--json")
    found = json.loads(out)
    assert (code, found["labels_cover"]) == (0, "flips")
    assert (found["bad_flips"]["value"], found["accuracy_difference"]["value"]) == (0.03, -0.02)
    assert found["accuracy_base"] is None
    listed[:3].with_columns(label=pl.Series([0, 0, 0])).write_csv(tmp_path / "f.csv")
    code, _, err = run("compare", "a.csv", "b.csv", *named, "--labels", "f.csv")
    assert (code, "where labels are of the flips each needs one" in err) == (2, True)
    code, _, err = run("compare", "a.csv", "b.csv", *named, "--labels-cover", "some")
    assert (code, "say --labels-cover all or flips, not 'some'" in err) == (2, True)
