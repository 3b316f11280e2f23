import os
import re
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

SHORT = ("--runs", "2", "--epochs", "1", "--workers", "1")


def test_bench_shows_a_plan_a_table_and_where_it_is(run, tmp_path):
    code, out, _ = run(
        "bench", "digits", "--methods", "control,knn_ls,ensemble", *SHORT, "--out", "b"
    )
    assert code == 0
    assert "3 settings × 2 runs of mlp, 1 epoch (10 steps) each" in out
    assert "12 trainings instead of 16" in out
    assert "12 trainings served for 16: 4 saved by sharing" in out
    table = pl.read_csv(tmp_path / "b/table.csv")
    assert table["method"].to_list() == ["control", "knn_ls", "ensemble"]
    assert {p.name for p in (tmp_path / "b").iterdir()} == {
        "predictions", "result.json", "result.npz", "runs", "table.csv", "table.md", "table.tex",
    }  # fmt: skip
    assert run("report", "b") == (0, "wrote b/report.html\nwrote b/frontier.svg\n", "")
    assert "Use " in (tmp_path / "b/report.html").read_text()
    assert run("report", "b", "-o", "page.html")[1].startswith("wrote page.html\n")


def test_a_folder_that_holds_another_study_is_told_before_it_is_replaced(run):
    def said(*options):
        code, out, err = run("bench", "digits", *options, "--epochs", "1", "--workers", "1")
        assert (code, err) == (0, "")
        return " ".join(out.split())

    replaced = (
        "note: bench-digits holds another study ({}): its results will be replaced, its trainings "
        "are kept; --out takes another folder"
    )
    first = ("--methods", "control,ema", "--runs", "2")
    assert "another study" not in said(*first)
    assert "another study" not in said(*first)
    assert said(*first).endswith("a page of it: unchurn report bench-digits")
    run("report", "bench-digits")
    more = said("--methods", "control,ema,decay", "--runs", "3")  # nothing of it is lost
    assert "another study" not in more
    assert more.endswith("; report.html and charts there are of before")
    for methods, *options in (
        ("control,ema,decay", "--runs", "3", "--seed", "1"),
        ("control", "--runs", "3"),
        ("control,ema,decay", "--runs", "2"),
    ):
        plan = said("--methods", methods, *options, "--dry-run")
        assert replaced.format("3 methods, 3 runs") in plan
    # An option that takes several by comma may be written several times.
    both = said("--methods", "control", "--methods", "ema,decay", "--runs", "3", "--dry-run")
    assert "3 settings" in both
    assert "another study" not in both
    assert replaced.format("3 methods, 3 runs") in said("--methods", "control", "--runs", "2")
    assert replaced.format("1 method, 2 runs") in said(*first, "--seed", "1", "--dry-run")
    assert "another study" not in said(*first, "--out", "b", "--dry-run")


def test_what_is_piped_has_all_columns_unless_columns_says_how_many(run, monkeypatch):
    bench = ("bench", "digits", "--methods", "control,ema", *SHORT)
    monkeypatch.delenv("COLUMNS", raising=False)
    out = run(*bench)[1]
    (heading,) = (line for line in out.splitlines() if line.startswith("method "))
    assert len(heading) > 80
    assert heading.endswith("accuracy − control's")
    assert "for want of width" not in out
    monkeypatch.setenv("COLUMNS", "80")
    out = run(*bench)[1]
    table = out[out.index("\nmethod ") :]
    assert "Not shown for want of width: " in table
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize(
    ("option", "name"),
    [
        (["--epochs", "20"], "epochs"),  # also where it is as usual
        (["--batch-size", "64"], "batch_size"),
        (["--learning-rate", "0.1"], "learning_rate"),
        (["--device", "cpu"], "device"),
    ],
)
def test_what_only_networks_take_is_refused_for_others(run, tmp_path, option, name):
    (tmp_path / "trees.py").write_text("def train(X, targets, seed): ...\n")
    for model, label in (
        ("sklearn.naive_bayes:GaussianNB", "GaussianNB"),
        ("trees:train", "train"),
    ):
        code, _, err = run("bench", "digits", "--methods", "control", "--model", model, *option)
        assert (code, err) == (
            2,
            f"unchurn: {name} is for networks, and {label} is none: leave it out, or give "
            "--model-args what it takes by name\n",
        )


