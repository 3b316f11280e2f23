"""`upgrade` checks its rows before anything is trained, and names those that are wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import toys
from unchurn import upgrade
from unchurn.core.errors import InputError

X, Y = toys.blobs(240, distance=1.5)
NAMES = np.array(["cat", "dog", "eel"])[Y]


@pytest.mark.parametrize(
    "rows",
    [X[:40, :2], np.where(X[:40] == X[0, 0], np.nan, X[:40]), pd.DataFrame(X[:40, :2]), X[:0]],
    ids=["columns", "gaps", "frame", "none"],
)
@pytest.mark.parametrize("kind", [LogisticRegression, toys.classifier])
def test_test_rows_are_checked_before_anything_is_trained(rows, kind, monkeypatch):
    base = kind().fit(X[:100], Y[:100])
    monkeypatch.setattr("unchurn.training.estimator.fitting.Fitting.fit", None)
    with pytest.raises(InputError, match=r"^X_test"):
        upgrade(base, X, Y, X_test=rows, y_test=Y[: len(rows)], model="mlp", epochs=1)


def test_an_estimator_after_a_network_checks_test_rows_first(monkeypatch):
    base = toys.classifier().fit(X[:100], NAMES[:100])
    monkeypatch.setattr(LogisticRegression, "fit", None)
    rows = np.where(X[:40] == X[0, 0], np.nan, X[:40])
    with pytest.raises(InputError, match=r"^X_test"):
        upgrade(base, X, NAMES, X_test=rows, y_test=NAMES[:40], model=LogisticRegression())


@pytest.mark.parametrize("x", [X[:0], pd.DataFrame(X[:0]), X[:, 0]])
def test_rows_to_train_on_are_not_blamed_on_test_rows(x):
    with pytest.raises((InputError, ValueError), match=r"^(?!.*X_test)"):
        upgrade(
            LogisticRegression().fit(X, Y),
            x,
            Y[: len(x)],
            X_test=X,
            y_test=Y,
            model="mlp",
            epochs=1,
        )


def test_sparse_test_rows_are_refused_by_name():
    given = {"X_test": csr_array(X), "y_test": Y, "model": "mlp", "epochs": 1}
    with pytest.raises(InputError, match=r"^X_test.*[Ss]parse"):
        upgrade(LogisticRegression().fit(X, Y), X, Y, **given)
