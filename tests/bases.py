"""A table, and what a model of another framework says of its rows: bases that tests share."""

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

import toys
from unchurn import load_table

TABLE = toys.frame(240, distance=1)
DATA = load_table(TABLE, "y", aside="row")
BATCHES = {"epochs": 2, "batch_size": 16}
SHORT = {**BATCHES, "workers": 1, "validation": False}
# A model of another framework, which saw some of the training rows.
TREND = LogisticRegression().fit(DATA.x_train[:90], np.array(DATA.classes)[DATA.y_train[:90]])
X = np.concatenate([DATA.x_train, DATA.x_test])  # as the data has its rows
SAID = TREND.predict_proba(X)[np.argsort(DATA.order)]  # as the table has them
BEFORE = TREND.predict(DATA.x_test)
LOGITS = np.log(SAID) + 3


def base_of(result):
    """What the base of the first run predicted, by name."""
    return np.array(DATA.classes)[result.settings[0].runs["test"].base[0]]


def named(matrix, beginning):
    return {f"{beginning}{name}": matrix[:, i] for i, name in enumerate("abc")}


def shuffled(columns):
    frame = pl.DataFrame({"row": TABLE["row"], **columns})
    return frame.sample(fraction=1, shuffle=True, seed=1)
