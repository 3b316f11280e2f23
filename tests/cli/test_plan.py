import json
import subprocess
import sys
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from unchurn.gate.sample_size import Noise, plan_excess, plan_loss


def test_a_loss_of_accuracy(run):
    code, out, _ = run("plan", "--accuracy-loss", "0.005", "--churn", "0.03")
    plan = plan_loss(0.005, 0.03)
    assert code == 0
    assert f"{plan.to_see:,}" in out
    assert f"{plan.to_rule_out:,}" in out
    assert "excess" not in out


def test_an_excess_by_retrainings(run):
    code, out, _ = run("plan", "--excess", "0.01", "--churn", "0.05", "--floor-sd", "0.001")
    sizes = plan_excess(0.01, Noise(0.05, 0.001)).sizes
    assert code == 0
    assert "none enough" in out
    assert all(f"{size.rows:,}" in out for size in sizes[1:])


def test_what_cannot_be_seen_is_said(run):
    code, out, _ = run("plan", "--excess", "0.001", "--retrains-count", "3")
    assert code == 0
    assert "3 retrainings show no less than" in out


def test_json(run):
    code, out, _ = run("plan", "--accuracy-loss", ".01", "--excess", "0.02", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["accuracy_loss"]["to_see"] == plan_loss(0.01).to_see
    assert [size["retrains"] for size in found["excess"]["sizes"]] == [2, 3, 5, 10]


def test_retrainings_are_measured(run, tmp_path, rng):
    runs = rng.random((4, 500)) < 0.05
    for i, predictions in enumerate(runs):
        frame = pl.DataFrame({"id": range(500), "prediction": predictions.astype(int)})
        frame.write_csv(tmp_path / f"{i}.csv")
    files = ("0.csv", "1.csv", "2.csv", "3.csv")
    code, out, _ = run("plan", "--excess", "0.05", "--json", "--retrains", *files)
    assert code == 0
    noise = json.loads(out)["excess"]["noise"]
    churns = [(one != two).mean() for one, two in combinations(runs, 2)]
    assert noise["churn"] == pytest.approx(np.mean(churns))
    assert min(churns) < noise["churn"] < max(churns)
    turned = run("plan", "--excess", "0.05", "--json", "--retrains", *files[::-1])[1]
    assert json.loads(turned)["excess"]["noise"] == pytest.approx(noise)
    code, _, err = run("plan", "--excess", "0.05", "--retrains", *files[:2])
    assert (code, "three files" in err) == (2, True)
    for name in files:
        frame = pl.read_csv(tmp_path / name).rename({"id": "who", "prediction": "said"})
        frame.write_csv(tmp_path / name)
    named = ("--id", "who", "--prediction", "said")
    assert run("plan", "--excess", "0.05", "--json", "--retrains", *files, *named)[1] == out


@pytest.mark.parametrize(("arguments", "words"), [
    ((), "--accuracy-loss, --excess"),
    (("--accuracy-loss", "0.05"), "of 0.05 is more than the churn that is expected, 0.03, "
     "and what does not flip is not lost: if more will flip, give --churn so much"),
    (("--accuracy-loss", "2"), "must be from 1e-06 to 1, not 2.0 (a fraction: 0.05 is 5 %)"),
    (("--excess", "3"), "an excess must be from 1e-06 to 1, not 3.0 (a fraction: 0.05 is 5 %)"),
    (("--excess", "0.1", "--churn", "5"), "not 5.0 (a fraction: 0.05 is 5 %)"),
    (("--excess", "0.1", "--power", "2"), "power"),
    (("more.csv", "--excess", "0.1"), "(more.csv)"),
    (("--excess", "0.1", "--churn", "0.1", "--retrains", "a.csv"), "not both"),
    (("--excess", "0.1", "--retrains", "nowhere.csv"), "nowhere.csv"),
    (("--excess", "0.1", "--retrains", "bench-x"), "bench-x: no such folder or file"),
])  # fmt: skip
def test_errors_are_one_line(run, arguments, words):
    code, out, err = run("plan", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_it_loads_neither_torch_nor_numba():
    script = (
        "import sys; sys.argv = ['unchurn', 'plan', '--accuracy-loss', '.01', '--excess', '.02']\n"
        "from unchurn.cli import main\n"
        "try: main()\n"
        "finally: assert not {'torch', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_rows_that_several_columns_tell_or_files_call_differently(run, tmp_path, rng):
    runs = rng.random((3, 100)) < 0.1
    order = rng.permutation(100)
    for i, said in enumerate(runs):
        frame = pl.DataFrame({"shop": np.arange(100) // 10, "day": np.arange(100) % 10,
                              "prediction": said.astype(int)})  # fmt: skip
        frame = frame.rename({"shop": "store"})[order] if i == 2 else frame
        frame.write_csv(tmp_path / f"{i}.csv")
    files = ("0.csv", "1.csv", "2.csv")
    words = ("plan", "--excess", "0.1", "--json", "--retrains", *files, "--id", "shop=store,day")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    churns = [(one != two).mean() for one, two in combinations(runs, 2)]
    assert json.loads(out)["excess"]["noise"]["churn"] == pytest.approx(np.mean(churns))


def test_small_rates_are_told_from_zero(run):
    given = ("--accuracy-loss", "0.00004", "--excess", "0.00005", "--churn", "0.0002")
    code, out, _ = run("plan", *given)
    assert code == 0
    for said in ("of accuracy of 0.004%", "to see 0.005% beyond", "retrainings is 0.001%)"):
        assert said in out
