"""What a shell completes, as Bash and Zsh ask for it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from unchurn import METHODS
from unchurn.cli import completion
from unchurn.comparison.measures.label_coverage import COVERS
from unchurn.datasets import DATASETS
from unchurn.study.config import BenchConfig
from unchurn.study.design.presets import preset_names
from unchurn.study.scenarios import SCENARIOS
from unchurn.training.learners.make import NETWORKS, SHORT

UNCHURN = Path(sys.executable).with_name("unchurn")


def completed(words: str, shell: str = "bash") -> str:
    """What is offered for the last word, which may be empty."""
    asked = {
        "_UNCHURN_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": words,
    }
    done = subprocess.run(
        [UNCHURN], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_names_are_those_that_there_are():
    assert tuple(DATASETS) == completion.DATASETS
    assert tuple(METHODS) == completion.METHODS
    assert set(completion.PRESETS) == set(preset_names())
    assert tuple(SCENARIOS) == completion.SCENARIOS
    assert {*NETWORKS, *SHORT}.issuperset(completion.MODELS)
    assert set(completion.COVERS) == set(COVERS)
    fields = BenchConfig.model_fields
    assert get_args(fields["engine"].annotation) == completion.ENGINES
    assert get_args(get_args(fields["select_on"].annotation)[0]) == completion.PARTS


def test_what_is_reproduced_is_offered_but_trials(run):
    _, _, err = run("reproduce", "nothing")
    known = err.partition("there are ")[2].strip().split(", ")
    assert set(completion.REPRODUCED) == {name for name in known if "trial-" not in name}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("unchurn co", ["compare"]),
        ("unchurn bench phi", ["phishing"]),
        ("unchurn bench table.c", []),  # the shell then completes files
        ("unchurn bench --max-b", ["--max-bad-flips"]),
        ("unchurn bench --preset ", ["quick", "best", "grid", "paper"]),
        ("unchurn bench --methods control,knn_ls+em", ["control,knn_ls+ema"]),
        ("unchurn data fetch mnist fash", ["fashion_mnist"]),
        ("unchurn compare a.csv b.csv --labels-cover ", ["flips", "all"]),
    ],
)
def test_bash_is_offered_what_fits(words, expected):
    assert completed(words).split() == expected


def test_zsh_is_offered_what_fits_too():
    assert '"upgrade"' in completed("unchurn bench --scenario up", "zsh")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_s_script_is_shown(shell):
    """Which shell runs the tests does not matter: the detection of it is Typer's, and is off."""
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [UNCHURN, "--show-completion", shell], env=named, capture_output=True, text=True, check=True
    )
    assert f"_UNCHURN_COMPLETE=complete_{shell}" in done.stdout


def test_completing_loads_nothing_heavy(tmp_path):
    """Python is told to print what it imports."""
    asked = {"_UNCHURN_COMPLETE": "complete_bash", "COMP_WORDS": "unchurn bench --methods kn",
             "COMP_CWORD": "3", "PYTHONPROFILEIMPORTTIME": "1"}  # fmt: skip
    done = subprocess.run([UNCHURN], env={**os.environ, **asked}, capture_output=True, text=True)
    assert done.stdout == "knn_ls\n"
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "unchurn.cli.completion" in loaded
    assert not loaded & {"numpy", "scipy", "torch", "polars", "rich.markdown", "sklearn"}
