"""docs/beyond.md says what the committed results say, and nothing else."""

import re
import shutil
from pathlib import Path

from unchurn.methods.registry import DEFAULT
from unchurn.paper.beyond.decision import decide
from unchurn.paper.beyond.page import write_beyond
from unchurn.paper.beyond.rows import read_rows
from unchurn.paper.beyond.successor import succession
from unchurn.paper.beyond.tables import ALL_TABLES, BEYOND_SHORT, FRESH, NEWEST
from unchurn.paper.studies import RECIPES
from unchurn.study.design.settings import make_setting

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_and_its_charts_are_what_the_command_writes(tmp_path):
    for name in ("beyond", "reproduction"):  # which has the paper's methods
        (tmp_path / name).mkdir()
        for path in (p for kind in ("*.json", "*.npz") for p in (DOCS / name).glob(kind)):
            shutil.copy(path, tmp_path / name)
    written = {path.relative_to(tmp_path) for path in write_beyond(tmp_path / "beyond")}
    stale = [p for p in written if (DOCS / p).read_bytes() != (tmp_path / p).read_bytes()]
    assert not stale, "unchurn reproduce beyond-page --out docs/beyond"
    made = (p for kind in ("*.svg", "*.csv") for p in (DOCS / "beyond").glob(kind))
    others = {p.relative_to(DOCS) for p in made}
    assert others <= written  # nothing lies about that no result makes


def test_the_default_is_what_the_committed_results_decide():
    rows = read_rows(DOCS / "beyond")
    decision = decide(rows)
    assert (decision.candidate if decision.is_taken else decision.former).recipe == DEFAULT
    of_default = [row for name in ALL_TABLES for row in rows[name] if row.recipe == DEFAULT]
    assert len(of_default) == len(ALL_TABLES)
    assert not any(row.loses or row.raises_churn for row in of_default)
    readme = " ".join((DOCS.parent / "README.md").read_text("utf-8").split())
    claim = f"no harm beyond chance on any of {len(ALL_TABLES)} tables that nobody here chose"
    n_fresh = len(FRESH) + len(NEWEST)
    assert f"{claim}, {n_fresh} of them seen for the first time" in readme


def test_the_best_single_models_differ_and_train_two_networks():
    """As the README says below its chart, which has the goals' `one model`."""
    page = (DOCS / "beyond.md").read_text("utf-8")
    goals = re.findall(r"^\| (\w+) (?:\|[^|]*){5}\|([^|]*)\|[^|]*\|$", page, re.MULTILINE)
    single = {task: re.findall(r"`(.*?)`", cell) for task, cell in goals if task in RECIPES}
    assert set(single) == set(RECIPES)
    assert len({tuple(recipes) for recipes in single.values()}) > 1
    for recipe in (one for own in single.values() for one in own):
        assert make_setting(recipe).facts().n_trained == 2


def test_what_was_to_follow_the_default_does_not_by_the_rule_that_was_settled():
    found = succession(read_rows(DOCS / "beyond"), read_rows(DOCS / "beyond", BEYOND_SHORT))
    assert found.harms_few
    assert not found.keeps_up
    assert found.usual.default.recipe == DEFAULT
