"""Boosted trees in a study: any estimator with scikit-learn's interface takes part, without torch.

On these data three boosters averaged churn less than one. Smoothed labels, which trees see as
weighted rows, do not help them: measure before you choose.
"""

import unchurn

result = unchurn.bench(
    "digits",
    ["control", "label_smoothing(a=0.1)", "ensemble(m=3)"],
    model="lightgbm",
    model_args={
        "n_estimators": 50,
        "num_leaves": 7,
        "subsample": 0.5,  # what makes retrainings differ
        "subsample_freq": 1,
        "verbosity": -1,
    },
)
print(result)
