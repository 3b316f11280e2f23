"""What the README shows works: its Python as one session, then its `unchurn` commands."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_python_and_shell_blocks_run(tmp_path, capsys):
    session: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(block, session)  # noqa: S102
    out = capsys.readouterr().out
    for promised in re.findall(r"print\(.*?\)  # ([\d.]+)\n", README):
        assert promised in out.split()
    for promised in re.findall(r"^# (Flips.*)$", README, re.MULTILINE):
        assert promised in out

    for name in ("logits", "labels"):
        np.save(tmp_path / f"{name}.npy", session[name])
    countries = np.array(["de", "fr"])[np.arange(1000) % 2]
    for name, every in {"production": 97, "candidate": 970, "again1": 96, "again2": 95}.items():
        said = np.where(np.arange(1000) % every == 0, "dog", "cat")
        table = {"id": range(1000), "prediction": said, "label": ["cat"] * 1000}
        pl.DataFrame({**table, "country": countries}).write_parquet(tmp_path / f"{name}.parquet")
    shell = "".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    commands = re.findall(r"^unchurn .*$", shell, re.MULTILINE)
    assert commands
    for command in commands:
        unchurn = Path(sys.executable).with_name("unchurn")
        subprocess.run([unchurn, *shlex.split(command)[1:]], cwd=tmp_path, check=True)
    assert np.load(tmp_path / "soft.npy").shape == (1000, 3)
