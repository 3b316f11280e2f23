"""History played again: what would a year of releases have broken, by one recipe and by another?

The table is drawn here: what decides the label turns slowly from one feature to another. Yours is
any table with a column of dates.
"""

from datetime import date, timedelta

import numpy as np
import polars as pl

import unchurn

n = 1500
rng = np.random.default_rng(0)
day = np.sort(rng.integers(0, 365, n))
x = rng.normal(size=(n, 6))
turn = np.pi / 6 * day / 365
score = x[:, 0] * np.cos(turn) + x[:, 1] * np.sin(turn) + 0.7 * x[:, 2] * x[:, 3]
table = pl.DataFrame(x, schema=[f"x{i}" for i in range(6)]).with_columns(
    label=pl.Series(np.where(score + 0.5 * rng.normal(size=n) > 0, "buys", "leaves")),
    day=pl.Series([date(2024, 1, 1) + timedelta(days=int(number)) for number in day]),
)

result = unchurn.bench(
    table,
    "control, warm_start+anchor(a=0.5)+safe_ema",
    target="label",
    scenario="replay(time='day', every='60d')",
    runs=3,
)
print(result.table("markdown"))
for (method,), own in result.releases().group_by("method", maintain_order=True):
    print(f"{method}\n  release     accuracy  bad flips  accuracy of the first, kept")
    for row in own.iter_rows(named=True):
        print(
            f"  {row['time']}  {row['accuracy']:8.2f}  {row['bad_flips']:9.2f}  "
            f"{row['accuracy_first']:27.2f}"
        )
