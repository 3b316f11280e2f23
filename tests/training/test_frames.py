"""Frames as people have them, given to `StableClassifier` and `upgrade`."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toys
from unchurn import StableClassifier, load_table, upgrade
from unchurn.core.errors import InputError

X, Y = toys.blobs(120, n_classes=2)
FEW = {"epochs": 2, "random_state": 0}
# Upgrades here are judged on rows that the base may have seen; another file asks for the warning.
pytestmark = pytest.mark.filterwarnings("ignore:the base may have seen")


def model(**options):
    return StableClassifier(**({"method": "control"} | FEW | options))


def numbers(**more):
    """A frame of two numbers, and more columns."""
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **more})


def mixed(**more):
    """The same with text."""
    return numbers(place=np.array(["north", "east"])[(X[:, 2] > 0).astype(int)], **more)


def pipeline():
    """A model in production that takes two columns of such frames, and ignores all others."""
    columns = make_column_transformer((StandardScaler(), ["a", "b"]))
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.parametrize("frame", [numbers(), mixed()], ids=["numbers", "mixed"])
def test_two_columns_of_one_name_are_named(frame):
    message = "2 columns are called 'a': rename or drop some"
    fitted, base = model().fit(frame, Y), pipeline().fit(frame, Y)
    double = frame.copy()
    double.insert(1, "a", 1.0, allow_duplicates=True)
    for call in (
        lambda: model().fit(double, Y),
        lambda: fitted.predict(double),
        lambda: fitted.score(double, Y),
        lambda: upgrade(base, double, Y, **FEW),
        lambda: upgrade(base, double.assign(y=Y), target="y", **FEW),
        lambda: upgrade(fitted, double, Y, X_test=frame, y_test=Y, **FEW),
        lambda: load_table(double.assign(y=Y), "y"),
    ):
        with pytest.raises(InputError, match=message):
            call()
    with pytest.raises(InputError, match="2 columns are called '1'"):
        model().fit(pd.DataFrame({1: X[:, 0], "1": X[:, 1]}), Y)
    twice = pd.concat([frame, pd.DataFrame({"y": Y, "z": Y}).rename(columns={"z": "y"})], axis=1)
    with pytest.raises(InputError, match="2 columns are called 'y'"):
        upgrade(base, twice, target="y", **FEW)
