"""Soft labels for a learner of another kind: gradient-boosted trees by LightGBM.

Boost once, soften the labels towards their neighbours' among the trees' raw scores, boost again by
cross-entropy on the soft labels.
"""

import lightgbm as lgb
import numpy as np
from scipy.special import softmax

import unchurn

PARAMETERS = {
    "num_class": 10,
    "bagging_fraction": 0.5,  # what makes retrainings differ
    "bagging_freq": 1,
    "num_leaves": 7,
    "num_threads": 1,
    "verbosity": -1,
}
ROUNDS = 50

data = unchurn.load("digits")
x_train, x_test = (x.reshape(len(x), -1) for x in (data.x_train, data.x_test))
one_hot = unchurn.smooth_labels(data.y_train, 0, n_classes=10)


def boost(targets: np.ndarray, seed: int) -> lgb.Booster:
    """Trees by cross-entropy on soft targets; their predictions are logits."""

    def objective(logits: np.ndarray, _: lgb.Dataset) -> tuple[np.ndarray, np.ndarray]:
        p = softmax(logits, axis=1)
        return p - targets, p * (1 - p) * 10 / 9  # LightGBM's own curvature for 10 classes

    parameters = {**PARAMETERS, "objective": objective, "seed": seed}
    return lgb.train(parameters, lgb.Dataset(x_train, data.y_train), num_boost_round=ROUNDS)


def boost_softened(seed: int) -> lgb.Booster:
    """k-NN label smoothing: a reference, its logits, soft labels, then the model itself."""
    logits = np.asarray(boost(one_hot, seed=100 + seed).predict(x_train))
    return boost(unchurn.knn_smooth_labels(logits, data.y_train, k=100, a=0.9, b=0.5), seed)


for name, fit in (("plain", lambda seed: boost(one_hot, seed)), ("softened", boost_softened)):
    predictions = [np.argmax(fit(seed).predict(x_test), axis=1) for seed in range(5)]
    print(name, unchurn.churn_summary(predictions, data.y_test))
