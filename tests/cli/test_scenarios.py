"""Scenarios of a bench by their options."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def short(run):
    """A short bench of a table of one's own."""
    rng = np.random.default_rng(0)
    frame = {"a": rng.normal(size=80), "b": rng.normal(size=80)}
    pl.DataFrame({**frame, "y": (frame["a"] > 0).astype(int)}).write_csv("t.csv")
    return ["t.csv", "--target", "y", "--runs", "3", "--epochs", "2", "--workers", "1"]


def test_scenarios_by_their_options(run, short, tmp_path):
    code, out, err = run("bench", *short, "--scenario", "upgrade", "--base-share", "0.4")
    assert (code, err) == (0, "")
    assert "bad flips" in out
    said = json.loads((tmp_path / "bench-t/result.json").read_text())["subject"]["scenario"]
    assert said == "upgrade(base_share=0.4)"
    code, out, err = run("bench", *short, "--scenario", "resample", "--same-seed", "--out", "other")
    assert (code, err) == (0, "")
    code, _, err = run("bench", *short, "--share", "0.5")
    assert (code, err.count("\n")) == (2, 1)
    assert "the scenario retrain takes no share" in err


def test_a_budget_by_its_options_or_from_a_file(run, short, tmp_path):
    upgrade = [*short, "--scenario", "upgrade", "--methods", "control,anchor"]
    code, out, err = run("bench", *upgrade, "--max-bad-flips", "0.5", "--max-churn", "1")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "Budget: bad flips at most 50.00%, churn to base at most 100.00%, on the val" in said
    assert ": kept by control, anchor." in said
    assert "of the single models that keep the budget (bad flips at most 50.00%" in said
    (tmp_path / "bench.toml").write_text("max_churn = 1.0\n")
    code, out, err = run("bench", *short, "--methods", "control", "--config", "bench.toml")
    assert (code, err) == (0, "")
    assert "Budget: churn at most 100.00%, on the validation part: kept by control." in " ".join(
        out.split()
    )
    assert run("report", "bench-t")[0] == 0
    assert "Budget: churn at most" in (tmp_path / "bench-t/report.html").read_text()


def test_a_budget_that_cannot_be_is_one_line(run, short, tmp_path):
    code, out, err = run("bench", *short, "--max-bad-flips", "0.1")
    assert (code, out) == (2, "")
    assert err == (
        "unchurn: bad flips need an older model, and retrain has none: for --max-bad-flips take "
        "the scenario upgrade\n"
    )
    code, _, err = run("bench", *short, "--max-churn", "2")
    assert (code, err.count("\n")) == (2, 1)
    assert "--max-churn" in err
    (tmp_path / "bench.toml").write_text("max_churn = 2\n")
    code, _, err = run("bench", *short, "--config", "bench.toml")
    assert (code, err.count("\n")) == (2, 1)
    assert "max_churn: input should be less than or equal to 1, not 2" in err
