"""Boosted trees are in production, and a network is to replace them: it learns from them, too.

Whatever has `predict_proba` and `classes_` can be the model before. By itself `upgrade` would train
trees again; `model="mlp"` asks for a network. Networks are trained anew and by `upgrade`, whose
labels lean towards what the trees say; means of three seeds.
"""

import lightgbm
import numpy as np

import unchurn

data = unchurn.load("phishing")
x, y = data.x_train[:4000], data.y_train[:4000]
trees = lightgbm.LGBMClassifier(n_estimators=60, n_jobs=1, verbose=-1).fit(x[:2000], y[:2000])

for name, method in (("trained anew", "control"), ("upgraded", None)):
    found = []
    for seed in range(3):
        successor = unchurn.upgrade(
            trees, x, y, X_test=data.x_test, y_test=data.y_test, model="mlp", method=method,
            random_state=seed,
        )  # fmt: skip
        estimates = successor.comparison.estimates
        found.append([estimates[key].value for key in ("accuracy_candidate", "bad_flips")])
    accuracy, bad_flips = np.mean(found, axis=0)
    print(f"{name}: accuracy {accuracy:.2%}, bad flips {bad_flips:.2%}")
