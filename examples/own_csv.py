"""Your own table: read, split, train, see what retrainings disagree on; score rows later."""

import tempfile
from pathlib import Path

import polars as pl
from sklearn.datasets import load_wine

import unchurn

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    path = folder / "wine.csv"  # yours: any .csv, .parquet or .xlsx with a row per example
    wine = load_wine()
    table = pl.DataFrame(wine.data, schema=list(wine.feature_names))
    growers = pl.Series("grower", wine.target_names[wine.target])
    table.with_columns(growers).write_csv(path)

    data = unchurn.load_csv(path, target="grower")
    print(data)
    models = [
        unchurn.StableClassifier(method="label_smoothing", random_state=seed).fit(data)
        for seed in range(3)
    ]
    predictions = [model.predict(data.x_test) for model in models]
    print(unchurn.churn_summary(predictions, [data.classes[number] for number in data.y_test]))

    # A model keeps how the table was prepared: later, it and rows as you know them are enough.
    models[0].save(folder / "model.safetensors")
    table[::4].write_csv(folder / "new.csv")

    later = unchurn.StableClassifier.load(folder / "model.safetensors")
    scored = later.predict(pl.read_csv(folder / "new.csv"))

right = sum(a == b for a, b in zip(scored, growers[::4], strict=True))
print(f"the saved model on rows of a file: {scored[0]} first; {right} of {len(scored)} right")
