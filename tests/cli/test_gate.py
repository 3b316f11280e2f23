"""`unchurn gate`: exit codes, what it reads and writes, and what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest


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


def test_a_missing_file_is_said_before_anything_of_the_policy(run):
    for words in (["base.csv"], [], ["base.csv", "--max-churn", "2"], ["base.csv", "--explain"]):
        code, _, err = run("gate", *words)
        assert (code, "give two files" in err) == (2, True), words


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
    assert "with fewer than 36 examples of a slice even one without a flip is held" in out
    code, out, _ = run("gate", "--max-churn", "0", "--max-excess-loss", "0.01", "--explain")
    assert code == 0
    assert "it never promotes: no number of examples shows that nothing flips" in out
    assert "accuracy lost beyond that of retraining alone: at most 1.00%" in out
    code, _, err = run("gate", "a.csv", "b.csv", "--max-churn", "0.1", "--explain")
    assert code == 2  # a verdict was asked for
    code, _, err = run("gate", "--max-churn", "0.1")
    assert code == 2
    assert "give two files" in err


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


def test_a_limit_that_needs_labels_says_both_ways_to_give_them(run, files):
    base = files[1]  # the truth stands in the other
    code, _, err = run("gate", base, base, "--max-bad-flips", "0.1")
    assert code == 2
    assert "give --labels (a file of them), or --label (their column in a model's file)" in err


def test_of_many_checks_those_in_the_way_are_listed_and_the_others_counted(run, tmp_path):
    """Of 15 slices, the last flips half of its rows, which a limit of 55 % leaves open."""
    n = 1500
    table = pl.DataFrame({"id": range(n), "prediction": ["a", "b"] * (n // 2)})
    table = table.with_columns(part=pl.col("id") // 100)
    moved = table.with_columns(
        pl.when(pl.col("id") < 1450).then("prediction").otherwise(pl.lit("c"))
    )
    table.write_csv(tmp_path / "b.csv")
    moved.write_csv(tmp_path / "c.csv")
    asked = ("gate", "b.csv", "c.csv", "--slices", "part", "--max-slice-churn", "0.55")
    asked += ("--max-churn", "0.1")
    code, out, _ = run(*asked)
    assert code == 3
    lines = out.splitlines()
    assert lines[1].startswith("  hold    slice_churn of part=14: 50.00%")
    assert any(line.startswith("  promote churn: 3.33%") for line in lines)
    assert "  promote 14 checks of slices, which --json and --html list" in map(str.rstrip, lines)
    assert "part=3:" not in out
    _, out, _ = run(*asked, "--json")
    assert len(json.loads(out)["verdict"]["checks"]) == 16
    _, out, _ = run(*asked, "--markdown")
    listed, folded = out.split("<details>", 1)
    assert "part=14" in listed
    assert "part=3" not in listed
    assert "14 checks of slices that promote" in folded
    assert "part=3 " in folded.split("</details>")[0]
