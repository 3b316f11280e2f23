"""A model went into production last month, and new rows have come: its successor breaks less.

Both successors train on all rows. One starts anew; the other is trained by `upgrade`, which starts
from the production model's weights and leans towards what it says. The gate decides on both.
"""

import tempfile
from pathlib import Path

import unchurn

data = unchurn.load("digits")
old, labels = data.x_train[:600], data.y_train[:600]

with tempfile.TemporaryDirectory() as folder:
    production = Path(folder) / "production.safetensors"
    unchurn.StableClassifier(random_state=1).fit(old, labels).save(production)

    for name, method in (("trained anew", "control"), ("upgraded", None)):
        successor = unchurn.upgrade(
            production, data.x_train, data.y_train, X_test=data.x_test, y_test=data.y_test,
            method=method, random_state=2,
        )  # fmt: skip
        found = successor.comparison.estimates
        verdict = successor.comparison.gate({"max_bad_flips": 0.01, "max_accuracy_loss": 0.005})
        print(
            f"{name}: accuracy {found['accuracy_base'].value:.2%} → "
            f"{found['accuracy_candidate'].value:.2%}, churn {found['churn'].value:.2%}, "
            f"bad flips {found['bad_flips'].value:.2%}: {verdict.decision}"
        )
