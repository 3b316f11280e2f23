import json
import math

import numpy as np
import pytest

from unchurn import InputError
from unchurn.paper.theory import bounds, simulations
from unchurn.paper.theory import charts as theorem_charts
from unchurn.paper.theory.problems import Line
from unchurn.report.charts import save


@pytest.fixture(scope="module")
def rows():
    """Both theorems' rows at the quick size, by number."""
    return {1: simulations.theorem1(quick=True), 2: simulations.theorem2(quick=True)}


@pytest.mark.parametrize("theorem", [1, 2])
def test_the_bounds_hold_at_the_quick_size(rows, theorem):
    for row in rows[theorem]:
        assert row["exceeded"] == 0
        assert row["max"] <= row["bound"]
        expected = "holds" if row["exact"] else "holds on the grid"
        assert row["verdict"] == (expected if row["bound"] < 1 else "says nothing")
        assert row["exceeded_high"] == pytest.approx(1 - 0.025 ** (1 / row["draws"]))
        assert 0 < row["mean"] <= row["max"]
        assert row["mean"] < row["quantile"] <= row["max"]


def test_theorem1_marks_what_it_admits(rows):
    for row in rows[1]:
        assert row["admitted"] == (row["k_low"] <= row["k"] <= row["k_high"])
        assert not row["admitted"]  # at so small an n its range of k is empty
        assert row["why"] == "no k is admitted at this n"
        assert row["k_low"] > row["k_high"]
    for problem in simulations.PROBLEMS:
        mine = [row for row in rows[1] if row["problem"] == problem.name]
        for n in {row["n"] for row in mine}:
            best = [row["k"] for row in mine if row["n"] == n and row["optimal"]]
            assert best == [bounds.optimal_k(problem.assumptions, n, 0.1)]


@pytest.mark.parametrize(("n", "k", "why"), [(10**7, 60_000, "inside"), (10**7, 20_000, "below")])
def test_of_many_points_theorem1_admits_some_k(monkeypatch, n, k, why):
    """The marks of the full size, without its draws."""
    case = simulations._Case(Line(1.0, 0.0), n, 2, [k], 1)
    monkeypatch.setattr(simulations, "_measure", lambda *_: [(case, np.full((1, 2), 0.001))])
    (row,) = simulations.theorem1()
    assert (row["why"], row["admitted"]) == (why, why == "inside")


def test_the_full_size_tries_k_inside_and_outside():
    cases = [
        c for c in simulations._cases(1, quick=False) if c.n == max(simulations.FULL[c.problem.d])
    ]
    for case in cases:
        low, high = bounds.theorem1_k_range(case.problem.assumptions, case.n, 0.1)
        inside = [low <= k <= high for k in case.ks]
        assert any(inside)
        assert not all(inside)
        assert case.draws >= 36  # so that none exceeded can show a share of at most 0.1
    assert max(c.n for c in cases) == 10**7


def test_theorem2_takes_the_share_beta(rows):
    assert {(row["beta"], row["k"] / row["n"]) for row in rows[2]} == {
        (beta, beta) for beta in simulations.BETAS
    }
    for row in rows[2]:
        assert row["admitted"] >= row["as_written"]
        assert not (row["as_written"] and row["beta"] < 0.25)
    assert {row["admitted"] for row in rows[2]} == {True, False}


def test_a_seed_decides_all_and_every_draw_stands_alone(rows, monkeypatch):
    monkeypatch.setattr(simulations, "QUICK", {1: {10**4: 40}, 2: {}})
    alone = simulations.theorem1(quick=True)
    assert alone == [row for row in rows[1] if row["n"] == 10**4]
    others = simulations.theorem1(seed=1, quick=True)
    assert all(one["mean"] != other["mean"] for one, other in zip(alone, others, strict=True))


