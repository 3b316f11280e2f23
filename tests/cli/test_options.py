"""Errors of the library in the words of the command line."""

import pytest

from unchurn.cli.options import in_options, make_columns


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("there are none: give labels=", "there are none: give --labels"),
        ("Name it with prediction=, or", "Name it with --prediction, or"),
        ("for? Give positive= no or yes", "for? Give --positive no or yes"),
        ("no column 'x' for slices= in", "no column 'x' for --slices in"),
        ("Give max_bad_flips= or max_churn=", "Give --max-bad-flips or --max-churn"),
        ("slice_churn of label=x has no", "slice_churn of label=x has no"),
        (
            "probabilities, give probabilities= No,Yes;",
            "probabilities, give --probabilities No,Yes;",
        ),
        ("for label=x", "for label=x"),
    ],
)
def test_arguments_become_options(message, expected):
    assert in_options(message) == expected


def test_columns_come_from_options_of_their_names():
    columns = make_columns({"id_": "key", "slices": ["a, b", "c"], "cluster": "user", "other": 1})
    assert (columns.id, columns.slices, columns.cluster) == ("key", ("a", "b", "c"), "user")
    assert columns.prediction is None
