"""StableClassifier() beside plain training: as accurate, and fewer predictions flip.

python steady_by_default.py [digits | phishing | table.csv column]
"""

import sys

from sklearn.base import clone

import unchurn

name, *target = sys.argv[1:] or ["digits"]
data = unchurn.load_csv(name, target[0]) if target else unchurn.load(name)
plain, default = unchurn.StableClassifier(method="control"), unchurn.StableClassifier()

for label, model in {"plain training": plain, "the default": default}.items():
    runs = [clone(model).set_params(random_state=seed).fit(data) for seed in range(5)]
    truth = [data.classes[number] for number in data.y_test]
    found = unchurn.churn_summary([run.predict(data.x_test) for run in runs], truth)
    print(f"{label}: {found.accuracy.mean:.2%} accurate, {found.churn.mean:.2%} churn")