def test_estimators_need_no_options_of_networks(run):
    model = ("--model", "sklearn.naive_bayes:GaussianNB", "--runs", "2", "--workers", "1")
    assert run("bench", "digits", "--methods", "control", *model)[0] == 0


def test_a_page_is_not_written_where_none_can_be(run, tmp_path):
    code, _, err = run("report", ".", "-o", "nowhere/page.html")
    assert (code, err) == (
        2,
        "unchurn: cannot write nowhere/page.html: there is no folder nowhere\n",
    )


def test_files_that_no_bench_wrote_are_not_replaced(run, tmp_path):
    data = tmp_path / "table.csv"
    data.write_text("a,y\n" + "1,x\n2,y\n" * 40)
    (tmp_path / "runs" / "of_another_program").mkdir(parents=True)
    before = data.read_bytes()
    asked = ("bench", "table.csv", "--target", "y", "--methods", "control", *SHORT)
    code, _, err = run(*asked, "--out", ".")
    assert (code, err) == (
        2,
        "unchurn: table.csv would be replaced, and no bench wrote it: give another folder\n",
    )
    assert data.read_bytes() == before
    assert run(*asked, "--out", "b")[0] == 0
    (tmp_path / "b/result.json").unlink()  # as if it had been interrupted before the end
    assert run(*asked, "--out", "b")[0] == 0


def test_a_page_is_called_html(run, tmp_path):
    assert run("bench", "digits", "--methods", "control", *SHORT, "--out", "b")[0] == 0
    record = (tmp_path / "b/result.json").read_bytes()
    code, _, err = run("report", "b", "-o", "b/result.json")
    assert (code, err) == (2, "unchurn: cannot write b/result.json: a page is called .html\n")
    assert (tmp_path / "b/result.json").read_bytes() == record


def test_a_report_needs_a_finished_bench(run, tmp_path):
    code, out, err = run("report", "b")
    assert (code, out) == (2, "")
    assert err == "unchurn: b: there is no such folder: bench says where its runs are kept\n"
    (tmp_path / "b").mkdir()
    code, out, err = run("report", "b")
    assert (code, out) == (2, "")
    assert err.startswith("unchurn: b: no finished bench is there (result.json is missing): run")


def test_a_network_that_diverges_is_a_failed_run(run, tmp_path):
    (tmp_path / "nans.py").write_text(
        "from torch import nn\n"
        "class Net(nn.Linear):\n"
        "    def forward(self, x): return super().forward(x.flatten(1)) * float('nan')\n"
        "def net(shape, n): return Net(64, n)\n"
    )
    code, out, _ = run("bench", "digits", "--methods", "control", "--model", "nans:net", *SHORT)
    assert code == 1  # there is nothing to choose from
    assert "loss is nan at step 0" in out
    assert "predictions of every run" not in out
    both = run("bench", "digits", "--methods", "control,knn_ls(k=100000)", *SHORT, "--out", "b")
    assert (both[0], "1 setting failed, so not chosen" in both[1]) == (0, True)


def test_a_dry_run_only_plans(run, tmp_path):
    code, out, _ = run("bench", *SHORT, "--out", "b", "--dry-run")
    assert code == 0
    assert out.startswith("reading phishing; runs are kept in b\nDataset phishing: 7,406 train")
    assert "4 settings × 2 runs" in out
    assert re.search(r"^ensemble +1 +5 +5$", out, re.M)  # settings, trained, served
    assert not (tmp_path / "b").exists()


