"""docs/reproduction.md says what the committed results say, and nothing else."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from unchurn.methods import METHODS, Method
from unchurn.metrics.registry import METRICS, Metric
from unchurn.paper.page import page, write_page
from unchurn.paper.record_numbers import numbers
from unchurn.paper.records import read_all
from unchurn.paper.tables import beside_paper
from unchurn.paper.theory.simulations import rates

DOCS = Path(__file__).parents[2] / "docs"


@dataclass
class Mine(Method):
    """Somebody's own method."""

    grid: ClassVar[dict[str, tuple[float, ...]]] = {"a": (0.1, 0.9)}
    a: float = 0.5


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


def test_more_methods_and_metrics_than_the_papers_change_nothing(monkeypatch):
    monkeypatch.setitem(METHODS, "mine", Mine)
    metric = Metric(name="mine", heading="mine", better="lower", of=lambda runs: runs.summary.churn)
    monkeypatch.setitem(METRICS, "mine", metric)
    assert page(DOCS / "reproduction") == (DOCS / "reproduction.md").read_text("utf-8")
    for record in read_all(DOCS / "reproduction"):
        rows = numbers(record.study, record.result, record.facts["command"])
        assert rows == (DOCS / f"reproduction/{record.name}.csv").read_text("utf-8")
        assert "mine" not in beside_paper(record.study, record.result)


@pytest.mark.parametrize("number", [1, 2])
def test_the_rates_are_those_of_the_simulations(number):
    facts = json.loads((DOCS / f"reproduction/theorem{number}.json").read_text("utf-8"))
    assert facts["rates"] == json.loads(json.dumps(rates(facts["rows"])))


def test_every_chart_on_the_page_is_there():
    text = (DOCS / "reproduction.md").read_text()
    pictures = [part.partition(")")[0] for part in text.split("](reproduction/")[1:]]
    assert pictures
    for picture in pictures:
        assert (DOCS / "reproduction" / picture).is_file()
