"""A policy: read, checked and in words."""

import pytest

from unchurn.core.errors import InputError
from unchurn.gate.policy import Policy, read_policy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_chrun = 0.1", "no key 'max_chrun' (did you mean 'max_churn'?): there are max_churn"),
        ("max_churn = 'x'", "max_churn.limit: input should be a valid number"),
        ("max_churn = 2", "max_churn.limit: input should be less than or equal to 1, not 2"),
        ("max_churn = 5", "not 5 (a fraction: 0.05 is 5 %)"),
        (
            "max_churn = -0.1",
            "max_churn.limit: input should be greater than or equal to 0, not -0.1",
        ),
        ("[max_churn]\nburden = 'prove-harm'", "gate.toml: max_churn.limit is missing"),
        ("[max_churn]\nlimit = 0.1\nburden = 'none'", "max_churn.burden: input should be 'prove-"),
        ("[max_churn]\nlimit = 0.1\nx = 1", "no key 'max_churn.x': there are limit"),
        ("max_churn = ", "not a TOML file"),
        ("max_missing = 0.1", "the policy sets no limit: set one of max_churn"),
        ("max_churn = 0.1\nmax_missing = true", "max_missing: input should be a valid number"),
        ("max_churn = 0.1\nmax_missing = 5", "not 5 (a fraction: 0.05 is 5 %)"),
    ],
)
def test_a_wrong_policy_file_says_which_key_and_what_is_allowed(tmp_path, text, message):
    (tmp_path / "gate.toml").write_text(text)
    with pytest.raises(InputError) as error:
        read_policy(tmp_path / "gate.toml")
    assert message in str(error.value)
    assert "gate.toml" in str(error.value) or "sets no limit" in message


def test_a_policy_made_in_python_says_the_same_in_one_line():
    with pytest.raises(InputError) as error:
        Policy(max_churn=3, min_slice=0)
    assert str(error.value) == (
        "max_churn.limit: input should be less than or equal to 1, not 3 (a fraction: 0.05 is 5 %);"
        " min_slice: input should be greater than or equal to 1, not 0"
    )


def test_a_policy_explains_itself_and_options_go_before_the_file(tmp_path):
    (tmp_path / "gate.toml").write_text(
        'max_churn = 0.02\nmust_not_flip = ["a"]\n'
        'max_bad_flips = {limit = 0.01, burden = "prove-harm"}\n'
    )
    policy = read_policy(tmp_path / "gate.toml", {"max_churn": 0.05, "max_excess_churn": None})
    assert policy.explain() == [
        "predictions that change: at most 5.00%; if the data leave it open, hold; with fewer than "
        "72 examples even one without a flip is held",
        "right predictions that become wrong: at most 1.00%; if the data leave it open, promote",
        "1 examples must not flip: one that does rejects",
        "rows of base for which the candidate has no prediction: at most 1.00%, else hold",
    ]
    assert policy.max_excess_churn is None


def test_small_limits_are_told_from_zero():
    lines = Policy(max_churn=0.00004, max_missing=0.00001).explain()
    assert lines[0].startswith("predictions that change: at most 0.004%;")
    assert "at most 0.001%, else hold" in lines[-1]
