"""What the README shows works: its Python as one session, then its `unchurn` commands."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

README = (Path(__file__).parent.parent / "README.md").read_text()


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
    shell = "".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    commands = re.findall(r"^unchurn .*$", shell, re.MULTILINE)
    assert commands
    for command in commands:
        unchurn = Path(sys.executable).with_name("unchurn")
        subprocess.run([unchurn, *shlex.split(command)[1:]], cwd=tmp_path, check=True)
    assert np.load(tmp_path / "soft.npy").shape == (1000, 3)
