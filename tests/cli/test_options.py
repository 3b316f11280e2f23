"""Errors of the library in the words of the command line."""

import pytest

from unchurn.cli.options import as_threshold, in_options, make_columns


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


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("compare", "a.csv", "b.csv", "--id", "x", "--json", "--id", "y"), "--id"),
        (("compare", "a.csv", "b.csv", "--threshold=0.5", "--threshold", "0.5"), "--threshold"),
        (("gate", "a.csv", "b.csv", "--max-churn", "0.1", "--max-churn", "0.2"), "--max-churn"),
        (("blend", "a.csv", "b.csv", "--ratio", "1", "-o", "x.csv", "--output", "y"), "--output"),
        (("plan", "--excess", "0.1", "--excess", "0.2"), "--excess"),
        (("bench", "t.csv", "--target", "x", "--target", "y"), "--target"),
        (("reproduce", "table1", "--runs", "2", "--runs", "3"), "--runs"),
        (("demo", "--runs", "2", "--runs", "3"), "--runs"),
    ],
)
def test_an_option_of_one_value_is_refused_twice(run, words, option):
    message = f"unchurn: {option} is given twice, and takes one value\n"
    assert run(*words) == (2, "", message)


def test_switches_and_options_of_several_values_may_be_there_again(run, files):
    words = ("--json", "--json", "--slices", "country", "--slices", "user", "--min-slice", "1",
             "--retrains", "r1.csv", "--retrains", "r2.csv")  # fmt: skip
    code, out, err = run("compare", *files, *words)
    assert (code, err) == (0, "")
    assert '"country"' in out
    assert '"user"' in out


@pytest.mark.parametrize(
    ("given", "threshold"),
    [
        (None, None),
        ("0.4", 0.4),
        ("0.5,0.4", (0.5, 0.4)),
        ("0,1", (0, 1)),
        ("0.3,", (0.3, None)),
        (" , 0.4", (None, 0.4)),
    ],
)
def test_a_threshold_is_one_or_two_numbers(given, threshold):
    assert as_threshold(given) == threshold


@pytest.mark.parametrize("given", ["", ",", "a", "2", "nan", "0.1,2", "0.1,0.2,0.3"])
def test_any_other_threshold_is_one_line(run, files, given):
    code, out, err = run("compare", *files, "--threshold", given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Invalid value for '--threshold'" in err
