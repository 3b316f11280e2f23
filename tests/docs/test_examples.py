"""Every example runs from start to end, warnings being errors, and says what it should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAYS = {
    "anchor_to_production.py": "anchored: accuracy",
    "boosted_trees.py": "softened ChurnSummary of 5 runs on 594 examples",
    "doubtful_digits.py": "The same as a picture: demo/doubtful_digits.png",
    "own_csv.py": "ChurnSummary of 3 runs on 45 examples",
    "own_network.py": "Flips(n=594",
    "pipeline.py": "best setting",
    "release_gate.py": "retrained: promote",
}


def run(folder: Path, name: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_examples_are_tried():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example(tmp_path, name):
    assert SAYS[name] in run(tmp_path, name)
