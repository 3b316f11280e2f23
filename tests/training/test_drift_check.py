"""A successor leans on its base as far as costs no accuracy on newer rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from unchurn import Dataset, StableClassifier, load_table, upgrade
from unchurn.core.errors import InputError
from unchurn.methods import Control
from unchurn.methods.registry import FROM_ANSWERS, FROM_WEIGHTS
from unchurn.training.estimator.budget import earlier, measured
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.upgrade.drift_check import as_accurate, newer_rows, warn_if_unordered
from unchurn.training.upgrade.recipes import INSTEAD

RECIPES = INSTEAD[FROM_WEIGHTS]
N = 600
# Most upgrades here are judged on rows that the base may have seen; one test asks for the warning.
pytestmark = pytest.mark.filterwarnings("ignore:the base may have seen")


def moving(turn, rng):
    """Rows in order of time; the rule turns from the first feature to the second."""
    x = rng.normal(size=(N, 2)).astype(np.float32)
    angle = turn * (np.arange(N) > N / 2)
    return x, (x[:, 0] * np.cos(angle) + x[:, 1] * np.sin(angle) > 0).astype(int)


def first_half(x, y):
    return StableClassifier(random_state=0).fit(x[: N // 2], y[: N // 2])


@pytest.fixture
def outdated(rng):
    x, y = moving(np.pi / 2, rng)
    return first_half(x, y), x, y


def test_a_rule_that_stays_is_leaned_on(rng):
    x, y = moving(0, rng)
    found = upgrade(first_half(x, y), x, y, random_state=1)
    assert found.method == FROM_WEIGHTS
    plain, leaning = found.tried  # plain retraining, and what was taken
    assert leaning.accuracy >= plain.accuracy - 0.02
    assert 0 <= leaning.bad_flips <= leaning.churn < 0.1


def test_outdated_answers_are_not_leaned_on(outdated):
    base, x, y = outdated
    with pytest.warns(
        RemarkWarning, match=r"on \d+ newer rows, .* less accurate: they may be outdated, memorised"
    ):
        found = upgrade(base, x, y, random_state=1)
    assert found.method == RECIPES[-1]
    assert len(found.tried) == 3
    assert found.tried[0].accuracy > found.tried[1].accuracy


def test_it_is_told_which_rows_are_newer(outdated, rng):
    base, x, y = outdated
    order = rng.permutation(N)
    saw = (np.arange(N) < N // 2)[order]
    with pytest.warns(RemarkWarning, match="outdated"):
        found = upgrade(base, x[order], y[order], base_saw=saw, random_state=1)
    assert found.method == RECIPES[-1]


def test_a_table_is_read_in_its_order(rng):
    x, y = moving(np.pi / 2, rng)
    table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": np.array(["no", "yes"])[y]})
    base = StableClassifier(random_state=0).fit(load_table(table[: N // 2], "y"))
    with pytest.warns(RemarkWarning, match="outdated"):
        found = upgrade(base, table, target="y", random_state=1)
    assert found.method == RECIPES[-1]


def test_so_is_a_base_of_another_framework(outdated):
    _, x, y = outdated
    base = LogisticRegression().fit(x[: N // 2], y[: N // 2])
    with pytest.warns(RemarkWarning, match="outdated"):
        found = upgrade(base, x, y, model="mlp", random_state=1)
    assert found.method == INSTEAD[FROM_ANSWERS][-1]


def test_what_is_asked_for_is_not_second_guessed(outdated):
    base, x, y = outdated
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saw = np.arange(N) < N // 2
        found = upgrade(base, x, y, method=FROM_WEIGHTS, base_saw=saw, random_state=1)
    assert (found.method, found.tried) == (FROM_WEIGHTS, ())


def test_few_rows_say_nothing():
    def newer(n, saw=None):
        return newer_rows(np.arange(n) % 2, lambda rows: rows, seed=0, saw=saw)

    assert newer(196) is None
    assert newer(200) is not None
    assert newer(3000, np.arange(3000) < 2921) is None  # 79 that the base has not seen
    assert newer(3000, np.arange(3000) < 2920) is not None
    names = np.array([f"class {i}" for i in range(400)])  # a row each, as numbers to predict
    assert newer_rows(names, lambda rows: rows, seed=0, saw=None) is None


def test_labels_may_be_a_column(rng):
    x, y = moving(0, rng)
    base = first_half(x, y)
    given = {"X_test": x[:50], "y_test": y[:50], "random_state": 1, "epochs": 1}
    given["base_saw"] = np.arange(N) < N // 2
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        found = upgrade(base, x, y[:, None], **given)
    assert np.array_equal(found.model.predict(x), upgrade(base, x, y, **given).model.predict(x))


def test_what_does_not_lean_on_the_base_does_not_take_its_labels(outdated, rng):
    base, x, y = outdated
    more = rng.normal(size=(N, 2)).astype(np.float32)
    with pytest.warns(RemarkWarning, match="outdated"):
        found = upgrade(base, x, y, X_unlabelled=more, random_state=1)
    with pytest.warns(RemarkWarning, match="outdated"):
        without = upgrade(base, x, y, random_state=1)
    assert np.array_equal(found.model.predict_proba(x), without.model.predict_proba(x))


def test_bad_rows_are_refused_in_our_words(outdated):
    base, x, y = outdated
    with pytest.raises(InputError, match="the reference takes inputs of"):
        upgrade(base, x[:, :1], y, X_test=x[:9, :1], y_test=y[:9], epochs=1)


def test_the_warning_points_at_the_caller(outdated):
    base, x, y = outdated
    with pytest.warns(RemarkWarning, match="outdated") as said:
        upgrade(base, x, y, random_state=1)
    assert {one.filename for one in said} == {__file__}


def test_only_what_the_base_has_not_seen_is_held_out(rng):
    labels, saw = rng.integers(0, 3, 400), np.arange(400) % 2 == 0
    newer = newer_rows(labels, lambda rows: labels[rows], seed=0, saw=saw)
    assert not saw[newer.held].any()
    assert sorted([*newer.kept, *newer.held]) == list(range(400))
    assert len(newer.held) == 80


def test_rows_that_are_sorted_by_class_are_held_out_of_every_class(rng):
    labels = np.repeat(np.array(["a", "b", "c"]), 300)
    newer = newer_rows(labels, lambda rows: labels[rows], seed=0, saw=None)
    assert set(newer.labels) == {"a", "b", "c"}
    assert (newer.held % 300 >= 180).all()  # the last two fifths of each
    came = rng.permutation(900)  # a table's rows, shuffled
    saw = earlier(np.repeat(np.arange(3), 300), came)
    for rows in np.split(np.arange(900), 3):
        assert saw[rows].sum() == 180
        assert came[rows][saw[rows]].max() < came[rows][~saw[rows]].min()


def test_a_class_of_one_row_stays_among_those_that_are_trained_on():
    labels = np.zeros(300, int)
    labels[150:] = 1
    labels[299] = 2
    for seed in range(10):
        newer = newer_rows(labels, lambda rows: labels[rows], seed=seed, saw=None)
        assert 299 in newer.kept


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [([30, 30], 2), ([30, 10], 1), ([11, 11], 0), ([0, 0], 0)],
)
def test_the_first_that_is_as_accurate_is_taken(wrong, expected):
    labels = np.zeros(400, int)
    newer = newer_rows(labels, lambda rows: labels[rows], seed=0, saw=None)
    errors = dict(zip(RECIPES, [*wrong, 10], strict=True))

    def predict(recipe, newer):
        # Each errs on rows of its own, so that the test counts all of them.
        first = 0 if recipe == RECIPES[-1] else 20
        answers = np.zeros(len(newer.held), int)
        answers[first : first + errors[recipe]] = 1
        return answers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RemarkWarning)
        recipe, tried = as_accurate(RECIPES, newer, predict)
    assert recipe == RECIPES[expected]
    # What leans most is tried beside what does not lean; the one between only if it must.
    assert len(tried) == (2 if expected == 0 else 3)
    assert tried[0].accuracy == 1 - 10 / len(newer.held)


def test_what_breaks_more_than_plain_retraining_is_passed_over_if_asked():
    labels = np.zeros(400, int)
    before = np.arange(400) % 2  # the base is right on every other row
    newer = newer_rows(labels, lambda rows: before[rows], seed=0, saw=None)
    was_right = np.flatnonzero(before[newer.held] == 0)

    def predict(recipe, newer):
        answers = np.zeros(len(newer.held), int)
        answers[was_right[: {RECIPES[0]: 3, RECIPES[1]: 2, RECIPES[2]: 1}[recipe]]] = 1
        return answers

    assert as_accurate(RECIPES, newer, predict)[0] == RECIPES[0]
    n = len(newer.held)  # 2 and 1 rows more: too few to say that the base is outdated
    with pytest.warns(RemarkWarning, match=rf"^on {n} .* breaks {100 / n:.2f} points more of them"):
        recipe, tried = as_accurate(RECIPES, newer, predict, must_not_break_more=True)
    assert recipe == RECIPES[-1]
    assert [round(len(newer.held) * one.bad_flips) for one in tried] == [1, 3, 2]


@pytest.mark.parametrize(
    ("wrong_before", "wrong_last", "wrong_plain", "is_warned"),
    [
        (2, 2, 40, True),  # it has the last rows by heart, as those before
        (2, 40, 40, False),  # it has not
        (40, 40, 40, False),  # it has learned nothing by heart, so that nothing is known
        (2, 2, 2, False),  # all is easy
    ],
)
def test_rows_that_the_base_seems_to_know_are_warned_of(
    wrong_before, wrong_last, wrong_plain, is_warned
):
    labels = np.tile(["a", "b"], 300)
    last = np.arange(600) >= 360

    def answers(*, share_before, share_last):
        percent = np.arange(600) // 2 * 37 % 100  # spread over rows of both classes
        return np.where(percent < np.where(last, share_last, share_before), "c", labels)

    base = answers(share_before=wrong_before, share_last=wrong_last)
    newer = newer_rows(labels, lambda rows: base[rows], seed=0, saw=None)
    said = answers(share_before=0, share_last=wrong_plain)[newer.held]
    plain = measured(Control(), said, newer.labels, newer.before(newer.held))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_if_unordered(labels, newer, plain)
    assert [one.category for one in found] == [RemarkWarning] * is_warned
    assert all("give base_saw, true for rows that" in str(one.message) for one in found)


def noisy(rng):
    """Labels of which some can only be learned by heart."""
    x, y = moving(0, rng)
    return x, np.where(rng.random(N) < 0.2, 1 - y, y)


BY_HEART = RandomForestClassifier(50, random_state=0)
GENERAL = LogisticRegression()


@pytest.mark.parametrize(
    ("base", "n_seen", "is_warned"),
    [(BY_HEART, N, True), (BY_HEART, 360, False), (GENERAL, 360, False)],
)
def test_that_the_base_knows_the_last_rows_is_warned_of_where_rows_to_test_on_are_given(
    base, n_seen, is_warned, rng
):
    x, y = noisy(rng)
    fitted = clone(base).fit(x[:n_seen], y[:n_seen])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        upgrade(fitted, x, y, X_test=x[:50], y_test=y[:50], model="mlp", random_state=1)
    said = [one for one in found if "as if rows were in order of time" in str(one.message)]
    assert len(said) == is_warned


def test_rows_that_weigh_nothing_are_no_witnesses(outdated):
    """Most of the newer rows have labels by the old rule, which are not trusted."""
    base, x, y = outdated
    new, is_trusted = np.arange(N) > N // 2, np.arange(N) % 3 == 0
    given = np.where(new & ~is_trusted, base.predict(x), y)
    rows = {"X_test": x[new], "y_test": y[new], "random_state": 1}
    assert upgrade(base, x, given, **rows).method == FROM_WEIGHTS
    with pytest.warns(RemarkWarning, match="outdated"):
        found = upgrade(base, x, given, sample_weight=np.where(new, is_trusted, 0.1), **rows)
    assert found.method == RECIPES[-1]


def test_a_loss_counts_by_its_rows_weights():
    labels = np.zeros(400, int)
    weights = np.where(np.arange(400) % 2, 1.9, 0.1).astype(np.float32)
    newer = newer_rows(labels, lambda rows: labels[rows], seed=0, saw=None, weights=weights)
    assert newer.weights.mean() == pytest.approx(1)
    is_light = newer.weights < 1
    assert 10 < is_light.sum() < len(newer.held)

    def with_wrong(rows):
        def predict(recipe, newer):
            answers = np.zeros(len(newer.held), int)
            answers[np.flatnonzero(rows)[:10]] = recipe != RECIPES[-1]
            return answers

        return predict

    recipe, tried = as_accurate(RECIPES, newer, with_wrong(is_light))
    assert recipe == RECIPES[0]
    share = newer.weights[is_light][:10].sum() / newer.weights.sum()
    assert tried[1].accuracy == pytest.approx(1 - share)
    assert tried[1].bad_flips == tried[1].churn == pytest.approx(share)
    with pytest.warns(RemarkWarning, match="outdated"):
        assert as_accurate(RECIPES, newer, with_wrong(~is_light))[0] == RECIPES[-1]


def test_a_dataset_whose_order_is_unknown_is_warned_of_too(rng):
    x, y = noisy(rng)
    data = Dataset("noisy", x[:500], y[:500], x[500:], y[500:], ("0", "1"))
    base = clone(BY_HEART).fit(x[:500], data.labels[y[:500]])
    with pytest.warns(RemarkWarning, match="as if rows were in order of time"):
        upgrade(base, data, model="mlp", random_state=1)
