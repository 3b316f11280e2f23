"""Scenarios of a bench by their options."""

import json

import numpy as np
import polars as pl


def test_scenarios_by_their_options(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = {"a": rng.normal(size=80), "b": rng.normal(size=80)}
    pl.DataFrame({**frame, "y": (frame["a"] > 0).astype(int)}).write_csv("t.csv")
    short = ["t.csv", "--target", "y", "--runs", "3", "--epochs", "2", "--workers", "1"]
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
