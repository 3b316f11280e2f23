"""Three candidates for a release, one policy: a retraining, another architecture, a broken one.

Trains all of them, writes their predictions as a team would, and asks the gate. The 594 test rows
of digits leave differences of a point open, so the data are generated, with 20,000 rows to test on;
and few retrainings leave open how much retraining moves, so there are eight.
"""

from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

import unchurn

POLICY = Path(__file__).with_name("gate.toml")
FOLDER = Path("demo/release_gate")
N_TRAIN = 10_000
CLASSES = np.array(["basic", "plus", "pro"])

x, y = make_classification(
    n_samples=30_000, n_features=20, n_informative=8, n_classes=3, flip_y=0.05, random_state=0
)
x = x.astype(np.float32)
x_train, x_test, y_train, y_test = x[:N_TRAIN], x[N_TRAIN:], y[:N_TRAIN], y[N_TRAIN:]
segments = np.array(["north", "middle", "south"])[np.digitize(x[:, 0], [-1, 1])]


def retrain(seed: int, labels: np.ndarray = y_train) -> unchurn.StableClassifier:
    """Train as production was trained: only the seed is new."""
    return unchurn.StableClassifier(method="control", epochs=5, random_state=seed).fit(
        x_train, labels
    )


def swap_labels() -> np.ndarray:
    """Break the training data as a wrong join would: in the south, two classes change places."""
    labels = np.array(y_train)
    south = segments[:N_TRAIN] == "south"
    labels[south & (y_train == 0)] = 1
    labels[south & (y_train == 1)] = 0
    return labels


def write(name: str, model: unchurn.StableClassifier | HistGradientBoostingClassifier) -> Path:
    """Write what a model predicts on the test part: a row per example, with its id."""
    probabilities = model.predict_proba(x_test)
    table = {
        "id": np.arange(len(x_test)),
        "segment": segments[N_TRAIN:],
        "label": CLASSES[y_test],
        "prediction": CLASSES[probabilities.argmax(axis=1)],
    } | {f"p_{c}": p for c, p in zip(CLASSES, probabilities.T, strict=True)}
    path = FOLDER / f"{name}.parquet"
    pl.DataFrame(table).write_parquet(path)
    return path


FOLDER.mkdir(parents=True, exist_ok=True)
production = write("production", retrain(0))
again = [write(f"again{seed}", retrain(seed)) for seed in range(1, 9)]
trees = HistGradientBoostingClassifier(random_state=0)
candidates = {
    "retrained": write("retrained", retrain(9)),
    "boosted_trees": write("boosted_trees", trees.fit(x_train, y_train)),
    "broken": write("broken", retrain(10, swap_labels())),
}

for name, path in candidates.items():
    found = unchurn.compare(production, path, slices=["segment"], retrains=again)
    verdict = found.gate(POLICY)
    print(f"{name}: {verdict.decision}; churn {found.estimates['churn'].value:.2%}")
    for check in verdict.checks:
        if check.decision != "promote" or check.name == "excess_churn":
            print(f"  {check.decision} {check.name}: {check.reason}")
