"""Your own table: read, split, train, and see what two retrainings disagree on."""

import tempfile
from pathlib import Path

import polars as pl
from sklearn.datasets import load_wine

import unchurn

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "wine.csv"  # yours: any .csv or .parquet with a row per example
    wine = load_wine()
    table = pl.DataFrame(wine.data, schema=list(wine.feature_names))
    table.with_columns(grower=pl.Series(wine.target_names[wine.target])).write_csv(path)

    data = unchurn.load_csv(path, target="grower")

print(data)
predictions = [
    unchurn.StableClassifier(method="label_smoothing", random_state=seed)
    .fit(data.x_train, data.y_train)
    .predict(data.x_test)
    for seed in range(3)
]
print(unchurn.churn_summary(predictions, data.y_test))
