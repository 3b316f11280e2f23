"""What the page says does not help."""

import numpy as np
import pytest

from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Runs
from unchurn.paper.beyond.cards import CARDS
from unchurn.paper.beyond.harm import find_harm, harmful, often_harmful, worst_of_each
from unchurn.paper.beyond.rows import Over, Row, methods_of, only_on_tables
from unchurn.paper.beyond.study import FREE, SEVERAL, SINGLE

LABELS = np.zeros(10, int)
NONE, LOWER, HIGHER = Interval(0, -0.1, 0.1), Interval(-0.1, -0.2, -0.05), Interval(0.1, 0.05, 0.2)


def row(recipe, dataset="wine", *, raises=False, loses=False, wrong=0):
    """A recipe on a dataset; its runs differ in one example, and are wrong on some."""
    runs = np.array([[1] * wrong + [0] * (10 - wrong), [1] * wrong + [0] * (9 - wrong) + [1]])
    runs = Runs(predictions=runs, labels=LABELS)
    return Row(
        dataset=dataset, recipe=recipe, runs=runs, control=runs.summary, trained=1, served=1,
        churn=HIGHER if raises else NONE, accuracy=LOWER if loses else NONE,
    )  # fmt: skip


def over(recipe, harmed, n=8):
    """A recipe that loses accuracy on some of its datasets."""
    return Over(recipe=recipe, rows=tuple(row(recipe, loses=i < harmed) for i in range(n)))


@pytest.mark.parametrize(
    ("raises", "loses", "harms"),
    [(False, False, 0), (True, False, 1), (False, True, 1), (True, True, 1)],
)
def test_a_table_is_harmed_once_by_either(raises, loses, harms):
    one = Over(recipe="a", rows=(row("a", "Vowel", raises=raises, loses=loses), row("a")))
    assert one.count("harms") == harms
    assert one.named("harms") == "Vowel" * harms
    assert one.is_harmless == (harms == 0)


def test_what_harms_a_quarter_or_more_is_told_worst_first():
    found = often_harmful([over("rare", 1), over("some", 2), over("none", 0), over("most", 7)])
    assert [one.recipe for one in found] == ["most", "some"]


def test_a_method_is_told_at_its_worst_setting():
    recipes = [over("twin", 5), over("early", 4), over("twin(a=1)", 3)]
    assert [one.recipe for one in worst_of_each(recipes)] == ["twin", "early"]


def test_what_harms_on_a_task_is_told_lowest_accuracy_first():
    rows = [row("a", loses=True, wrong=1), row("fine", wrong=5), row("b", raises=True, wrong=3)]
    assert [one.recipe for one in harmful(rows)] == ["b", "a"]


def test_methods_alone_combinations_tasks_and_decay_are_told_apart():
    on_tables = [over("twin", 5), over("twin+ema", 6), over("ema", 0)]
    rows = {
        "wine": [row("decay", "wine")],
        "Shuttle": [row("decay", "Shuttle", loses=True)],
        "mnist": [row("decay", "mnist"), row("early", "mnist", loses=True)],
        "phishing": [row("decay", "phishing")],
    }
    found = find_harm(on_tables, rows)
    assert [one.recipe for one in found.alone] == ["twin"]
    assert [one.recipe for one in found.combined] == ["twin+ema"]
    assert {task: [one.recipe for one in own] for task, own in found.on_tasks.items()} == {
        "mnist": ["early"]
    }
    small, large, on_tasks = found.decay
    assert [one.dataset for one in small.rows] == ["wine"]
    assert large.named("loses") == "Shuttle"
    assert {one.dataset for one in on_tasks.rows} == {"mnist", "phishing"}


def test_methods_of_which_no_task_has_a_recipe_are_named():
    tried = ["twin(a=1)", "medoid(m=5)+ema", "bagging", "ema"]
    rows = {"wine": [row(recipe) for recipe in tried], "mnist": [row("twin+ema"), row("early")]}
    assert only_on_tables(rows) == ["bagging", "medoid"]


def test_every_method_of_the_study_has_a_card_that_says_when_it_fails():
    tried = {one for text in (*FREE, *SINGLE, *SEVERAL) for one in methods_of(text)}
    assert tried - {"control"} <= set(CARDS)
    assert all(card.does and card.cost and card.fails for card in CARDS.values())