def test_a_plan_counts_the_fresh_runs_of_what_will_be_chosen(run, tmp_path):
    command = ("bench", "digits", "--preset", "grid", "--methods", "control,l2_reg", *SHORT,
               "--out", "b")  # fmt: skip
    code, out, _ = run(*command, "--dry-run")
    assert code == 0
    assert "14 trainings\nthen about 4 more: fresh runs of what is chosen" in out
    code, out, _ = run(*command)
    assert code == 0
    assert "Figures are of 2 fresh runs of each chosen setting" in " ".join(out.split())
    assert len(list((tmp_path / "b/runs").iterdir())) == 18
    assert len(list((tmp_path / "b/predictions").glob("*.parquet"))) == 4
    code, out, _ = run(*command, "--dry-run")
    assert "18 of them are in b already" in out
    assert "about" not in out.split("already")[1]


def test_one_class_that_is_nearly_all_is_noted_at_the_top(run, tmp_path):
    rare = pl.DataFrame({"x": range(200), "fraud": [i % 10 == 0 for i in range(200)]})
    rare.write_csv(tmp_path / "pay.csv")
    _, out, _ = run("bench", "pay.csv", "--target", "fraud", *SHORT, "--dry-run")
    said = "note: always answering 'False' has 90.0% of the test rows right: hold accuracy against"
    assert said in " ".join(out.split())


def test_own_table_and_own_network(run, tmp_path):
    pl.DataFrame(
        {
            "x": range(60),
            "z": [i % 7 for i in range(60)],
            "y": [("no", "yes")[i > 30] for i in range(60)],
        }
    ).write_csv(tmp_path / "shop.csv")
    (tmp_path / "mynet.py").write_text(
        "from torch import nn\ndef net(shape, n_classes): return nn.Linear(shape[0], n_classes)\n"
    )
    options = ("--target", "y", "--methods", "control,mixup", "--model", "mynet:net", *SHORT)
    code, out, _ = run("bench", "shop.csv", *options)
    assert code == 0
    assert "Dataset shop: 37 train + 8 validation + 15 test examples of shape (2,), 2 cl" in out
    assert "runs of your network" in out
    assert "chosen on the validation part" in " ".join(out.split())
    assert (tmp_path / "bench-shop/table.csv").exists()


def test_a_table_of_any_kind_is_planned_for(run, tmp_path):
    """What an error tells to give can be given."""
    table = pl.DataFrame({"x": [i / 8 for i in range(60)], "y": ["ü", "no", "no"] * 20})
    options = ("--target", "y", "--methods", "control", "--dry-run")
    table.write_excel(tmp_path / "shop.xlsx")
    code, out, _ = run("bench", "shop.xlsx", *options)
    assert (code, "Dataset shop: 36 train + 9 validation + 15 test" in out) == (0, True)
    text = table.write_csv(separator="\t", decimal_comma=True)
    (tmp_path / "shop.csv").write_bytes(text.encode("latin-1"))
    code, _, err = run("bench", "shop.csv", *options)
    assert (code, err.endswith("is the delimiter a tab? Give --delimiter\n")) == (2, True)
    form = ("--delimiter", "tab", "--decimal", ",", "--encoding", "latin-1")
    code, again, err = run("bench", "shop.csv", *options, *form)
    assert (code, err) == (0, "")
    planned = again.splitlines()
    assert planned[1:-1] == out.splitlines()[1:-1]  # the first names the file, the last a time
    code, _, err = run("bench", "shop.xls", *options)
    assert code == 2
    assert err == "unchurn: shop.xls: is a workbook: save it as .xlsx, or the sheet as CSV\n"


