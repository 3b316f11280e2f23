"""StableClassifier() beside plain training: about as accurate, and fewer predictions flip.

python steady_by_default.py [table.csv column]    adds a table of your own, and what to predict
"""

import sys

from sklearn.base import clone

import unchurn

own = [unchurn.load_csv(*sys.argv[1:3])] if sys.argv[1:] else []
plain, default = unchurn.StableClassifier(method="control"), unchurn.StableClassifier()

for data in [unchurn.load("phishing"), unchurn.load("digits"), *own]:
    truth = [data.classes[number] for number in data.y_test]
    for label, model in {"plain training": plain, "the default": default}.items():
        runs = [clone(model).set_params(random_state=seed).fit(data) for seed in range(5)]
        found = unchurn.churn_summary([run.predict(data.x_test) for run in runs], truth)
        rates = f"{found.accuracy.mean:.2%} accurate, {found.churn.mean:.2%} churn"
        print(f"{data.name:<10}{label:<16}{rates}")
