import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unchurn.core.errors import InputError
from unchurn.metrics.budget import Budget, best_within, excess

settings = st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=12)


@given(settings)
def test_the_choice_is_what_a_sort_by_hand_gives(rows):
    """Of those that keep it, or exceed it least: the most accurate, then the lowest churn."""
    accuracy, churn, over = (np.array(column, float) / 100 for column in zip(*rows, strict=True))
    chosen = best_within(accuracy, churn, over)
    near = np.flatnonzero(over == over.min())
    accurate = near[accuracy[near] == accuracy[near].max()]
    assert chosen in accurate
    assert churn[chosen] == churn[accurate].min()


def test_the_last_bit_of_a_mean_decides_nothing():
    """Four flips of 2000 in each of five runs are 0.2 %, whatever their sum's last bit."""
    mean = np.mean([0.002, 0.0021, 0.0019, 0.0022, 0.0018])
    assert excess({"bad_flips": mean + 1e-17}, {"bad_flips": 0.002}) == 0
    assert best_within([0.3 - 1e-17, 0.1 + 0.2], [0.01, 0.02], [0, 1e-17]) == 0
    assert excess({"bad_flips": 0.003, "churn": 0.5}, {"bad_flips": 0.002, "churn": 0.1}) == 0.4
    assert excess({"churn": 0.5}, {}) == 0


def test_limits_are_fractions_and_plain_numbers():
    assert Budget().given == {}
    assert Budget(max_churn=np.float32(0.5)).given == {"max_churn": 0.5}
    assert Budget(max_bad_flips=0).given == {"max_bad_flips": 0.0}
    for wrong in (-0.1, 1.5, float("nan"), "0.1"):
        with pytest.raises(InputError, match="max_bad_flips must be from 0 to 1, not"):
            Budget(max_bad_flips=wrong)
