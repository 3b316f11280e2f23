import json
import re

import numpy as np
import polars as pl
import pytest

SHORT = ("--runs", "2", "--epochs", "1", "--workers", "1", "--out", "r")


@pytest.mark.usefixtures("small_phishing")
def test_a_table_is_made_kept_and_shown_on_the_page(run, tmp_path):
    arguments = ("--dataset", "phishing", "--methods", "control,mixup", *SHORT)
    code, out, _ = run("reproduce", "table1", *arguments)
    assert code == 0
    assert "2 settings × 2 runs of mlp, 1 epoch (2 steps) each" in out
    assert "about" in out
    assert "96.30 (0.32)" in out
    assert "Smaller than the study: 201 of 7,406 train" in out
    name = "table1-phishing-control-mixup-2runs-1epochs"
    table = pl.read_csv(tmp_path / f"r/{name}.csv")
    assert table["method"].to_list() == ["control", "mixup"]
    assert table["command"][1].endswith("--runs 2 --epochs 1 --methods mixup")
    code, out, _ = run("reproduce", "page", "--out", "r")
    assert code == 0
    assert "wrote r.md" in out
    assert name in (tmp_path / "r.md").read_text()


@pytest.mark.usefixtures("small_phishing")
def test_a_row_is_made_again_by_its_command(run, tmp_path):
    run("reproduce", "table1", "--dataset", "phishing", "--methods", "control,mixup", *SHORT)
    lines = (tmp_path / "r/table1-phishing-control-mixup-2runs-1epochs.csv").read_text()
    command = lines.splitlines()[2].split(",")[-1].split()[1:]
    assert run(*command, "--out", "again")[0] == 0
    again = (tmp_path / "again/table1-phishing-mixup-2runs-1epochs.csv").read_text()
    assert again.splitlines()[1] == lines.splitlines()[2]


@pytest.mark.usefixtures("small_phishing")
def test_a_dry_run_only_plans(run, tmp_path):
    code, out, _ = run("reproduce", "trial-gradient", "--dataset", "phishing", *SHORT, "--dry-run")
    assert code == 0
    assert "trial-gradient-phishing-2runs-1epochs" in out
    assert not (tmp_path / "r").exists()


def test_a_part_of_many_methods_has_a_short_name(run):
    plan = ("reproduce", "upgrade", "--dataset", "wine", "--dry-run", "--methods")
    assert (
        "\nupgrade-wine-control-warm_start+safe_ema: "
        in run(*plan, "control,warm_start+safe_ema")[1]
    )
    averaged = ("longer", "warm_start", "stay", "rcp", "focal", "project", "anchor")
    many = ",".join(f"{name}+safe_ema" for name in averaged)
    for methods in (many, "warm_start(a=0.5)+safe_ema"):
        said = run(*plan, methods)[1]
        assert re.search(r"^upgrade-wine-part-[0-9a-f]{8}: ", said, re.MULTILINE)


def test_figure1_needs_no_data(run, tmp_path):
    assert run("reproduce", "figure1", "--out", "r") == (0, "wrote r/figure1.svg\n", "")
    assert (tmp_path / "r/figure1.svg").stat().st_size > 10_000


def test_theorems_are_simulated_kept_and_resumed(run, tmp_path):
    code, out, err = run("reproduce", "theorem1", "--quick", "--out", "r")
    assert (code, err) == (0, "")
    assert "theorem1: about" in out
    assert "the bound holds" in out
    kept = json.loads((tmp_path / "r/theorem1-quick.json").read_text())
    assert kept["command"] == "unchurn reproduce theorem1 --quick"
    assert (tmp_path / "r/theorem1-quick.svg").stat().st_size > 10_000
    parts = sorted((tmp_path / "r/draws").iterdir())
    np.save(parts[0], np.load(parts[0]) + 1)  # what is kept is not drawn again
    assert run("reproduce", "theorem1", "--quick", "--out", "r")[0] == 0
    again = json.loads((tmp_path / "r/theorem1-quick.json").read_text())
    assert again["rows"][0]["mean"] == pytest.approx(kept["rows"][0]["mean"] + 1)
    assert again["rows"][-1] == kept["rows"][-1]
    parts[0].write_bytes(parts[0].read_bytes()[:-8])
    code, _, err = run("reproduce", "theorem1", "--quick", "--out", "r")
    assert code == 2
    assert f"{parts[0].name}: damaged, or not kept draws" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("table9",),
            "no table, figure or study 'table9' (did you mean 'table3'?): there are table1",
        ),
        (("table3", "--dataset", "mnist"), "table3 has no dataset 'mnist'"),
        (("page",), "no results are there"),
        (("page", "--dry-run"), "page takes no --dry-run"),
        (("page", "--epochs", "0"), "page takes no --epochs"),
        (("theorem1", "--runs", "3"), "theorem1 takes no --runs"),
        (("theorem1", "--engine", "ray"), "theorem1 takes no --engine"),
        (("table1", "--quick"), "table1 takes no --quick"),
        (("table1", "--engine", "cloud"), "no engine 'cloud': there are local, ray"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, message):
    code, out, err = run("reproduce", *arguments)
    assert code == 2
    assert out in ("", "reading mnist; runs are kept in reproduction\n")
    assert message in err
    assert len(err.splitlines()) == 1
