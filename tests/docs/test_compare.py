"""docs/compare.md: its commands run and decide as it shows; its keys, names and flags are ours."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import typer

from outputs import words
from unchurn import cli, compare
from unchurn.comparison.inputs.columns import NAMES, PREFIXES
from unchurn.gate.policy import Policy

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/compare.md").read_text("utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", PAGE.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def walked(page: str) -> str:
    """The walk-through's outputs, without the list of flips, whose order hangs on last digits."""
    outputs = re.findall(r"^```console.*?^```", page, re.DOTALL | re.MULTILINE)
    return "\n".join(re.sub(r"^\d+,\w+,\w+.*$", "", one, flags=re.MULTILINE) for one in outputs)


def percentages(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([-+]?\d+\.\d+)%", text)]


def test_the_walk_through_prints_and_decides_as_shown(tmp_path):
    """Percentages may differ by some tenths from machine to machine; verdicts may not."""
    spec = importlib.util.spec_from_file_location("walkthrough", ROOT / "docs/walkthrough.py")
    assert spec is not None and spec.loader is not None  # noqa: PT018
    walkthrough = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(walkthrough)
    played = walkthrough.play(PAGE, tmp_path)

    def verdicts(page: str) -> list[str]:
        return re.findall(r"^(?:\$ .*|PROMOTE|HOLD|REJECT|\(exit.*|\w+: \w+;)", page, re.MULTILINE)

    assert verdicts(played) == verdicts(PAGE)
    decided = [v for v in verdicts(PAGE) if v.isupper() or v.startswith("(exit")]
    assert decided == ["PROMOTE", "REJECT", "(exit code 1)", "REJECT", "(exit code 1)"]
    advice = "python docs/walkthrough.py docs/compare.md"
    assert words(walked(played)) == words(walked(PAGE)), advice
    shown, printed = percentages(walked(PAGE)), percentages(walked(played))
    assert len(shown) > 100
    assert printed == pytest.approx(shown, rel=0.05, abs=0.3), advice


def keys(value: Any, path: str = "") -> set[str]:
    """The paths of all keys; an interval, and what is named by files and reasons, is a leaf."""
    if path in ("excluded", "columns") or not isinstance(value, dict | list):
        return {path}
    if isinstance(value, list):
        inside = [keys(one, f"{path}[]") for one in value if isinstance(one, dict)]
        return set().union(*inside) if inside else {path}
    if {"value", "low", "high"} == set(value) - {"note"}:
        return {path}
    return set().union(*(keys(v, f"{path}.{k}" if path else k) for k, v in value.items()))


def test_every_json_key_is_documented(rng):
    p = rng.random(400)
    base, candidate = (np.column_stack([1 - q, q]) for q in (p, np.clip(p + 0.1, 0, 1)))
    found = compare(
        base,
        candidate,
        labels=(rng.random(400) < p).astype(int),
        slices={"half": np.arange(400) // 200},
        retrains=[np.clip(base + np.array([d, -d]), 0, 1) for d in (0.02, -0.03)],
    )
    assert found.thresholds and found.slices and found.floor  # noqa: PT018
    made = {**found.to_dict(), "verdict": found.gate({"max_churn": 0.5}).to_dict()}
    json.dumps(made)
    documented = set(first_column(section("The JSON")))
    may_be_null = {"movement", "noise_floor"}  # they have a row of their own for that
    assert documented - may_be_null == keys(made)
    assert f"`{json.dumps(made['schema'])}`" in PAGE


def test_every_key_of_a_policy_is_documented():
    assert set(first_column(section("The policy"))) == set(Policy.model_fields)


def test_names_that_are_guessed_are_documented_in_their_order():
    text = section("What is read")
    for names in (*NAMES.values(), PREFIXES):
        assert ", ".join(f"`{name}`" for name in names) in text


def test_flags_exist():
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    options = [p for name in ("compare", "gate", "blend", "plan") for p in commands[name].params]
    flags = {flag for option in options for flag in option.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= flags


def test_python_runs(capsys):
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, {})  # noqa: S102
    assert capsys.readouterr().out.startswith("0.333")


@pytest.mark.parametrize(
    ("n_flips", "expected", "says"),
    [(0, 0, "promote"), (1000, 1, "::error title=unchurn gate::reject"), (32, 0, "::warning")],
)
def test_the_workflow_fails_on_reject_and_warns_on_hold(tmp_path, rng, n_flips, expected, says):
    """Its two scripts, run as GitHub runs them, on candidates that lose accuracy."""
    workflow = (ROOT / "examples/github-workflow.yml").read_text()
    ask, fail = re.findall(r"run: \|\n((?: {10}.*\n)+)", workflow)
    n = 4000
    (tmp_path / "predictions").mkdir()

    def write(name: str, flips: Any) -> None:
        table = pl.DataFrame(
            {"id": np.arange(n), "label": 0, "prediction": flips.astype(int),
             "segment": np.arange(n) % 2}
        )  # fmt: skip
        table.write_parquet(tmp_path / f"predictions/{name}.parquet")

    write("production", np.zeros(n, bool))
    write("candidate", np.arange(n) < n_flips)
    for i in range(3):
        write(f"again{i}", rng.random(n) < 0.02)
    (tmp_path / "gate.toml").write_text("max_accuracy_loss = 0.01\n")
    settings = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }

    def run(script: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/bash", "-e", "-o", "pipefail", "-c", script],
            cwd=tmp_path, env=os.environ | settings | more, text=True, capture_output=True,
            check=False,
        )  # fmt: skip

    asked = run(ask)
    assert asked.returncode == 0, asked.stderr
    code = (tmp_path / "output").read_text().strip().removeprefix("code=")
    assert (tmp_path / "gate.md").read_text() == (tmp_path / "summary").read_text()
    assert "<testsuite" in (tmp_path / "gate.xml").read_text()
    done = run(fail, CODE=code)
    assert done.returncode == expected
    assert done.stdout.startswith(says)
