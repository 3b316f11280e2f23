"""The quick run of benchmarks/interval_coverage: fixed seeds, so what holds now holds always."""

import importlib.util
import inspect
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toys
from unchurn import compare
from unchurn.gate.decide import decide
from unchurn.metrics import intervals, over_runs
from unchurn.metrics.registry import Runs
from unchurn.study.advice.advice import advice
from unchurn.study.design.settings import make_setting
from unchurn.study.results.result import SettingResult

ROOT = Path(__file__).parents[2]
BENCHMARKS, PAGE = ROOT / "benchmarks/interval_coverage", ROOT / "docs/statistics.md"


@pytest.fixture
def benchmark(monkeypatch):
    if not BENCHMARKS.exists():
        pytest.skip("benchmarks/ is not here: a source distribution has none")
    monkeypatch.syspath_prepend(BENCHMARKS)
    spec = importlib.util.spec_from_file_location("simulated_coverage", BENCHMARKS / "simulate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outside(table):
    """Cells out of what is promised by more than chance, where no reason is known."""
    return [cell for cell in table.cells if cell.side and not cell.may_be_chance and not cell.why]


@pytest.mark.parametrize(("name", "draws"), [("rates", 1500), ("conditional", 300),
                                             ("differences", 250)])  # fmt: skip
def test_intervals_over_examples_cover(benchmark, name, draws):
    (table,) = benchmark.simulate(name, draws).values()
    assert any(cell.low for cell in table.cells)
    assert not outside(table)


def test_intervals_over_bases_cover(benchmark):
    (table,) = benchmark.simulate("bases", 200).values()
    assert any(cell.low for cell in table.cells)
    assert not outside(table)


@pytest.mark.parametrize("unequal", [False, True])
def test_intervals_over_clusters_cover(benchmark, unequal):
    clustered = benchmark.over_examples.clustered
    rng = np.random.default_rng(0)
    hits = []
    for events, sizes in zip(*clustered(rng, (400, 100), 0.05, 0.1, unequal), strict=True):
        good = rng.binomial(events, 0.3)
        rate = intervals.clustered_proportion(events, sizes)
        change = intervals.clustered_difference(good, events - good, sizes)
        hits.append((rate.low <= 0.05 <= rate.high, change.low <= -0.02 <= change.high))
    assert ((np.mean(hits, axis=0) > 0.91) & (np.mean(hits, axis=0) < 0.99)).all()


def test_intervals_over_retrainings_cover_and_the_gate_rejects_few(benchmark):
    simulated = benchmark.over_retrainings
    rng = np.random.default_rng(0)
    case = simulated.Scenario(1000, simulated.Recipe(0.2, 0.05), 300)
    floors = [simulated._one_floor(rng, case)[1:] for _ in range(case.draws)]  # three runs or more
    *covered, rejected = np.mean(floors, axis=0).T
    assert all((rates > 0.91).all() and (rates < 0.99).all() for rates in covered)
    assert (rejected < 0.05).all()


def test_differences_of_settings_cover(benchmark):
    tables = benchmark.over_retrainings.settings(np.random.default_rng(0), 30)
    for table in tables.values():
        for _, cells in table.rows:
            assert np.mean([cell.rate for cell in cells]) > 0.9


def test_the_simulated_gate_is_the_gate(benchmark):
    simulated = benchmark.of_gate
    rng = np.random.default_rng(1)
    recipe = benchmark.over_retrainings.Recipe(0.2, 0.15)
    decided = []
    for drawn in (simulated.Drawn.of(rng, 400, recipe) for _ in range(2)):
        right, n_slices = drawn.right.astype(int), simulated.SLICES
        drawn = replace(drawn, truths=tuple(truth / 4 for truth in drawn.truths))  # some reject
        result = compare(right[0], right[1], np.ones(400), retrains=list(right[2:]),
                         slices={"lot": np.arange(400) % n_slices})  # fmt: skip
        gate = [
            decide(result, {limit: truth, "min_slice": 1}).decision == "reject"
            for limit, truth in zip(simulated.LIMITS, drawn.truths, strict=True)
        ]
        np.testing.assert_array_equal(drawn.rejections(), gate)
        decided += gate
    assert {True, False} == set(decided)


def test_the_simulated_decisions_are_the_gates(benchmark):
    simulated = benchmark.of_decisions
    rng = np.random.default_rng(2)
    decided = set()
    for lost in (0.0, 0.0, 0.02, 0.04):
        shares = [0.01, 0.01 + lost, 0.98 - lost]
        good, bad, _ = rng.multinomial(simulated.SIZE, shares, simulated.SLICES).T
        place = np.tile(np.arange(simulated.SIZE), simulated.SLICES)
        slices = np.repeat(np.arange(simulated.SLICES), simulated.SIZE)
        base = (place < good[slices]).astype(int)  # wrong where the candidate gains
        candidate = ((place >= good[slices]) & (place < (good + bad)[slices])).astype(int)
        result = compare(base, candidate, np.zeros(len(base), int), slices={"lot": slices})
        now = result.gate({"max_slice_accuracy_loss": 0.02}).decision
        assert simulated.slice_decisions(np.stack([good, bad], axis=1), 0.02)[1] == now
        decided.add(now)
    assert len(decided) > 1
    recipe = benchmark.over_retrainings.Recipe(0.2, 0.15)
    for lost in (0.0, 0.1):
        right = simulated.draw(rng, 2000, recipe, lost)
        wrong = (~right).astype(int)
        decisions = simulated.loss_decisions(right)
        for runs, place in ((3, 1), (10, 2)):
            result = compare(wrong[0], wrong[1], np.zeros(2000, int),
                             retrains=list(wrong[2 : runs + 2]))  # fmt: skip
            for name, at in (("max_accuracy_loss", 0), ("max_excess_loss", place)):
                assert decisions[at] == result.gate({name: simulated.LIMIT}).decision


def test_slices_promote_and_reject_as_often_as_they_should(benchmark):
    """Nothing lost in 20 slices of 1,000: promoted 1 % before, most of the time now."""
    (table,) = benchmark.simulate("slice decisions", 150).values()
    (_, nothing), (_, one), (_, every) = table.rows[3:]
    assert nothing[0].rate < 0.06
    assert 0.6 < nothing[3].rate < 0.9
    assert one[3].rate < 0.06
    assert every[5].rate < 0.1


def test_a_plain_retraining_is_not_rejected_for_its_accuracy(benchmark):
    """Runs that differ by two points: base's accuracy alone rejects in a third of the draws."""
    simulated = benchmark.of_decisions
    rng = np.random.default_rng(0)
    recipe = benchmark.over_retrainings.Recipe(0.2, 0.15)
    drawn = (simulated.draw(rng, 10_000, recipe, 0.0) for _ in range(100))
    rejected = (np.array([simulated.loss_decisions(one) for one in drawn]) == "reject").mean(axis=0)
    assert rejected[0] > 0.25
    assert (rejected[1:] <= 0.1).all()


def test_the_simulated_advice_is_a_benchs(benchmark):
    simulated = benchmark.of_advice
    rng, facts = np.random.default_rng(5), make_setting("control").facts()
    recipe, decisions = benchmark.over_retrainings.Recipe(0.2, 0.15), set()
    for _ in range(25):
        right = simulated.draw(rng, recipe, 12, 5)
        names = ["control", *(f"method{i}" for i in range(12))]
        rows = [
            (replace(facts, name=name), (~own).astype(int))
            for name, own in zip(names, right, strict=True)
        ]
        text = advice(toys.result(rows, np.zeros(simulated.TEST, int)))
        alone, together = simulated.recommended(right)
        assert text.startswith("Use method") is together
        assert ("by itself would be told from it" in text) is (alone and not together)
        decisions.add((alone, together))
    assert {(False, False), (True, False)} <= decisions


def test_the_simulated_choice_is_a_benchs(benchmark):
    simulated = benchmark.of_choices
    recipe = benchmark.over_retrainings.Recipe(0.2, 0.15)
    drawn = simulated.Drawn.of(np.random.default_rng(3), recipe, 7)
    places = {"validation": slice(simulated.VALIDATION), "test": slice(simulated.VALIDATION, None)}
    rows = []
    for number, right in enumerate(drawn.right.astype(int)):
        setting = make_setting("control") if number == 0 else make_setting("mixup", a=number / 10)
        first, fresh = (
            {part: Runs(predictions=right[runs, place], labels=np.ones(right[0, place].size, int))
             for part, place in places.items()}
            for runs in (slice(simulated.RUNS), slice(simulated.RUNS, None))
        )  # fmt: skip
        found = SettingResult(setting.facts(), first)
        rows.append(replace(found, fresh=replace(found, runs=fresh)))
    labels = {part: runs.labels for part, runs in rows[0].runs.items()}
    empty = toys.result([(make_setting("control"), np.ones((5, 1), int))], np.ones(1, int))
    result = replace(empty, subject=replace(empty.subject, labels=labels), settings=rows)
    chosen = result.choose()["mixup"]
    assert chosen is rows[drawn.chosen()]
    before, now = drawn.claims()
    found = result.against_control(chosen)
    assert [one.low > 0 or one.high < 0 for one in (found["churn"], found["accuracy"])] == [
        bool(claimed) for claimed in now[:2]
    ]
    assert result.optimism(chosen)["churn"] == pytest.approx(before[2] - now[2])


def test_fresh_runs_take_the_luck_from_the_best_of_many(benchmark):
    """Nothing differs: on the runs that chose, accuracy is said to in 18 % of all draws."""
    simulated = benchmark.of_choices
    rng = np.random.default_rng(0)
    recipe = benchmark.over_retrainings.Recipe(0.2, 0.15)
    found = np.stack([simulated.Drawn.of(rng, recipe, 48).claims() for _ in range(60)])
    before, now = found.mean(axis=0)
    assert before[1] > 0.1
    assert now[1] < 0.1
    assert before[2] < now[2]


def test_the_page_is_what_the_kept_tables_make_it(benchmark):
    assert benchmark.page(json.loads(benchmark.KEPT.read_text("utf-8"))) == PAGE.read_text("utf-8")


def test_the_page_names_the_command_and_the_intervals(benchmark):
    page = PAGE.read_text("utf-8")
    assert f"`{benchmark.COMMAND}`" in page
    assert "{" not in page
    for module in (intervals, over_runs):
        for name, found in inspect.getmembers(module, inspect.isfunction):
            public = not name.startswith("_") and found.__module__ == module.__name__
            if public and inspect.signature(found).return_annotation == "Interval":
                assert f"`{module.__name__.rpartition('.')[2]}.{name}`" in page, name
    for name in ("Wilson", "Clopper", "Tango", "Korn", "Satterthwaite", "Student", "Holm"):
        assert name in page