def test_a_config_file_takes_the_same_and_options_go_before_it(run, tmp_path):
    (tmp_path / "bench.toml").write_text('methods = ["control"]\nruns = 3\nepochs = 1\nout = "b"\n')
    code, out, _ = run("bench", "digits", "--config", "bench.toml", "--runs", "2", "--workers", "1")
    assert code == 0
    assert "1 settings × 2 runs" in out
    assert (tmp_path / "b/table.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "fast"], "no preset 'fast': there are quick, best, grid, paper"),
        (["--runs", "1"], "runs: input should be greater than or equal to 2, not 1"),
        (["--select-on", "train"], "select_on: input should be 'test' or 'validation'"),
        (["--methods", "knn"], "no method 'knn'"),
        (["--engine", "cloud"], "engine: input should be 'local' or 'ray', not 'cloud'"),
        (["--model", "cnn"], "no model 'cnn': there are mlp, mlp_three_hidden, lenet5, "),
        (["--model", "nowhere:net"], "model 'nowhere:net': No module named 'nowhere'"),
        (["--model", "broken:net"], "model 'broken:net' fails on (30,), 2: no net today"),
        (["--model", "broken:three"], "(30,), 2: it gives int, not a torch.nn"),
        (["--model", "broken:narrow"], "model 'broken:narrow' fails on (30,), 2: mat1 and mat2"),
        (["--model", "broken:wide"], "(30,), 2: it gives logits of shape (2, 9), not (2, 2)"),
        (["--model", "broken:gone"], "model 'broken:gone': module 'broken' has no attribute"),
        (["--config", "none.toml"], "methods is empty"),
        (["--config", "bad.toml"], "no field 'run' (did you mean 'runs'?): there are data, target"),
        (["--config", "worse.toml"], "worse.toml: not a TOML file"),
        (["--config", "gone.toml"], "gone.toml: No such file"),
        (["table.csv"], "which column is to be predicted? Give --target"),
        (["digits", "--target", "y"], "target is for a table of your own"),
        (["digit"], "no dataset 'digit' (did you mean 'digits'?)"),
        (["digits", "--preset", "paper"], "the paper has no setting for digits"),
        (["--out", "bad.toml"], "cannot write to bad.toml"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, tmp_path, arguments, message):
    (tmp_path / "bad.toml").write_text("run = 5\n")
    (tmp_path / "worse.toml").write_text("runs = = 5\n")
    (tmp_path / "none.toml").write_text("methods = []\n")
    (tmp_path / "broken.py").write_text(
        "import torch\n"
        "def net(shape, n): raise ValueError('no net today')\n"
        "def three(shape, n): return 3\n"
        "def narrow(shape, n): return torch.nn.Linear(5, n)\n"
        "def wide(shape, n):\n"
        "    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(30, n + 7))\n"
    )
    before = set(tmp_path.iterdir())
    code, _, err = run("bench", *arguments)
    assert set(tmp_path.iterdir()) <= before | {tmp_path / "__pycache__"}
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


MAIN = """
import sys
from unchurn.cli import main
from unchurn.core.executors import local

local.START_UP = float(sys.argv.pop(1))
main()
"""
WORKERS, HERE = "0", "1e9"  # seconds: workers start at once, or never


def test_killed_and_interrupted_it_ends_in_the_same_table(tmp_path):
    """SIGKILL to the driver, to all its processes, and Ctrl-C: the same command goes on."""
    options = ["bench", "digits", "--preset", "grid", "--methods", "control,mixup,l2_reg,anchor",
               "--runs", "4", "--epochs", "2", "--workers", "2", "--out"]  # fmt: skip
    command = [sys.executable, "-c", MAIN]
    whole = [*command, HERE, *options, tmp_path / "whole"]
    subprocess.run(whole, check=True, stdout=subprocess.DEVNULL)
    runs = tmp_path / "killed/runs"
    total = len(list((tmp_path / "whole/runs").iterdir()))
    stops = (5, "driver", WORKERS), (20, "all", WORKERS), (40, "interrupt", WORKERS)
    for goal, stop, start_up in (*stops, (60, "interrupt", HERE)):
        with subprocess.Popen(
            [*command, start_up, *options, tmp_path / "killed"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            while len(list(runs.glob("[!.]*"))) < goal:  # finished ones: others are hidden
                assert process.poll() is None
                time.sleep(0.01)
            if stop == "driver":
                os.kill(process.pid, signal.SIGKILL)
            else:
                os.killpg(process.pid, signal.SIGKILL if stop == "all" else signal.SIGINT)
            out, err = process.communicate()
        if stop == "interrupt":
            assert process.returncode == 130
            assert "the same command goes on" in out
            assert err == "unchurn: interrupted\n"
        assert goal <= len(list(runs.glob("[!.]*"))) < total
    rest = [*command, WORKERS, *options, tmp_path / "killed"]
    subprocess.run(rest, check=True, stdout=subprocess.DEVNULL)
    for name in ("table.csv", "table.md", "table.tex"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
