"""docs/upgrade.md says what the committed results say, and nothing else."""

import shutil
from pathlib import Path

from unchurn.paper.upgrade.page import write_upgrade

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_and_its_chart_are_what_the_command_writes(tmp_path):
    (tmp_path / "upgrade").mkdir()
    for path in (p for kind in ("*.json", "*.npz") for p in (DOCS / "upgrade").glob(kind)):
        shutil.copy(path, tmp_path / "upgrade")
    written = {path.relative_to(tmp_path) for path in write_upgrade(tmp_path / "upgrade")}
    stale = [p for p in written if (DOCS / p).read_bytes() != (tmp_path / p).read_bytes()]
    assert not stale, "unchurn reproduce upgrade-page --out docs/upgrade"
