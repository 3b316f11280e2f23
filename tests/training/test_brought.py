"""Networks and inputs that users bring: what strangers stumbled over, kept from coming back."""

import numpy as np
import pandas as pd
import pytest
from torch import nn

import toys
from unchurn import StableClassifier
from unchurn.core.errors import InputError
from unchurn.training.learners.base import RemarkWarning

X, Y = toys.blobs(120, distance=2)
NAMES = np.array(["eel", "cat", "dog"])[Y]


def test_a_last_row_alone_is_no_batch_for_what_normalises_over_batches():
    def normalising(shape, n_classes):
        return nn.Sequential(nn.Linear(shape[0], 8), nn.BatchNorm1d(8), nn.Linear(8, n_classes))

    rows = np.resize(X, (65, X.shape[1]))
    model = StableClassifier(normalising, epochs=2, batch_size=32, random_state=0)
    model.fit(rows, np.resize(Y, 65))
    assert np.isfinite(model.predict_proba(rows)).all()


def test_large_inputs_of_a_network_of_ones_own_are_warned_of():
    def plain(shape, n_classes):
        return nn.Linear(shape[0], n_classes)

    with pytest.warns(RemarkWarning, match=r"numbers up to .*: scale them before"):
        StableClassifier(plain, epochs=1, random_state=0).fit(10_000 * X, Y)


def test_gaps_of_an_array_are_named_with_what_takes_them():
    gaps = X.copy()
    gaps[3, 0] = np.nan
    with pytest.raises(InputError, match=r"contains NaN: give it as a frame, such as pd.DataFrame"):
        StableClassifier().fit(gaps, Y)


def test_a_method_is_printed_as_one_writes_it():
    model = StableClassifier(method="label_smoothing(a=0.2)+ema", epochs=1, random_state=0)
    assert str(model.fit(X, Y).method_) == "label_smoothing(a=0.2)+ema"


def test_a_saved_network_of_ones_own_is_the_reference_of_another(tmp_path):
    def own(shape, n_classes):
        return nn.Linear(shape[0], n_classes)

    StableClassifier(own, "control", epochs=1, random_state=0).fit(X, Y).save(tmp_path / "own")
    model = StableClassifier(
        own, "warm_start+anchor", reference=tmp_path / "own", epochs=1, random_state=1
    )
    model.fit(X, Y)
    with pytest.raises(InputError, match="holds a network of your own: give its module="):
        StableClassifier("mlp", "anchor", reference=tmp_path / "own").fit(X, Y)
    base = StableClassifier("mlp", "control", epochs=1, random_state=0).fit(X, Y)
    base.save(tmp_path / "ours")  # which needs no module, and does not take this one
    other = StableClassifier(own, "anchor", reference=tmp_path / "ours", epochs=1)
    assert set(other.fit(X, Y).predict(X)) <= set(Y)


def test_labels_among_the_features_are_warned_of():
    frame = pd.DataFrame({"a": X[:, 0], "plan": NAMES})
    with pytest.warns(RemarkWarning, match="column 'plan' of X is y itself: drop it"):
        StableClassifier(epochs=1, random_state=0).fit(frame, NAMES)
    StableClassifier(epochs=1, random_state=0).fit(frame.assign(plan=NAMES[::-1]), NAMES)


def test_what_makes_no_network_is_named():
    with pytest.raises(InputError, match=r"module gives int, not a torch\.nn\.Module"):
        StableClassifier(lambda shape, n_classes: 3, epochs=1).fit(X, Y)


def test_texts_that_tell_nearly_all_rows_apart_are_warned_of():
    frame = pd.DataFrame({"a": X[:, 0], "note": [f"n{i}" for i in range(len(X))]})
    with pytest.warns(RemarkWarning, match="column 'note' has another text in every row: if it is"):
        StableClassifier(epochs=1, random_state=0).fit(frame, NAMES)


def test_booleans_among_the_features_are_warned_of_where_they_are_the_labels():
    frame = pd.DataFrame({"a": X[:, 0], "paid": NAMES[0] == NAMES})
    with pytest.warns(RemarkWarning, match="column 'paid' of X is y itself: drop it"):
        StableClassifier(epochs=1, random_state=0).fit(frame, NAMES[0] == NAMES)
