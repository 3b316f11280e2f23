"""A given base of two classes: one class's probability or logit is enough."""

import numpy as np
import polars as pl
import pytest

from bases import DATA, TABLE, TREND, X
from unchurn import load_table
from unchurn.study.api import make_experiment
from unchurn.study.scenarios import Upgrade

P = TREND.predict_proba(X)[np.argsort(DATA.order)][:, 1]  # of class b, if c were b
TWO = load_table(TABLE.with_columns(y=pl.col("y").replace("c", "b")), "y", aside="row")
ROW = TABLE["row"]


@pytest.mark.parametrize(
    "alone",
    [
        P,
        np.log(P / (1 - P)),
        pl.DataFrame({"row": ROW, "prob_b": P}).reverse(),
        pl.DataFrame({"row": ROW, "prob_a": 1 - P}),
        pl.DataFrame({"row": ROW, "logit_b": np.log(P / (1 - P))}),
        pl.DataFrame({"row": ROW, "p_b": P, "prediction": np.where(P > 0.5, "b", "a")}),
    ],
)
def test_of_two_classes_one_s_probability_or_logit_is_enough(alone):
    both = make_experiment(TWO, "control", scenario=Upgrade(base=np.stack([1 - P, P], axis=1)))
    found = make_experiment(TWO, "control", scenario=Upgrade(base=alone))
    for part, expected in both.scenario.given.probabilities.items():
        np.testing.assert_allclose(found.scenario.given.probabilities[part], expected, atol=1e-6)
    assert any("is taken for class" in note for note in found.data.notes)


@pytest.mark.parametrize(
    "other", [{"p_b": (ROW.str.len_chars() > 3).cast(float)}, {"p_b": -P}, {"logit_b": P}]
)
def test_columns_for_both_classes_are_not_completed(other):
    """Whatever else begins likewise, such as a feature, is no class's probability."""
    z = np.log(P / (1 - P))
    whole = {"logit_a": -z / 2, "logit_b": z / 2} if "p_b" in other else {"p_a": 1 - P, "p_b": P}
    base = pl.DataFrame({"row": ROW, **whole, **other})
    found = make_experiment(TWO, "control", scenario=Upgrade(base=base))
    both = make_experiment(TWO, "control", scenario=Upgrade(base=np.stack([1 - P, P], axis=1)))
    for part, expected in both.scenario.given.probabilities.items():
        np.testing.assert_allclose(found.scenario.given.probabilities[part], expected, atol=1e-6)
    assert not any("is taken for class" in note for note in found.data.notes)