def test_progress_is_reported_up_to_the_end(monkeypatch):
    monkeypatch.setattr(simulations, "QUICK", {1: {10**3: 3, 10**4: 2}, 2: {10**3: 2}})
    steps = []
    simulations.theorem1(quick=True, on_progress=lambda *step: steps.append(step))
    done, totals = zip(*steps, strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {done[-1]}
    assert len(steps) == 3 + 2 + 3 + 2 + 2
    assert simulations.expected_seconds(1, quick=True) == pytest.approx(done[-1] / 1000)


@pytest.mark.parametrize(
    ("exceeded", "bound", "verdict"),
    [(0, 0.5, "holds"), (4, 0.5, "undecided"), (20, 0.5, "fails"), (0, 1.0, "says nothing")],
)
def test_verdicts(exceeded, bound, verdict):
    case = simulations._Case(Line(1.0, 0.0), 100, 40, [5], 1)
    errors = np.where(np.arange(40) < exceeded, 0.6, 0.4)
    assert simulations._verdict(case, errors, bound)["verdict"] == verdict


def test_rates_are_fitted():
    common = {"problem": "toy", "d": 1, "alpha": 1.0, "draws": 100, "sd": 0.0}
    rows = [
        common | {"n": n, "k": 1, "mean": 5 * n**-0.3, "optimal": True} for n in (10, 10**3, 10**4)
    ]
    worse = [row | {"mean": 1.0, "optimal": False} for row in rows]
    (fit,) = simulations.rates([*rows, *worse])
    assert fit["fitted"] == pytest.approx(-0.3)
    assert fit["fitted_se"] == 0
    assert fit["optimal"] == pytest.approx(-1 / 3)
    n = np.array([10, 10**3, 10**4])
    slope = np.polyfit(np.log(n), np.log((np.log(n) / n) ** (1 / 3)), 1)[0]
    assert fit["optimal_with_log"] == pytest.approx(slope)
    assert simulations.rates(rows[:1]) == []


def test_the_rates_standard_error_is_that_of_repetitions():
    rng = np.random.default_rng(0)
    n = np.array([10**3, 10**4, 10**5])
    slopes, told = [], []
    for _ in range(400):
        errors = n[:, None] ** -0.5 * rng.normal(1, 0.2, (3, 50))
        rows = [
            {"problem": "toy", "beta": 0.5, "n": int(m), "draws": 50}
            | {"mean": e.mean(), "sd": e.std(ddof=1), "alpha": 1.0, "d": 1}
            for m, e in zip(n, errors, strict=True)
        ]
        (fit,) = simulations.rates(rows)
        slopes.append(fit["fitted"])
        told.append(fit["fitted_se"])
    assert np.mean(slopes) == pytest.approx(-0.5, abs=0.01)
    assert np.mean(told) == pytest.approx(np.std(slopes), rel=0.15)


@pytest.mark.parametrize("theorem", [1, 2])
def test_charts_show_every_point_and_are_drawn(rows, theorem, tmp_path):
    chart = getattr(theorem_charts, f"theorem{theorem}_chart")(rows[theorem])
    text = json.dumps(chart.to_dict())
    for row in rows[theorem]:
        assert f'"mean": {row["mean"]!r}' in text
        assert f'"value": {row["bound"]!r}' in text
    for fit in simulations.rates(rows[theorem]):
        assert f"{fit['fitted']:.3f}".removeprefix("-") in text
    save(chart, tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text("utf-8")
    assert all(problem in drawn for problem in {row["problem"] for row in rows[theorem]})
    assert drawn.count('aria-roledescription="') > len(rows[theorem])


def test_the_charts_reference_lines_start_at_the_first_mean(rows):
    best = [r for r in rows[1] if r["optimal"] and r["problem"] == simulations.PROBLEMS[0].name]
    lines = {(row["line"], row["n"]): row["value"] for row in theorem_charts._lines(best)}
    first, last = best[0]["n"], best[-1]["n"]
    for line in (theorem_charts.OPTIMAL, theorem_charts.ROOT):
        assert lines[line, first] == pytest.approx(best[0]["mean"])
    falls = math.sqrt(first / last)
    assert lines[theorem_charts.ROOT, last] == pytest.approx(best[0]["mean"] * falls)
    with_log = (math.log(last) / last * first / math.log(first)) ** (1 / 3)
    assert lines[theorem_charts.OPTIMAL, last] == pytest.approx(best[0]["mean"] * with_log)
    assert lines[theorem_charts.FITTED, last] == pytest.approx(best[-1]["mean"])  # two points


def test_bad_input_is_named():
    with pytest.raises(InputError, match="seed must be a whole number of at least 0, not -1"):
        simulations.theorem1(seed=-1, quick=True)
    with pytest.raises(InputError, match="theorem must be 1 or 2, not 3"):
        simulations.expected_seconds(3)
