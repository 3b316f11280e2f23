"""docs/beyond.md says what the committed results say, and nothing else."""

import shutil
from pathlib import Path

from unchurn.paper.beyond.page import write_beyond

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
