"""What `upgrade` does where the rule moves: accuracy and bad flips with and without its check.

    python benchmarks/drift.py     (some minutes; writes its section of docs/how-to/upgrade.md)

Tables are drawn here, rows in order of time: what decides the label turns from one feature to
another by so many degrees. The base is trained on the first half of the rows before the cut, its
successors on all of these, and tests are on what came after.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sections import fill

import unchurn
from unchurn import StableClassifier
from unchurn.methods.registry import FROM_WEIGHTS
from unchurn.training.learners.base import RemarkWarning

PAGE = Path(__file__).parent.parent / "docs/how-to/upgrade.md"
DEGREES, ROWS, TABLES, N_TEST, NOISE = (0, 30, 90), (1500, 5000), 8, 2000, 0.5
WAYS = ("plain retraining", f"always `{FROM_WEIGHTS}`", "`upgrade`")


def table(degrees: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Draw a table: inputs, labels and where the test rows begin."""
    rng = np.random.default_rng([seed, n])
    x = rng.normal(size=(n + N_TEST, 6)).astype(np.float32)
    turn = np.radians(degrees) * np.linspace(0, 1, len(x))
    score = x[:, 0] * np.cos(turn) + x[:, 1] * np.sin(turn) + 0.7 * x[:, 2] * x[:, 3]
    return x, (score + NOISE * rng.normal(size=len(x)) > 0).astype(int), n


def measured(degrees: float, n: int, seed: int) -> list[tuple[float, ...]]:
    """For each way: accuracy, bad flips, and whether it took another recipe than FROM_WEIGHTS."""
    x, y, cut = table(degrees, n, seed)
    base = StableClassifier(random_state=seed).fit(x[: cut // 2], y[: cut // 2])
    rows: dict[str, Any] = {"X_test": x[cut:], "y_test": y[cut:], "random_state": 1000 + seed}
    found = []
    for method in ("control", FROM_WEIGHTS, None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RemarkWarning)
            upgraded = unchurn.upgrade(base, x[:cut], y[:cut], method=method, **rows)
        estimates = upgraded.comparison.estimates
        values = [estimates[name].value for name in ("accuracy_candidate", "bad_flips")]
        found.append((*values, float(upgraded.method != FROM_WEIGHTS)))
    return found


def main() -> None:
    """Measure all, and write the section."""
    lines = [
        "| rows | the rule turns by | way | accuracy − plain's | bad flips | otherwise |",
        "| ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for n in ROWS:
        for degrees in DEGREES:
            all_of = np.array([measured(degrees, n, seed) for seed in range(TABLES)])
            for way, (own, name) in enumerate(zip(all_of.swapaxes(0, 1), WAYS, strict=True)):
                gain = 100 * (own[:, 0] - all_of[:, 0, 0])
                error = gain.std(ddof=1) / TABLES**0.5
                gained = f"{gain.mean():+.2f} ± {error:.2f}" if way else "–"
                less = f"{own[:, 2].sum():.0f} of {TABLES}" if way == 2 else "–"
                flips = f"{100 * own[:, 1].mean():.2f}"
                lines.append(f"| {n:,} | {degrees}° | {name} | {gained} | {flips} | {less} |")
                print(lines[-1], flush=True)
    text = "\n".join(lines)
    fill(
        "drift",
        f"{text}\n\nMeans over {TABLES} tables drawn anew, in percent of {N_TEST:,} rows that came "
        "later; ±: standard error (`python benchmarks/drift.py`).",
        PAGE,
    )


if __name__ == "__main__":
    main()
