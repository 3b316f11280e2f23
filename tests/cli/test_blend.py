"""`unchurn blend`: what it writes and says, and what it refuses."""

import json
import re

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def files(tmp_path, rng):
    """base.csv with the truth, cand.parquet in another order; of two classes."""
    n = 600
    truth = rng.integers(0, 2, n)
    for name in ("base", "cand"):
        p = 1 / (1 + np.exp(-(rng.normal(size=n) + 2 * truth - 1)))
        table = pl.DataFrame({"id": [f"u{i}" for i in range(n)], "p_no": 1 - p, "p_yes": p})
        if name == "base":
            said = np.where(truth == 1, "yes", "no")
            table = table.with_columns(label=pl.Series(said), user=pl.Series(np.arange(n) // 10))
            table.write_csv(tmp_path / "base.csv")
        table.reverse().write_parquet(tmp_path / f"{name}.parquet")
    return "base.csv", "cand.parquet"


def answer(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("output", ["served.parquet", "served.csv", "served.jsonl"])
def test_compare_reads_what_is_served_and_says_the_same(run, files, output):
    blended = answer(run, "blend", *files, "--max-bad-flips", "0.02", "-o", output)
    assert 0 < blended["served"]["bad_flips"]["value"] <= 0.02
    compared = answer(run, "compare", "base.csv", output)
    for name in ("churn", "bad_flips", "good_flips", "accuracy_difference"):
        assert compared[name] == blended["served"][name]
    assert compared["accuracy_candidate"] == blended["served"]["accuracy"]
    alone = answer(run, "compare", *files)
    assert alone["bad_flips"] == blended["candidate"]["bad_flips"]


def test_the_answer_is_a_table_and_how_to_go_on(run, files, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run("blend", *files, "--max-bad-flips", "0.02", "-o", "served.csv")
    assert (code, err) == (0, "wrote served.csv: 600 rows\n")
    lines = " ".join(out.split())
    chosen = answer(run, "blend", *files, "--max-bad-flips", "0.02", "-o", "a.csv")
    assert f"with --ratio {chosen['ratio']:g}." in lines
    assert "optimistic" in lines
    assert "against base candidate alone served" in lines
    for name in ("accuracy", "churn", "bad flips", "good flips"):
        assert sum(line.strip().startswith(name) for line in out.splitlines()) == 1
    assert max(map(len, out.splitlines())) <= 80


def test_a_ratio_is_applied_to_rows_without_labels(run, files, tmp_path):
    chosen = answer(run, "blend", *files, "--max-churn", "0.05", "-o", "one.csv")
    pl.read_csv(tmp_path / "base.csv").drop("label").write_csv(tmp_path / "bare.csv")
    again = ("blend", "bare.csv", "cand.parquet", "--ratio", str(chosen["ratio"]), "-o", "two.csv")
    code, out, _ = run(*again)
    assert code == 0
    assert "optimistic" not in out
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_an_infinite_ratio_is_the_base(run, files):
    found = answer(run, "blend", *files, "--ratio", "inf", "-o", "served.csv")
    assert (found["ratio"], found["new_answers"]) == (None, 0)
    code, out, _ = run("blend", *files, "--max-churn", "0", "-o", "served.csv")
    assert (code, out[:8]) == (0, "None of ")


def test_options_read_as_they_do_for_compare(run, files, tmp_path):
    """Own names of columns, a semicolon, a threshold, clusters; the output has the same names."""
    for name in ("base", "cand"):
        table = pl.read_parquet(tmp_path / f"{name}.parquet").rename({"id": "who", "p_yes": "s"})
        table = table.rename({"label": "true"}) if name == "base" else table
        table.drop("p_no").write_csv(tmp_path / f"{name}.txt.csv", separator=";")
    how = ("--id", "who", "--positive", "yes", "--probabilities", "s", "--threshold", "0.4",
           "--label", "true", "--cluster", "user", "--delimiter", ";")  # fmt: skip
    arguments = ("base.txt.csv", "cand.txt.csv", "--max-bad-flips", "0.02")
    found = answer(run, "blend", *arguments, "-o", "served.parquet", *how)
    alone = answer(run, "compare", "base.txt.csv", "cand.txt.csv", *how)
    assert found["candidate"]["bad_flips"] == alone["bad_flips"]
    assert pl.read_parquet(tmp_path / "served.parquet").columns[:2] == ["who", "prediction"]


def test_what_a_threshold_served_is_read_as_it_was_counted(run, files, tmp_path):
    """The option that blend prints gives compare and gate the numbers that blend reported."""
    for name in ("base", "cand"):
        table = pl.read_parquet(tmp_path / f"{name}.parquet").rename({"p_yes": "score"})
        table.drop("p_no").write_csv(tmp_path / f"{name}.one.csv")
    how = ("--positive", "yes")
    cut = ("--threshold", "0.3,0.4", "--max-bad-flips", "0.02", "-o", "served.csv")
    arguments = ("blend", "base.one.csv", "cand.one.csv", *how, *cut)
    counted = answer(run, *arguments)["served"]
    _, out, _ = run(*arguments)
    printed = re.search(r"count so with (--threshold) (\S+) \(", " ".join(out.split()))
    found = answer(run, "compare", "base.one.csv", "served.csv", *how, *printed.groups())
    assert counted["churn"]["value"] > 0
    for measure in ("churn", "bad_flips", "good_flips", "accuracy_difference"):
        assert found[measure] == counted[measure]
    code, out, _ = run("blend", *files, "--ratio", "2", "-o", "served.csv")
    assert (code, "--threshold" in out) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Give --max-bad-flips or --max-churn, or --ratio as it was chosen before"),
        (("--ratio", "2", "--max-churn", "0.1"), "give --ratio or a budget, not both"),
        (("--max-churn", "2"), "Invalid value for '--max-churn'"),
        (("--ratio", "-1"), "Invalid value for '--ratio'"),
        (("--ratio", "nan"), "Invalid value for '--ratio'"),
        (("--max-churn", "0.1", "--label", "no"), "no column 'no' for --label"),
        (("--max-churn", "0.1", "--probabilities", "q_"), "no column 'q_'"),
        (("--max-churn", "0.1", "-o", "served.xlsx"), "served.xlsx: the name must end in .parquet"),
        (("--max-churn", "0.1", "-o", "no/where.csv"), "cannot write no/where.csv"),
        (("--max-churn", "0.1", "-o", "base.csv"), "base.csv: it is another file"),
    ],
)
def test_what_cannot_be_done_is_one_line(run, files, tmp_path, arguments, message):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    output = () if "-o" in arguments else ("-o", "served.csv")
    code, out, err = run("blend", *files, *arguments, *output)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}


def test_bad_flips_need_labels_and_answers_need_probabilities(run, files, tmp_path):
    pl.read_csv(tmp_path / "base.csv").drop("label").write_csv(tmp_path / "bare.csv")
    code, _, err = run("blend", "bare.csv", files[1], "--max-bad-flips", "0.1", "-o", "served.csv")
    assert (code, "there are none: give --labels" in err) == (2, True)
    said = pl.read_csv(tmp_path / "base.csv").select("id", prediction=pl.lit("no"))
    said.write_csv(tmp_path / "said.csv")
    code, _, err = run("blend", "said.csv", files[1], "--max-churn", "0.1", "-o", "served.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "said.csv: probabilities are needed, and there are none: give --probabilities" in err


def test_a_full_disk_is_one_line(run, files, tmp_path):
    (tmp_path / "served.csv").symlink_to("/dev/full")
    code, out, err = run("blend", *files, "--max-churn", "0.1", "-o", "served.csv")
    assert (code, out) == (2, "")
    assert err == "unchurn: cannot write served.csv: No space left on device\n"
