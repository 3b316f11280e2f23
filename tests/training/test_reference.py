"""The reference of an estimator: what an anchored model is held to."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import toys
from unchurn.core.errors import InputError
from unchurn.methods import Anchor, BiTempered

X, Y = toys.blobs(120, distance=2)
NAMES = np.array(["eel", "cat", "dog"])[Y]


def test_anchored_to_production(tmp_path):
    """With all weight on the live model a release repeats it, even where the labels disagree."""
    production = toys.classifier(epochs=20, random_state=1).fit(X, np.roll(NAMES, 1))
    production.save(tmp_path / "live")
    anchor = {"method": Anchor(a=1.0), "epochs": 20}
    anchored = toys.classifier(**anchor, reference=tmp_path / "live").fit(X, NAMES)
    by_object = toys.classifier(**anchor, reference=production).fit(X, NAMES)
    assert anchored.predict_proba(X).tobytes() == by_object.predict_proba(X).tobytes()
    plain = toys.classifier(epochs=20).fit(X, NAMES)
    live = production.predict(X)
    assert anchored.score(X, live) > 0.85 > 0.6 > plain.score(X, live)


def test_logits_and_probabilities_of_any_model_may_be_the_reference():
    production = toys.classifier(random_state=1).fit(X, Y)
    anchor = toys.classifier(method="anchor")
    by_logits = anchor.fit(X, Y, reference_logits=production.decision_function(X)).predict_proba(X)
    by_probability = anchor.fit(X, Y, reference_probabilities=production.predict_proba(X))
    np.testing.assert_allclose(by_probability.predict_proba(X), by_logits, atol=1e-4)


def test_a_reference_that_knows_other_classes_is_refused():
    production = toys.classifier().fit(X, NAMES)
    with pytest.raises(InputError, match="the reference knows the classes"):
        toys.classifier(method="anchor", reference=production).fit(X, Y)


def test_a_reference_stays_fitted_through_clone_and_cross_validation():
    production = toys.classifier(random_state=1).fit(X, Y)
    anchored = toys.classifier(method="anchor", reference=production)
    assert clone(anchored).reference is production
    assert cross_val_score(anchored, X, Y, cv=2, error_score="raise").min() > 0.3


def test_a_reference_with_probabilities_of_its_own_is_anchored_to_those():
    production = toys.classifier(method=BiTempered(t1=0.5, t2=4.0)).fit(X, Y)
    by_model = toys.classifier(method="anchor", reference=production).fit(X, Y)
    by_probability = toys.classifier(method="anchor").fit(
        X, Y, reference_probabilities=production.predict_proba(X)
    )
    np.testing.assert_allclose(
        by_model.predict_proba(X), by_probability.predict_proba(X), atol=1e-4
    )


def test_a_binary_margin_may_be_the_reference():
    production = toys.classifier(random_state=1).fit(X, Y == 1)
    by_margin = toys.classifier(method="anchor").fit(
        X, Y == 1, reference_logits=production.decision_function(X)
    )
    by_model = toys.classifier(method="anchor", reference=production).fit(X, Y == 1)
    np.testing.assert_allclose(by_margin.predict_proba(X), by_model.predict_proba(X), atol=1e-3)


def test_a_reference_that_is_not_asked_for_is_not_looked_at():
    with pytest.warns(UserWarning, match="reference is not used: control looks at none"):
        toys.classifier(method="control", reference="gone").fit(X, Y)
    with pytest.warns(UserWarning, match=r"not used: anchor\(a=0\) looks at none; anchor, rcp"):
        toys.classifier(method="anchor(a=0)", reference="gone").fit(X, Y)
    other = toys.classifier().fit(X[:, :2], Y)
    with pytest.raises(InputError, match=r"the reference takes inputs of \(2,\), not \(4,\)"):
        toys.classifier(method="anchor", reference=other).fit(X, Y)


def test_why_training_cannot_start_from_a_references_weights_is_said():
    production = toys.classifier(random_state=1).fit(X, NAMES)
    frame = pd.DataFrame(X, columns=[*"abcd"])
    of_frame = toys.classifier().fit(frame, NAMES)
    for reference, x, y, why in (
        (production, X, np.where(np.arange(120) < 9, "fox", NAMES), "it does not know class 'fox'"),
        (production, X, np.where(NAMES == "eel", "cat", NAMES), "y has no class 'eel'"),
        (toys.classifier(method="ensemble(m=2)").fit(X, NAMES), X, NAMES, "it is several networks"),
        (of_frame, frame[[*"dcba"]], NAMES, "it reads X otherwise"),
    ):
        message = f"the reference's weights: {why}: use a method without warm_start or project"
        with pytest.raises(InputError, match=message):
            toys.classifier(method="warm_start", reference=reference).fit(x, y)


def test_unlabelled_rows_are_taken_by_the_names_of_their_columns():
    frame = pd.DataFrame(X, columns=[*"abcd"])
    model = toys.classifier(method="anchor", reference=toys.classifier().fit(frame, Y))
    same = clone(model).fit(frame, Y, X_unlabelled=frame[:50]).predict_proba(frame)
    turned = clone(model).fit(frame, Y, X_unlabelled=frame[[*"dcba"]][:50]).predict_proba(frame)
    np.testing.assert_allclose(turned, same, atol=1e-5)
    with pytest.raises(InputError, match=r"^X_unlabelled: .* yet now missing: - d"):
        clone(model).fit(frame, Y, X_unlabelled=frame[[*"abc"]])
