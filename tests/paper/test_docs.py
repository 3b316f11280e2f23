"""docs/reproduction.md says what the committed results say, and nothing else."""

import json
from pathlib import Path

import pytest

from unchurn.paper.kept import numbers, read_all
from unchurn.paper.page import page
from unchurn.paper.theorems import rates

DOCS = Path(__file__).parents[2] / "docs"
KEPT = read_all(DOCS / "reproduction")


def test_the_page_is_what_the_command_writes():
    assert (DOCS / "reproduction.md").read_text() == page(DOCS / "reproduction")


@pytest.mark.parametrize("one", KEPT, ids=lambda one: one.name)
def test_the_numbers_are_those_of_the_predictions(one):
    text = (DOCS / f"reproduction/{one.name}.csv").read_text()
    assert text == numbers(one.study, one.result, one.facts["command"])


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
