"""docs/reproduction.md says what the committed results say, and nothing else."""

import json
import shutil
from pathlib import Path

import pytest

from unchurn.paper.page import write_page
from unchurn.paper.theory.simulations import rates

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_its_charts_and_numbers_are_what_the_command_writes(tmp_path):
    results = ("*.json", "*.npz", "*.jinja")
    (tmp_path / "reproduction").mkdir()
    for path in (path for kind in results for path in (DOCS / "reproduction").glob(kind)):
        shutil.copy(path, tmp_path / "reproduction")
    written = {path.relative_to(tmp_path) for path in write_page(tmp_path / "reproduction")}
    stale = [
        path for path in written if (DOCS / path).read_bytes() != (tmp_path / path).read_bytes()
    ]
    assert not stale, "unchurn reproduce page --out docs/reproduction"
    there = {path.relative_to(DOCS) for path in (DOCS / "reproduction").iterdir()}
    others = {path for path in there if not any(path.match(kind) for kind in results)}
    assert others <= written  # nothing lies about that no result makes


@pytest.mark.parametrize("number", [1, 2])
def test_the_rates_are_those_of_the_simulations(number):
    facts = json.loads((DOCS / f"reproduction/theorem{number}.json").read_text("utf-8"))
    assert facts["rates"] == json.loads(json.dumps(rates(facts["rows"])))


def test_every_chart_on_the_page_is_there():
    text = (DOCS / "reproduction.md").read_text()
    pictures = [part.partition(")")[0] for part in text.split("](reproduction/")[1:]]
    assert pictures
    for picture in pictures:
        assert (DOCS / "reproduction" / picture).stat().st_size > 1000
