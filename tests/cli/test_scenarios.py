"""Scenarios of a bench by their options."""

import json

import numpy as np
import polars as pl
import pytest

from unchurn import StableClassifier, load_csv
from unchurn.study.results.result import Result


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
    said = json.loads((tmp_path / "bench-t-upgrade/result.json").read_text())["subject"]["scenario"]
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
    assert "it keeps the budget (bad flips at most 50.00%" in said
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
    said = "not 2.0: it is a share of all predictions, give --max-churn 0.05 for 5 %"
    assert said in err
    (tmp_path / "bench.toml").write_text("max_churn = 2\n")
    code, _, err = run("bench", *short, "--config", "bench.toml")
    assert (code, err.count("\n")) == (2, 1)
    assert said in err


@pytest.fixture
def table(rng, tmp_path, monkeypatch):
    """t.csv with a day, a flag and a customer of each of 80 rows, and what an old model said."""
    monkeypatch.chdir(tmp_path)
    n = 80
    a = rng.normal(size=n)
    frame = pl.DataFrame({
        "customer": [f"c{i}" for i in range(n)],
        "day": [f"2024-{1 + i // 20:02}-{1 + i % 20:02}" for i in range(n)],
        "old": rng.choice(["yes", "no"], n),
        "a": a,
        "b": rng.normal(size=n),
        "y": np.where(a + rng.normal(size=n) > 0, "good", "bad"),
    })  # fmt: skip
    frame.write_csv("t.csv")
    good = 1 / (1 + np.exp(-a))
    said = frame.select("customer").with_columns(prob_good=good, prob_bad=1 - good)
    said.sample(fraction=1, shuffle=True, seed=0).write_csv("old.csv", separator=";")
    return frame


SHORT = ("--target", "y", "--methods", "control,anchor", "--runs", "2", "--epochs", "1",
         "--workers", "1", "--scenario", "upgrade")  # fmt: skip


def scenario_of(folder, kind="upgrade"):
    return json.loads((folder / f"bench-t-{kind}/result.json").read_text())["subject"]["scenario"]


def test_a_base_by_time(run, table, tmp_path):
    table.drop("customer", "old").write_csv("t.csv")
    code, out, err = run("bench", "t.csv", *SHORT, "--time", "day", "--split", "2024-03-01")
    assert (code, err) == (0, "")
    assert "with day before 2024-03-01" in " ".join(out.split())
    assert scenario_of(tmp_path) == "upgrade(time='day', split='2024-03-01')"
    # A date of TOML is the same, and so no run is made again.
    (tmp_path / "study.toml").write_text('time = "day"\nsplit = 2024-03-01\n')
    code, out, err = run("bench", "t.csv", *SHORT, "--config", "study.toml")
    assert (code, err) == (0, "")
    assert "of them are in bench-t-upgrade already" in out
    assert scenario_of(tmp_path) == "upgrade(time='day', split='2024-03-01')"


def test_a_base_by_a_column(run, table, tmp_path):
    table.drop("customer", "day").write_csv("t.csv")
    code, out, err = run("bench", "t.csv", *SHORT, "--base-column", "old", "--per-base", "1")
    assert (code, err) == (0, "")
    assert "plainly trained on the training rows where old is true. Perc" in " ".join(out.split())
    assert scenario_of(tmp_path) == "upgrade(per_base=1, base_column='old')"


def test_a_base_that_is_given(run, table, tmp_path):
    table.drop("day", "old").write_csv("t.csv", separator=";")
    given = ("--base", "old.csv", "--id", "customer", "--delimiter", ";")
    code, out, err = run("bench", "t.csv", *SHORT, *given)
    assert (code, err) == (0, "")
    assert "held against the base that was given, old.csv." in " ".join(out.split())
    assert scenario_of(tmp_path) == "upgrade(base='old.csv', id='customer')"


def test_a_saved_network_of_plain_numbers_gets_the_tables_own(run, tmp_path):
    """It scales them itself; runs then get the same, and can start from its weights."""
    rng = np.random.default_rng(0)
    x = pl.DataFrame({"a": rng.normal(500, 100, 240), "b": rng.normal(0, 0.01, 240)})
    y = ((x["a"] - 500) / 100 + x["b"] / 0.01 > 0).cast(pl.Int64)
    x.with_columns(y=y).write_csv("t.csv")
    base = StableClassifier(epochs=20, batch_size=16, random_state=0).fit(x[:120], y[:120])
    base.save("old.safetensors")
    code, _, err = run(
        "bench", "t.csv", *SHORT, "--methods", "control,warm_start", "--base", "old.safetensors"
    )
    assert (code, err) == (0, "")
    result = Result.load(tmp_path / "bench-t-upgrade")
    test = load_csv("t.csv", "y").order[180:]
    expected = base.score(x[test.tolist()], y[test.tolist()])
    assert result.to_frame()["accuracy_base"][0] == pytest.approx(100 * expected)
    assert expected > 0.9  # or wrong inputs could have given the same
    assert "prepared as the table of the base was" in result.subject.data.notes


