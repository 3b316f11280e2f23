"""docs/upgrade.md says what the committed results say, and nothing else."""

import shutil
from pathlib import Path

from unchurn.paper.upgrade.charts import DEFAULT
from unchurn.paper.upgrade.fresh import MOST_HARMED, on_fresh
from unchurn.paper.upgrade.page import write_upgrade
from unchurn.paper.upgrade.rows import read_rows

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_and_its_chart_are_what_the_command_writes(tmp_path):
    (tmp_path / "upgrade").mkdir()
    for path in (p for kind in ("*.json", "*.npz") for p in (DOCS / "upgrade").glob(kind)):
        shutil.copy(path, tmp_path / "upgrade")
    written = {path.relative_to(tmp_path) for path in write_upgrade(tmp_path / "upgrade")}
    stale = [p for p in written if (DOCS / p).read_bytes() != (tmp_path / p).read_bytes()]
    assert not stale, "unchurn reproduce upgrade-page --out docs/upgrade"


def test_the_default_is_what_the_rule_says_on_tables_that_nobody_had_looked_at():
    found = on_fresh(read_rows(DOCS / "upgrade"))
    assert (found.candidate if found.is_taken else found.former).recipe == DEFAULT
    assert found.are_tasks_measured
    for default in (found.candidate, found.without_weights):
        assert max(default.n_lower("accuracy"), default.n_higher("bad_flips")) <= MOST_HARMED
