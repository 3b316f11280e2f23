from dataclasses import replace

import numpy as np
import pytest

import toys
from unchurn import Dataset, bench
from unchurn.study.design.settings import make_setting
from unchurn.study.report import charts


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    x = (rng.normal(size=(200, 4)) + 1.5 * np.eye(3, 4)[y]).astype(np.float32)
    data = Dataset("toy", x[:100], y[:100], x[100:], y[100:], ("a", "b", "c"))
    settings = [make_setting("control")]
    settings += [make_setting("knn_ls", k=k, a=a) for k in (3, 9, 27) for a in (0.1, 0.5, 0.9)]
    return bench(data, settings, runs=3, epochs=2, workers=1, validation=False)


def test_curves_vary_one_parameter_with_a_standard_error(result):
    chosen = result.choose()["knn_ls"].setting.parameters
    rows = charts.curve_data(result, "knn_ls", "k")
    assert [r["k"] for r in rows if r["metric"] == "churn"] == [3, 9, 27]
    for row in (r for r in rows if r["metric"] == "accuracy"):
        setting = next(
            r for r in result.settings if r.setting.parameters == {**chosen, "k": row["k"]}
        )
        value = setting.summary["test"].accuracy
        assert row["mean"] == pytest.approx(100 * value.mean, abs=1e-3)
        assert row["high"] - row["mean"] == pytest.approx(100 * value.sd / 3**0.5, abs=1e-3)
    for row in (r for r in rows if r["metric"] == "churn"):
        setting = next(
            r for r in result.settings if r.setting.parameters == {**chosen, "k": row["k"]}
        )
        a, b, c = setting.predictions["test"]
        pairs = [np.mean(b != c), np.mean(a != c), np.mean(a != b)]  # what is left without each run
        error = 100 * np.sqrt(2 / 3 * np.sum((pairs - np.mean(pairs)) ** 2))
        assert row["high"] - row["mean"] == pytest.approx(error, abs=1e-3)
    assert set(charts.curves(result)) == {"knn_ls k", "knn_ls a"}


def test_a_parameter_that_is_no_number_has_no_curve(rng):
    labels = rng.integers(0, 2, 50)
    facts = make_setting("knn_ls").facts()
    rows = [
        (replace(facts, parameters={"mode": mode, "k": 5}), rng.integers(0, 2, (2, 50)))
        for mode in ("a", None, 3, True)
    ]
    found = toys.result(rows, labels)
    assert charts.curves(found) == {}
    assert charts.all_charts(found).keys() <= {"frontier"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([10, 100, 500], True),
        ([3, 5, 10], False),
        ([0, 1000], False),
        ([0.005, 1.0], False),
        ([], False),
    ],
)
def test_counts_of_different_sizes_have_a_logarithmic_axis(values, expected):
    assert charts._spans_powers(values) is expected


def test_numbers_of_others_are_drawn_beside_ours(result):
    theirs = [{"metric": "churn", "k": k, "mean": 1.5} for k in (3, 81)]
    spec = charts.curve(result, "knn_ls", "k", {"a": 0.5}, {"the paper": theirs}).to_dict()
    (rows,) = spec["datasets"].values()
    assert [r["k"] for r in rows if r["by"] == "the paper"] == [3, 81]
    assert [r["k"] for r in rows if r["by"] == "us" and r["metric"] == "churn"] == [3, 9, 27]
