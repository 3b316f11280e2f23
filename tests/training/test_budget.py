"""A method's setting by a budget: held against a loop over the settings, written out."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import toys
from unchurn import StableClassifier, load_table, upgrade
from unchurn.core.errors import InputError
from unchurn.methods import Anchor, Control, Ema, KnnLS, make_method
from unchurn.methods.registry import FROM_WEIGHTS, written
from unchurn.training.estimator import budget as module
from unchurn.training.estimator.budget import hold_out, settings_of
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(300, distance=1.5)
NAMES = np.array(["eel", "cat", "dog"])[Y]
X_TEST, Y_TEST = toys.blobs(200, distance=1.5, seed=1)
# A network of one's own, whose inputs are not scaled: so all rows and some are taken alike.
SHORT = {"module": mlp, "epochs": 6, "batch_size": 16, "random_state": 3}
KEPT, HELD = hold_out(np.unique(NAMES, return_inverse=True)[1], 3)
ANCHORS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1.0)
# Most upgrades here are judged on rows that the base may have seen; one test asks for the warning.
pytestmark = pytest.mark.filterwarnings("ignore:the base may have seen")


@pytest.fixture(scope="module")
def base():
    return LogisticRegression().fit(X[:60], NAMES[:60])


@pytest.fixture(scope="module")
def by_hand(base):
    """Accuracy, bad flips and churn of every anchored model, each trained on its own."""
    found = {}
    before, truth = base.predict(X[HELD]), NAMES[HELD]
    for a in ANCHORS:
        model = StableClassifier(method=Anchor(a=a), reference=base, **SHORT)
        after = model.fit(X[KEPT], NAMES[KEPT]).predict(X[HELD])
        bad = np.mean((before == truth) & (after != truth))
        found[a] = np.mean(after == truth), bad, np.mean(after != before)
    return found


def test_a_fifth_is_held_out_of_every_class():
    assert len(HELD) == 60
    assert sorted([*KEPT, *HELD]) == list(range(300))
    for kind in np.unique(NAMES):
        assert abs(np.sum(NAMES[HELD] == kind) - np.sum(kind == NAMES) / 5) < 1
    assert (hold_out(Y, 3)[1] == hold_out(Y, 3)[1]).all()
    assert (hold_out(Y, 4)[1] != hold_out(Y, 3)[1]).any()
    lonely = np.array([0] * 9 + [1])  # a class of one row cannot be in both parts
    assert [len(part) for part in hold_out(lonely, 0)] == [8, 2]
    assert [len(part) for part in hold_out(np.arange(10), 0)] == [8, 2]


def test_rows_that_weigh_nothing_are_not_held_out():
    weights = (np.arange(300) % 3 > 0).astype(np.float32)
    assert (weights[hold_out(Y, 3, weights=weights)[1]] == 1).all()
    with pytest.raises(InputError, match="above 0 for one row alone"):
        hold_out(Y, 3, weights=(np.arange(300) == 7).astype(np.float32))
    saw = weights > 0  # the base has seen all others: better these than none
    assert (weights[hold_out(Y, 3, saw, weights)[1]] == 1).all()


def test_what_came_last_is_held_out_where_nobody_says_what_the_reference_saw():
    """Of rows that it knows by heart it has too much right; also where rows are sorted by class."""
    for numbers in (np.arange(100) % 2, np.sort(np.arange(100) % 2)):
        held = hold_out(numbers, 0)[1]
        for number in (0, 1):
            rows = np.flatnonzero(numbers == number)
            assert len(np.intersect1d(held, rows)) == 10
            assert set(held) & set(rows) <= set(rows[30:])


def test_a_budget_is_not_judged_on_what_trees_know_by_heart(rng):
    x = rng.normal(size=(600, 5)).astype(np.float32)
    y = (x[:, 0] + 0.8 * rng.normal(size=600) > 0).astype(int)
    trees = RandomForestClassifier(20, random_state=0).fit(x[:300], y[:300])
    assert trees.score(x[:300], y[:300]) > 0.97  # by heart: what is new to them tells more
    unknown, known = (
        upgrade(
            trees, x, y, X_test=x, y_test=y, method=Anchor(a=0.5), max_bad_flips=1, **SHORT, **saw
        ).tried[0].bad_flips
        for saw in ({}, {"base_saw": np.arange(600) < 300})
    )  # fmt: skip
    assert unknown == pytest.approx(known, abs=0.06)


@pytest.mark.parametrize("name", ["max_bad_flips", "max_churn"])
def test_the_most_accurate_setting_that_keeps_the_budget_is_taken(base, by_hand, name):
    """At several limits, as a loop over all settings finds it."""
    column = 1 if name == "max_bad_flips" else 2
    measured = sorted({figures[column] for figures in by_hand.values()})
    assert len(measured) > 2  # else there is nothing to choose
    for limit in (measured[0], measured[len(measured) // 2], 1.0):
        kept = [a for a in ANCHORS if by_hand[a][column] <= limit + 1e-9]
        best = max(kept, key=lambda a: (round(by_hand[a][0], 9), -by_hand[a][2], a))
        model = StableClassifier(method="anchor", reference=base, **SHORT, **{name: limit})
        model.fit(X, NAMES)
        assert model.method_ == Anchor(a=best)
        for one in model.tried_:
            expected = by_hand[one.method.a]
            assert (one.accuracy, one.bad_flips, one.churn) == pytest.approx(expected)
        assert [one.method.a for one in model.tried_] == list(ANCHORS)
        alone = StableClassifier(method=Anchor(a=best), reference=base, **SHORT).fit(X, NAMES)
        assert model.predict_proba(X_TEST).tobytes() == alone.predict_proba(X_TEST).tobytes()
        assert model.method == "anchor"  # what was asked for stays


def test_where_none_keeps_it_the_nearest_is_taken_and_said(base, by_hand):
    nearest = min(ANCHORS, key=lambda a: (by_hand[a][2], -by_hand[a][0]))
    least = by_hand[nearest][2]
    assert least > 0
    model = StableClassifier(method="anchor", reference=base, max_churn=0, **SHORT)
    own = written(Anchor(a=nearest))
    message = (
        rf"no setting of anchor keeps max_churn=0: {re.escape(own)} comes nearest, "
        rf"{100 * least:.2f} points above it on 60 rows held out"
    )
    with pytest.warns(RemarkWarning, match=message) as warned:
        model.fit(X, NAMES)
    assert warned[0].filename == __file__
    assert model.method_.a == nearest
    assert "does not look at the reference" not in str(warned[0].message)


def test_a_method_that_cannot_heed_the_budget_is_told_from_one_that_can(base):
    model = StableClassifier(reference=base, max_churn=0, **SHORT)
    with pytest.warns(
        RemarkWarning, match=r"It does not look at the reference: anchor\+safe_ema does\."
    ):
        model.fit(X, NAMES)


def test_what_a_budget_costs_in_accuracy_is_said(rng):
    """A rule that has turned around: whoever keeps to the old answers is wrong."""
    x = rng.normal(size=(600, 2)).astype(np.float32)
    old = (x[:, 0] > 0).astype(int)
    turned = LogisticRegression().fit(x, old)
    model = StableClassifier(method="anchor", reference=turned, max_churn=0.05, **SHORT)
    message = r"max_churn=0.05 seems to cost accuracy: on 120 rows held out, anchor.* has "
    with pytest.warns(RemarkWarning, match=message):
        model.fit(x, 1 - old)
    free = max(model.tried_, key=lambda one: one.accuracy)
    kept = next(one for one in model.tried_ if one.method == model.method_)
    assert free.accuracy > kept.accuracy + 0.5
    same = StableClassifier(method="anchor", reference=turned, max_churn=0.05, **SHORT)
    same.fit(x, old)  # nothing has changed: nothing is said


def test_of_what_held_out_rows_do_not_tell_apart_the_nearest_to_the_base_is_taken():
    """Clouds far apart: every setting is right everywhere; the strongest lean is the nearest."""
    x, y = toys.blobs(200, distance=8)
    sure = LogisticRegression().fit(x, y)
    model = StableClassifier(method="anchor", reference=sure, max_bad_flips=0, **SHORT).fit(x, y)
    assert {(one.accuracy, one.churn) for one in model.tried_} == {(1.0, 0.0)}
    assert model.method_.a == max(ANCHORS)
    nearest = min(model.tried_, key=lambda one: one.distance)
    assert nearest.method == model.method_
    assert nearest.distance > 0


def test_what_is_written_stays_and_an_object_is_one_setting():
    assert settings_of("anchor(a=0.3)+ema", 100) == [
        make_method(f"anchor(a=0.3)+ema(decay={decay})") for decay in (0.99, 0.999)
    ]
    assert settings_of(KnnLS(k=3), 100) == [KnnLS(k=3)]
    assert settings_of("control", 100) == [Control()]
    assert {one.n_warm for one in settings_of("codistill_kl(a=0.1)", 1000)} <= {
        *range(1, 500)
    }  # suited to a training of so many steps


def test_methods_that_look_at_no_reference_are_held_against_it_all_the_same(base):
    """By what it says as a model, as probabilities or as logits; averages are one training."""
    said = base.predict_proba(X)
    by_model = StableClassifier(method="ema", reference=base, max_churn=1, **SHORT).fit(X, NAMES)
    plain = StableClassifier(method="ema", max_churn=1, **SHORT)
    by_probability = plain.fit(X, NAMES, reference_probabilities=said)
    assert [one.method for one in by_model.tried_] == [Ema(decay=0.99), Ema(decay=0.999)]
    assert by_probability.tried_ == by_model.tried_
    assert plain.fit(X, NAMES, reference_logits=np.log(said)).tried_ == by_model.tried_
    for one in by_model.tried_:
        alone = StableClassifier(method=one.method, **SHORT).fit(X[KEPT], NAMES[KEPT])
        assert one.churn == np.mean(alone.predict(X[HELD]) != base.predict(X[HELD]))


def test_what_cannot_be_trained_is_not_taken(base):
    """240 rows have no 500 neighbours."""
    model = StableClassifier(method="knn_ls(a=0.5, b=0)", reference=base, max_churn=1, **SHORT)
    model.fit(X, NAMES)
    failed = {one.method.k: one.failure for one in model.tried_}
    assert [k for k, failure in failed.items() if failure] == [500]
    assert "k must be from 1 to the number of points, 240" in failed[500]
    assert model.method_.k != 500
    with pytest.raises(InputError, match="number of points, 240, not 250"):
        StableClassifier(method=KnnLS(k=250), reference=base, max_churn=1, **SHORT).fit(X, NAMES)


def test_unlabelled_rows_are_trained_on_and_not_measured_on(base):
    model = StableClassifier(method="anchor(a=1)", reference=base, max_churn=1, **SHORT)
    (one,) = model.fit(X[:200], NAMES[:200], X_unlabelled=X[200:]).tried_
    kept, held = hold_out(np.unique(NAMES[:200], return_inverse=True)[1], 3)
    alone = StableClassifier(method="anchor(a=1)", reference=base, **SHORT)
    alone.fit(X[:200][kept], NAMES[:200][kept], X_unlabelled=X[200:])
    assert one.churn == np.mean(alone.predict(X[:200][held]) != base.predict(X[:200][held]))


def test_without_a_budget_the_method_is_itself_and_nothing_is_tried():
    model = StableClassifier(method="anchor", **SHORT)
    assert not hasattr(model, "method_")
    model.fit(X, NAMES)
    assert (model.method_, model.tried_) == (Anchor(), ())


def test_a_saved_model_keeps_the_chosen_method(base, tmp_path):
    model = StableClassifier(method="anchor", reference=base, max_bad_flips=0.05, **SHORT)
    model.fit(X, NAMES).save(tmp_path / "model")
    loaded = StableClassifier.load(tmp_path / "model", module=mlp)
    assert loaded.method == loaded.method_ == model.method_
    assert loaded.tried_ == ()
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert clone(model).max_bad_flips == 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_churn": 0.1}, "max_churn is of changes to the model before: give reference="),
        ({"max_churn": 1.1}, "max_churn must be from 0 to 1, not 1.1"),
        ({"max_bad_flips": -1}, "max_bad_flips must be from 0 to 1, not -1"),
        ({"max_churn": 0.1, "method": "stay"}, "stay serves two models"),
    ],
)
def test_a_budget_that_cannot_be_is_named(options, message):
    with pytest.raises(InputError, match=message):
        StableClassifier(**{"method": "anchor", **SHORT, **options}).fit(X, NAMES)


def test_an_upgrade_within_a_budget_searches_how_much_to_anchor():
    wrong = np.where(np.arange(100) % 3, NAMES[:100], "eel")  # a base that is worth replacing
    first = StableClassifier(method="control", **SHORT).fit(X[:100], wrong)
    rows = {"X_test": X_TEST, "y_test": np.array(["eel", "cat", "dog"])[Y_TEST], "random_state": 0}
    free = upgrade(first, X, NAMES, max_churn=1, **rows)
    assert make_method(free.method) == free.model.method_
    assert len(free.tried) == 18  # as much as it is anchored, and averaged
    limit = min(one.churn for one in free.tried)
    tight = upgrade(first, X, NAMES, max_churn=limit, **rows)
    anchors = [
        next(part.a for part in make_method(one.method).methods if isinstance(part, Anchor))
        for one in (tight, free)
    ]
    assert anchors[0] > anchors[1]
    moved = [one.comparison.estimates["churn"].value for one in (tight, free)]
    assert moved[0] < moved[1]
    given = upgrade(first, X, NAMES, method="safe_ema", max_churn=1, **rows)
    assert {one.method.decay for one in given.model.tried_} == {0.99, 0.999}
    saw = np.arange(len(X)) < 100
    assert upgrade(first, X, NAMES, base_saw=saw, **rows).method == FROM_WEIGHTS


def test_a_budget_is_of_weights(base):
    """Settings are measured on what the held-out rows weigh."""
    weights = np.where(NAMES == "eel", 3.0, 0.5)
    model = StableClassifier(method="anchor(a=0.5)", reference=base, max_bad_flips=1, **SHORT)
    (tried,) = model.fit(X, NAMES, weights).tried_
    again = StableClassifier(method=Anchor(a=0.5), reference=base, **SHORT)
    after = again.fit(X[KEPT], NAMES[KEPT], weights[KEPT]).predict(X[HELD])
    right = np.average(after == NAMES[HELD], weights=weights[HELD])
    assert tried.accuracy == pytest.approx(right)
    assert tried.churn == pytest.approx(
        np.average(after != base.predict(X[HELD]), weights=weights[HELD])
    )


def test_a_table_is_held_out_by_its_order(monkeypatch):
    """Its rows were shuffled: those that came last are new to the reference."""
    data = load_table(toys.frame(300), "y", aside="row")
    held = []
    original = module.hold_out
    monkeypatch.setattr(
        module, "hold_out", lambda *given: held.append(original(*given)) or held[-1]
    )
    reference = toys.classifier(epochs=1).fit(data)
    toys.classifier(method="anchor(a=0.5)", epochs=1, reference=reference, max_bad_flips=1).fit(
        data
    )
    numbers = np.array([int(row[1:]) for row in data.aside["row"]])[held[0][1]]
    assert numbers.min() > 150  # the last two fifths of each class
