"""What can be held of the package without building it; `make package` builds and tries it."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import unchurn
from unchurn import cli
from unchurn.core.extras import EXTRAS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "benchmarks/package"
needs_source = pytest.mark.skipif(
    not PACKAGE.exists(), reason="a source distribution has no benchmarks"
)


def imported(name):
    spec = importlib.util.spec_from_file_location(name, PACKAGE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where a dataclass looks for itself
    spec.loader.exec_module(module)
    return module


def test_release_notes_are_of_this_version():
    notes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    releases = [name for name in re.findall(r"^## (\S+)", notes, re.M) if name != "Unreleased"]
    assert releases[0] == unchurn.__version__


@needs_source
def test_every_extra_is_known_to_who_says_what_is_missing():
    declared = imported("declared")
    assert set(EXTRAS.values()) == set(declared.extras())
    assert declared.extras()["ray"] == {"ray", "train", "knn"}


@needs_source
def test_every_dependency_has_a_lowest_version(monkeypatch):
    declared = imported("declared")
    oldest = declared.oldest()
    assert {"numpy", "typer", "torch", "numba", "ray", "fastexcel"} <= set(oldest)
    assert "pytest" not in oldest
    told = {"dependencies": ["numpy"], "optional-dependencies": {}}
    monkeypatch.setattr(declared, "project", lambda: told)
    with pytest.raises(ValueError, match="no lower bound: numpy"):
        declared.oldest()


@needs_source
def test_every_command_and_extra_is_tried():
    smoke = imported("smoke")
    tried = {check.command.split()[1] for check in smoke.CHECKS}
    assert tried.issuperset(get_command(cli.app).commands)
    assert {check.needs for check in smoke.CHECKS} >= {"", *EXTRAS.values()}


@needs_source
def test_the_wheel_takes_all_that_lies_in_the_package():
    """Hatchling leaves out only what Git ignores: nothing that is needed may be ignored."""
    ignored = [p for p in (ROOT / ".gitignore").read_text().split() if not p.startswith("/")]
    assert not [
        path
        for path in (ROOT / "src/unchurn").rglob("*")
        if "__pycache__" not in path.parts
        and any(path.match(pattern.strip("/")) for pattern in ignored)
    ]
    assert (ROOT / "src/unchurn/py.typed").exists()
