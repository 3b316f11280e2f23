"""What lies beside a benchmark does not stand in for a module that it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_no_folder_of_the_benchmarks_hides_a_module(tmp_path):
    if not BENCHMARKS.exists():
        pytest.skip("benchmarks/ is not here: a source distribution has none")
    # A script's own folder comes first on the path. Numba looks there for coverage, for example.
    text = f"""
import sys
sys.path.insert(0, {str(BENCHMARKS)!r})
import numba.misc.coverage_support, sklearn.ensemble, torch
import unchurn.training.networks.kernels.pooled
"""
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
