"""What the paper published: the numbers of its tables (percent), and the settings that it chose."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

METRICS = ("accuracy", "churn", "churn_correct", "churn_incorrect")


@dataclass(frozen=True)
class Published:
    """One row of Table 1 or of the ensembles' table: mean and sd of each metric, in percent."""

    dataset: str
    method: str
    parameters: dict[str, float]
    mean: dict[str, float]
    sd: dict[str, float]


@cache
def published() -> dict[tuple[str, str], Published]:
    """Rows of Table 1 and of the ensembles' table, by dataset and method."""
    rows = {}
    for table in ("table_main.csv", "table_ensemble.csv"):
        text = files(__package__).joinpath(table).read_text()
        for row in csv.DictReader(text.splitlines()):
            method = row.get("method", "ensemble")
            settings = row["settings"] if "settings" in row else f"m={row['m']}"
            rows[row["dataset"], method] = Published(
                dataset=row["dataset"],
                method=method,
                parameters=dict(_parameter(part) for part in settings.split()),
                mean={metric: float(row[metric]) for metric in METRICS},
                sd={metric: float(row[f"{metric}_std"]) for metric in METRICS},
            )
    return rows


def _parameter(text: str) -> tuple[str, float]:
    """`a=0.9` as a name and a number; whole numbers of things are whole."""
    name, value = text.split("=")
    return name, int(value) if name in ("k", "m", "n_warm") else float(value)