def test_an_id_by_its_option_in_every_scenario(run, table, tmp_path):
    for options in (["retrain"], ["upgrade"], ["replay", "--time", "day", "--every", "30d"]):
        given = (*SHORT[:-1], *options, "--aside", "day,old", "--id", "customer", "--out", "b")
        code, out, err = run("bench", "t.csv", *given)
        assert (code, err) == (0, "")
        assert "predictions of every run by customer, for unchurn compare" in out
        found = pl.read_parquet(tmp_path / "b/predictions/control-0.parquet")
        assert found.join(table, on="customer", how="anti").is_empty()
    (tmp_path / "study.toml").write_text('id = "day"\naside = "customer,day"\n')
    code, _, err = run("bench", "t.csv", *SHORT, "--config", "study.toml", "--id", "old")
    assert (code, err) == (2, "unchurn: column 'old' of t has ids that are missing or twice\n")


def test_history_is_played_again(run, table, tmp_path):
    table.drop("customer", "old").write_csv("t.csv")
    replay = (*SHORT[:-1], "replay", "--time", "day")
    code, out, err = run("bench", "t.csv", *replay, "--every", "30d", "--dry-run")
    assert (code, err) == (0, "")
    assert "2 settings × 2 runs × 3 releases of mlp, 1 epoch (up to 1 steps) each" in out
    assert not (tmp_path / "bench-t-replay").exists()
    code, out, err = run("bench", "t.csv", *replay, "--every", "30d")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "Every run is a chain of releases, one every 30d by day," in said
    assert "3 releases, from 2024-01-31 to 2024-03-31: the first, from the rows since" in said
    assert "release by release: bench-t-replay/releases.csv" in said
    assert scenario_of(tmp_path, "replay") == "replay(time='day', every='30d')"
    assert len((tmp_path / "bench-t-replay/releases.csv").read_text().splitlines()) == 1 + 2 * 2
    code, out, err = run("report", "bench-t-replay")
    assert (code, err) == (0, "")
    assert (tmp_path / "bench-t-replay/accuracy_over_time.svg").is_file()
    (tmp_path / "study.toml").write_text('time = "day"\nevery = 20\n')
    code, out, err = run("bench", "t.csv", *replay[:-2], "--config", "study.toml")
    assert (code, err) == (0, "")
    assert scenario_of(tmp_path, "replay") == "replay(time='day', every=20)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "which column has the time of a row? Give --time"),
        (["--time", "day"], "how often is there a release? Give --every a length such as 30d"),
        (["--time", "day", "--every", "often"], "every is a length such as 30d, 12h or 2w, or a"),
        (["--time", "day", "--every", "60d"], "it takes 3, for two releases and what comes after"),
        (["--time", "day", "--every", "1h"], "52 are the most: give --every more, such as 51h"),
        (["--time", "a", "--every", "1d"], "has numbers: give --every a number of rows"),
        (["--time", "old", "--every", "1d"], "column 'old' has 'no' in row"),
        (["--time", "day", "--every", "30d", "--split", "3"], "the scenario replay takes no split"),
        (["--scenario", "upgrade", "--every", "30d"], "takes no every: it takes base_share"),
    ],
)
def test_histories_that_cannot_be(run, table, options, message):
    usual = SHORT[:-2] if "--scenario" in options else (*SHORT[:-1], "replay")
    code, _, err = run("bench", "t.csv", *usual, "--aside", "day", *options)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time", "day"], "where do the rows of the base end? Give --split a date or a number"),
        (["--split", "2024"], "which column is to be split? Give --time"),
        (["--base", "x.csv", "--base-share", "0.5"], "base_share and base both say what"),
        (["--base", "x.csv"], "x.csv: No such file or directory"),
        (["--base", "old.csv", "--methods", "warm_start"], "old.csv: one column: is the delimiter"),
        (["--scenario", "retrain", "--time", "day"], "the scenario retrain takes no time"),
        (
            ["--scenario", "retrain", "--time", "day", "--split", "3"],
            "it takes nothing; upgrade does: give --scenario upgrade",
        ),
        (
            ["--scenario", "retrain", "--time", "day", "--every", "3"],
            "it takes nothing; replay does: give --scenario replay",
        ),
        (["--base-column", "member"], "t.csv: no column 'member': there are"),
        (["--base-column", "a"], "column 'a' has"),
        (["--time", "y", "--split", "2024"], "t.csv: 'y' is to be predicted: it cannot be aside"),
    ],
)
def test_bases_that_cannot_be(run, table, options, message):
    usual = SHORT[:-2] if "--scenario" in options else SHORT
    code, _, err = run("bench", "t.csv", *usual, "--aside", "day", *options)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


def test_columns_that_are_no_features_are_left_out(run, tmp_path):
    rows = [
        f"user-{i},2024-01-{1 + i % 28:02},{i % 7},{'yes' if i % 3 else 'no'}" for i in range(90)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["user,day,x,label", *rows]) + "\n")
    short = ("bench", "t.csv", "--target", "label", "--methods", "control", "--runs", "2",
             "--epochs", "1")  # fmt: skip
    code, _, err = run(*short, "--aside", "user")
    assert (code, err.count("\n")) == (2, 1)
    assert err.endswith(
        "column 'day' has dates: turn it into numbers, or to leave it out give --aside\n"
    )
    code, out, err = run(*short, "--aside", "user, day")
    assert (code, err) == (0, "")
    assert "of shape (1,)" in out
    code, _, err = run("bench", "digits", "--aside", "x")
    assert (code, err) == (2, "unchurn: aside is for a table of your own\n")
    code, _, err = run("bench", "t", "--target", "label")
    assert code == 2
    assert "'t' is no dataset, and its name has no ending of a table" in err
