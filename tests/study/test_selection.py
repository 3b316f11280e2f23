import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unchurn.study.results.selection import choose, pareto

points = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=20).map(
    lambda rows: tuple(np.array(rows, float).T / 1000)
)


def test_the_papers_rule():
    """Less than 0.1 points below the best is close; exactly 0.1 is not."""
    assert choose([0.9000, 0.8995, 0.8990, 0.5], [0.4, 0.3, 0.2, 0.1]) == 1
    assert choose([0.9000, 0.89901], [0.4, 0.3]) == 1
    assert choose([0.9], [0.1]) == 0


@given(points)
def test_the_choice_is_close_to_the_best_and_nothing_close_churns_less(both):
    accuracy, churn = both
    chosen = choose(accuracy, churn)
    close = accuracy > accuracy.max() - 0.001 + 1e-9
    assert close[chosen]
    assert churn[chosen] == churn[close].min()


@given(points)
def test_the_frontier_is_what_nothing_beats(both):
    accuracy, churn = both
    frontier = pareto(accuracy, churn)
    for i in range(len(accuracy)):
        beaten = any(
            accuracy[j] >= accuracy[i] and churn[j] <= churn[i] and
            (accuracy[j] > accuracy[i] or churn[j] < churn[i]) for j in range(len(accuracy))
        )  # fmt: skip
        same = any(accuracy[j] == accuracy[i] and churn[j] == churn[i] for j in frontier)
        assert beaten != same
    assert list(churn[frontier]) == sorted(churn[frontier])
