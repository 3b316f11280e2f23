"""`make demo`: every method of the paper, retrained five times, with what churns.

    python examples/methods.py [digits|phishing] [--runs 5] [--epochs 20] [--out demo]

Runs execute on all cores, one process each. On digits the settings are ones that suit its few
training steps; on phishing they are those that the paper's Table 1 reports for it.
"""

import argparse
import warnings
from pathlib import Path

import joblib
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import unchurn
from unchurn.files import atomic_write
from unchurn.methods import Method
from unchurn.models import mlp
from unchurn.progress import progress_bar
from unchurn.training import Training, fit_run

METRICS = ("accuracy", "churn", "churn_correct", "churn_incorrect")
SETTINGS: dict[str, dict[str, dict[str, float]]] = {
    "digits": {
        "control": {},
        "label_smoothing": {"a": 0.5},
        "knn_ls": {"k": 10, "a": 0.5, "b": 0.9},
        "anchor": {"a": 0.9},
        "l1_reg": {"a": 0.1},
        "l2_reg": {"a": 0.5},
        "bi_tempered": {"t1": 0.9, "t2": 1.0},
        "codistill_ce": {"a": 0.5, "n_warm": 50},
        "codistill_kl": {"a": 0.5, "n_warm": 50},
        "mixup": {"a": 0.2},
        "ensemble": {"m": 5},
    },
    "phishing": {
        "control": {},
        "label_smoothing": {"a": 0.8},
        "knn_ls": {"k": 500, "a": 0.8, "b": 0.9},
        "anchor": {"a": 0.9},
        "l1_reg": {"a": 0.5},
        "l2_reg": {"a": 0.5},
        "bi_tempered": {"t1": 0.9, "t2": 1.0},
        "codistill_ce": {"a": 0.2, "n_warm": 2},
        "codistill_kl": {"a": 0.001, "n_warm": 1000},
        "mixup": {"a": 0.1},
        "ensemble": {"m": 5},
    },
}


def predict(data: unchurn.Dataset, method: Method, run: int, training: Training) -> np.ndarray:
    """Train one run and give its predicted classes on the test part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warm-ups that a short --epochs never reaches
        fitted = fit_run(
            method,
            mlp,
            data.x_train,
            data.y_train,
            len(data.classes),
            training=training,
            seed=0,
            run=run,
        )
    return np.asarray(fitted.probabilities(data.x_test).argmax(axis=1))


def main() -> None:
    """Train all methods, summarise, show, write."""
    parser = argparse.ArgumentParser(description="Every method of the paper, retrained.")
    parser.add_argument("dataset", nargs="?", default="digits", choices=SETTINGS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("demo"))
    arguments = parser.parse_args()

    console = Console(highlight=False, soft_wrap=True)
    data = unchurn.load(arguments.dataset)
    settings = SETTINGS[arguments.dataset]
    jobs = [
        (unchurn.METHODS[name](**setting), run)
        for name, setting in settings.items()
        for run in range(arguments.runs)
    ]
    cores = joblib.cpu_count()
    console.print(f"{data}\n{len(jobs)} runs of {len(settings)} methods on {cores} cores")

    parallel = joblib.Parallel(n_jobs=cores, return_as="generator")
    training = Training(epochs=arguments.epochs)
    finished = parallel(joblib.delayed(predict)(data, *job, training) for job in jobs)
    predictions = []
    with progress_bar("training", len(jobs)) as advance:
        for prediction in finished:
            predictions.append(prediction)
            advance(1)

    rows = []
    for i, (name, setting) in enumerate(settings.items()):
        own = predictions[i * arguments.runs : (i + 1) * arguments.runs]
        summary = unchurn.churn_summary(own, data.y_test)
        shown = " ".join(f"{key}={value:g}" for key, value in setting.items())
        row: dict[str, str | float] = {"method": name, "setting": shown}
        for metric in METRICS:
            value = getattr(summary, metric)
            row |= {metric: 100 * value.mean, f"{metric}_sd": 100 * value.sd}
        rows.append(row)

    table = Table("method", box=None, header_style="bold", padding=(0, 1, 0, 0))
    for heading in ("accuracy", "churn", "correct", "incorrect"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = (f"{row[metric]:.2f} ({row[f'{metric}_sd']:.2f})" for metric in METRICS)
        table.add_row(f"{row['method']} {row['setting']}", *cells)
    console.print(table)
    console.print(
        f"Percent, mean (sd) of {arguments.runs} runs of {arguments.epochs} epochs: accuracy over "
        "runs, churn over pairs of runs,\nof all predictions and of those that the first run got "
        "right (correct) or wrong (incorrect)."
    )

    arguments.out.mkdir(parents=True, exist_ok=True)
    written = arguments.out / f"{data.name}.csv"
    with atomic_write(written) as temporary:
        pl.DataFrame(rows).write_csv(temporary)
    console.print(f"The table is in {written}")


if __name__ == "__main__":
    main()
