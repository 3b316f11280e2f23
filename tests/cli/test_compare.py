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

RNG = np.random.default_rng(0)
N = 400


@pytest.fixture
def files(tmp_path):
    """base.csv, cand.parquet and three retrainings; the truth in base, a slice and users."""
    truth = RNG.integers(0, 2, N)
    for name, rate in (("base", 0.05), ("cand", 0.05), ("r1", 0.05), ("r2", 0.05), ("r3", 0.05)):
        said = np.where(RNG.random(N) < rate, 1 - truth, truth)
        table = pl.DataFrame({"id": [f"u{i}" for i in range(N)], "prediction": said})
        if name == "base":
            table = table.with_columns(
                label=pl.Series(truth), country=pl.Series(["de", "fr"] * (N // 2)),
                user=pl.Series(RNG.integers(0, 80, N)),
            )  # fmt: skip
        table = table.sample(fraction=1, shuffle=True, seed=len(name))
        table.write_parquet(tmp_path / f"{name}.parquet")
        table.write_csv(tmp_path / f"{name}.csv")
    return "base.csv", "cand.parquet"


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


def test_gate_exits_by_its_verdict(run, files, tmp_path):
    (tmp_path / "gate.toml").write_text("max_churn = 0.5\n")
    code, out, _ = run("gate", *files, "--policy", "gate.toml", "--junit", "j.xml")
    assert code == 0
    assert out.startswith("PROMOTE")
    assert "<testsuite" in (tmp_path / "j.xml").read_text()
    code, out, _ = run("gate", *files, "--policy", "gate.toml", "--max-churn", "0.001", "--json")
    assert code == 1
    assert json.loads(out)["verdict"]["decision"] == "reject"
    churn = json.loads(out)["churn"]["value"]
    code, out, _ = run("gate", *files, "--max-churn", f"{churn}", "--markdown")
    assert code == 3
    assert out.startswith("## ⏸️ unchurn gate: hold")
    code, out, _ = run("gate", *files, "--policy", "gate.toml", "--explain")
    assert (code, out[:23]) == (0, "predictions that change")


def test_ids_that_must_not_flip_come_from_a_file(run, files, tmp_path):
    base = pl.read_csv(tmp_path / "base.csv")
    both = base.join(pl.read_parquet(tmp_path / "cand.parquet"), on="id")
    moved = both.filter(pl.col("prediction") != pl.col("prediction_right"))["id"]
    (tmp_path / "golden.txt").write_text(f"{moved[0]}\n\n")
    code, out, _ = run("gate", *files, "--must-not-flip", "golden.txt")
    assert code == 1
    assert f"1 of 1 flipped: {moved[0]}" in out


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--flips", "no/where.csv"), "cannot write no/where.csv"),
        (("--junit", "no/where.xml"), "cannot write no/where.xml"),
        (("--must-not-flip", "none.txt"), "none.txt: No such file"),
        (("--must-not-flip", "empty.txt"), "empty.txt: no id is there"),
        (("--must-not-flip", "cand.parquet"), "cand.parquet: damaged, or not a text file"),
    ],
)
def test_what_a_gate_cannot_do_is_said_first(run, files, tmp_path, arguments, message):
    (tmp_path / "empty.txt").write_text("\n")
    code, out, err = run("gate", *files, "--max-churn", "0.5", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_gate_without_limits_is_refused(run, files):
    code, _, err = run("gate", *files)
    assert code == 2
    assert "the policy sets no limit" in err


def test_a_reader_that_leaves_early_does_not_change_the_verdict(files, tmp_path):
    unchurn = Path(sys.executable).with_name("unchurn")
    with subprocess.Popen(
        [unchurn, "gate", *files, "--max-churn", "0.9"], cwd=tmp_path, stdout=subprocess.PIPE
    ) as gate:
        gate.stdout.close()
        assert gate.wait() == 0


@pytest.mark.parametrize("form", ["--json", "--markdown"])
def test_nor_does_it_in_other_forms_and_files_are_written(files, tmp_path, form):
    unchurn = Path(sys.executable).with_name("unchurn")
    command = [unchurn, "gate", *files, "--max-churn", "0.9", form, "--flips", "flips.csv"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as gate:
        gate.stdout.close()
        assert gate.wait() == 0
    assert (tmp_path / "flips.csv").exists()


def test_a_terminal_of_few_characters_is_no_crash(files, tmp_path):
    unchurn = Path(sys.executable).with_name("unchurn")
    command = [unchurn, "gate", *files, "--max-churn", "0.9", "--markdown"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert b"unchurn gate: promote" in done.stdout


def test_no_verdict_leaves_no_earlier_one(run, files, tmp_path):
    (tmp_path / "gate.xml").write_text("<passed/>")
    limits = ("--max-churn", "0.9", "--max-excess-churn", "0.1", "--junit", "gate.xml")
    assert run("gate", *files, *limits)[0] == 2
    assert not (tmp_path / "gate.xml").exists()


def test_a_policy_is_explained_without_any_file(run, tmp_path):
    code, out, _ = run("gate", "--max-slice-churn", "0.1", "--explain")
    assert code == 0
    assert "slices of fewer than 50 examples count as one" in out
    code, _, err = run("gate", "a.csv", "b.csv", "--max-churn", "0.1", "--explain")
    assert code == 2  # a verdict was asked for
    code, _, err = run("gate", "--max-churn", "0.1")
    assert code == 2
    assert "give two files" in err


def test_neither_torch_nor_numba_is_needed(files, tmp_path):
    """In an environment where importing either fails."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for name in ("torch", "numba", "altair", "jinja2"):
        (blocked / f"{name}.py").write_text("raise ModuleNotFoundError(name=__name__)")
    for arguments in (("compare", *files), ("gate", *files, "--max-churn", "0.9")):
        done = subprocess.run(
            [Path(sys.executable).with_name("unchurn"), *arguments],
            cwd=tmp_path, env={"PYTHONPATH": str(blocked)}, capture_output=True, text=True,
            check=False,
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


@pytest.mark.parametrize("option", ["--policy", "--must-not-flip", "--labels"])
def test_a_gate_overwrites_nothing_that_it_reads(run, files, tmp_path, option):
    (tmp_path / "read").write_text("max_churn = 0.5\n")
    code, _, err = run("gate", *files, "--max-churn", "0.5", option, "read", "--junit", "read")
    assert code == 2
    assert "cannot write read: it is another file of this command" in err
    assert (tmp_path / "read").read_text() == "max_churn = 0.5\n"


def test_files_with_a_byte_order_mark_are_read(run, files, tmp_path):
    (tmp_path / "policy.toml").write_text("max_churn = 1\n", "utf-8-sig")
    (tmp_path / "ids.txt").write_text("u5\n", "utf-8-sig")
    code, _, err = run("gate", "base.csv", "base.parquet", "--policy", "policy.toml",
                       "--must-not-flip", "ids.txt")  # fmt: skip
    assert (code, err) == (0, "")


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
