"""What needs no torch works where it is not installed."""

import os
import subprocess
import sys

import pytest

from unchurn import bench

# As if they were not installed, in every process: Python runs this before anything else.
WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "safetensors"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])
sys.meta_path.insert(0, Absent())
"""


def run(script, folder):
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site/sitecustomize.py").write_text(WITHOUT)
    where = os.pathsep.join([str(folder / "site"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": where.strip(os.pathsep)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        ("sklearn.ensemble:HistGradientBoostingClassifier", "max_iter=3"),
        ("lightgbm", "n_estimators=3, verbosity=-1"),
    ],
)
def test_an_estimator_is_benched_and_reported(tmp_path, model, arguments):
    options = ["digits", "--model", model, "--model-args", arguments, "--runs", "2",
               "--methods", "control,label_smoothing(a=0.1),ensemble(m=2)", "--workers", "2",
               "--out", "b"]  # fmt: skip
    script = f"sys.argv = ['unchurn', 'bench', *{options!r}]\nfrom unchurn.cli import main\nmain()"
    done = run(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 settings × 2 runs of" in done.stdout
    assert "6 trainings" in done.stdout
    script = "sys.argv = ['unchurn', 'report', 'b']\nfrom unchurn.cli import main\nmain()"
    assert run(script, tmp_path).stdout.startswith("wrote b/report.html")
    assert "Use " in (tmp_path / "b/report.html").read_text()


def test_what_needs_it_says_so(tmp_path):
    script = "import unchurn\ntry: unchurn.StableClassifier\nexcept ImportError as e: print(e)"
    expected = "StableClassifier needs torch: pip install 'unchurn[train]'\n"
    assert run(script, tmp_path).stdout == expected
    script = "sys.argv = ['unchurn', 'bench', 'digits']\nfrom unchurn.cli import main\nmain()"
    done = run(script, tmp_path)
    # What it does is said before torch is imported.
    assert done.returncode == 2
    assert done.stdout.startswith("reading digits; runs are kept in bench-digits\n")
    assert done.stderr == "unchurn: this needs torch: pip install 'unchurn[train]'\n"


def test_finished_runs_of_a_network_are_shown(tmp_path):
    """Nothing is left to train: then torch, which takes seconds to import, is not asked for."""
    bench("digits", "control", runs=2, epochs=1, workers=1, out=tmp_path / "b")
    options = ["digits", "--methods", "control", "--runs", "2", "--epochs", "1", "--out", "b"]
    script = f"sys.argv = ['unchurn', 'bench', *{options!r}]\nfrom unchurn.cli import main\nmain()"
    done = run(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Use plain training: nothing else was tried" in done.stdout


def test_kernels_of_the_search_are_compiled(tmp_path):
    script = "sys.argv = ['unchurn', 'warmup']\nfrom unchurn.cli import main\nmain()"
    done = run(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("compiled in ")


def test_every_method_is_there(tmp_path):
    script = "from unchurn import METHODS\nprint(len([kind() for kind in METHODS.values()]))"
    from unchurn import METHODS

    assert run(script, tmp_path).stdout == f"{len(METHODS)}\n"


def test_two_models_are_served_as_one(tmp_path):
    script = """
from sklearn.naive_bayes import GaussianNB
from unchurn import Stay
x, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
print(Stay(GaussianNB().fit(x, y), GaussianNB().fit(x, y[::-1]), ratio=1).predict(x).tolist())
"""
    assert run(script, tmp_path).stdout == "['a', 'a', 'b', 'b']\n"
