"""What the paper published: the numbers of its tables (percent), and the settings that it chose."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unchurn.study.design.settings import Setting, SettingFacts

# What the paper measured and tried; unchurn has further metrics and methods.
PAPER_METRICS = ("accuracy", "churn", "churn_correct", "churn_incorrect")
_WEIGHTS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1.0)
_PENALTIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
_CODISTILLATION = {"a": _PENALTIES, "n_warm": (1000, 2000)}
# The methods in the order of its tables, and the values that it tried for each parameter. It gives
# none for label smoothing: these are anchor's.
PAPER_GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "control": {},
    "label_smoothing": {"a": _WEIGHTS},
    "knn_ls": {"k": (5, 10, 100, 500), "a": _WEIGHTS, "b": (0.0, 0.05, 0.1, 0.5, 0.9)},
    "anchor": {"a": _WEIGHTS},
    "l1_reg": {"a": _PENALTIES},
    "l2_reg": {"a": _PENALTIES},
    "bi_tempered": {"t1": (0.3, 0.5, 0.7, 0.9), "t2": (1.0, 2.0, 3.0, 4.0)},
    "codistill_ce": _CODISTILLATION,
    "codistill_kl": _CODISTILLATION,
    "mixup": {"a": (0.2, 0.3, 0.4, 0.5)},
    "ensemble": {"m": (3, 5)},
}
PAPER_METHODS = tuple(PAPER_GRIDS)
ENSEMBLE = "ensemble"  # has a table of its own
SINGLE_MODELS = PAPER_METHODS[:-1]  # of Table 1
# The parameter that each curve of Figure 2 runs along, and those that it keeps fixed.
FIGURE2: dict[str, dict[str, float]] = {
    "a": {"k": 10, "b": 0.9},
    "b": {"k": 10, "a": 0.5},
    "k": {"a": 1.0, "b": 0.9},
}


@dataclass(frozen=True)
class Published:
    """One row of a table: mean and sd, in percent, of each metric that the table has."""

    method: str
    parameters: dict[str, float]
    mean: dict[str, float]
    sd: dict[str, float]


@cache
def published() -> dict[tuple[str, str], Published]:
    """Rows of Table 1 and of the ensembles' table, by dataset and method."""
    rows = {}
    for table in ("table_main.csv", "table_ensemble.csv"):
        text = files(__package__).joinpath("data", table).read_text()
        for row in csv.DictReader(text.splitlines()):
            method = row.get("method", ENSEMBLE)
            settings = row["settings"] if "settings" in row else f"m={row['m']}"
            parameters = dict(_parameter(part) for part in settings.split())
            rows[row["dataset"], method] = _published(row, method, parameters)
    return rows


@cache
def ablation() -> tuple[Published, ...]:
    """The distinct rows of Table 3: k-NN smoothing on SVHN, without incorrect churn."""
    text = files(__package__).joinpath("data", "table_ablation.csv").read_text()
    rows = {}
    for row in csv.DictReader(text.splitlines()):
        parameters = dict(_parameter(f"{name}={row[name]}") for name in ("k", "a", "b"))
        rows[tuple(parameters.values())] = _published(row, "knn_ls", parameters)
    return tuple(rows.values())


def along(parameter: str) -> list[Published]:
    """The rows of Table 3 that a curve of Figure 2 shows."""
    fixed = FIGURE2[parameter].items()
    return [row for row in ablation() if all(row.parameters[name] == v for name, v in fixed)]


def find_published(study: str, dataset: str, setting: Setting | SettingFacts) -> Published | None:
    """What the paper published for a setting; parameters that it does not give are ignored."""
    if study in ("table3", "figure2"):
        candidates = ablation()
    else:
        row = published().get((dataset, setting.name))
        candidates = (row,) if row else ()
    own = setting.parameters
    return next((p for p in candidates if all(own[n] == v for n, v in p.parameters.items())), None)


def beside(dataset: str, method: str) -> str:
    """The four published means in one cell, 96.30 / 2.25 / 1.21 / 29.05; empty without any."""
    row = published().get((dataset, method))
    return " / ".join(f"{row.mean[metric]:.2f}" for metric in PAPER_METRICS) if row else ""


def _published(row: dict[str, str], method: str, parameters: dict[str, float]) -> Published:
    metrics = [metric for metric in PAPER_METRICS if metric in row]
    return Published(
        method=method,
        parameters=parameters,
        mean={metric: float(row[metric]) for metric in metrics},
        sd={metric: float(row[f"{metric}_std"]) for metric in metrics},
    )


def _parameter(text: str) -> tuple[str, float]:
    """Parse `a=0.9` into a name and a number; counts, such as k, are integers."""
    name, value = text.split("=")
    return name, int(value) if name in ("k", "m", "n_warm") else float(value)
