import sys

import numpy as np
import polars as pl
import pytest

from unchurn import cli


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command line in an empty folder; give its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run_(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unchurn", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err  # type: ignore[return-value]

    return run_


@pytest.fixture
def files(tmp_path, rng):
    """base.csv, cand.parquet and three retrainings; the truth in base, a slice and users."""
    n = 400
    truth = rng.integers(0, 2, n)
    for name, rate in (("base", 0.05), ("cand", 0.05), ("r1", 0.05), ("r2", 0.05), ("r3", 0.05)):
        said = np.where(rng.random(n) < rate, 1 - truth, truth)
        table = pl.DataFrame({"id": [f"u{i}" for i in range(n)], "prediction": said})
        if name == "base":
            table = table.with_columns(
                label=pl.Series(truth), country=pl.Series(["de", "fr"] * (n // 2)),
                user=pl.Series(rng.integers(0, 80, n)),
            )  # fmt: skip
        table = table.sample(fraction=1, shuffle=True, seed=len(name))
        table.write_parquet(tmp_path / f"{name}.parquet")
        table.write_csv(tmp_path / f"{name}.csv")
    return "base.csv", "cand.parquet"
