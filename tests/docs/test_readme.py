"""What the README shows works: its Python as one session, then its `unchurn` commands."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from outputs import assert_shown

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8").replace("\\\n", "")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", README, re.DOTALL)


def test_python_blocks_print_what_they_show(capsys, tmp_path):
    session: dict[str, Any] = {}
    for block in PYTHON:
        exec(block, session)  # noqa: S102
    shown = re.findall(r"^(?:print\(.*\)  )?# (.*)$", "".join(PYTHON), re.MULTILINE)
    assert len(shown) == 7
    assert_shown("\n".join(shown), capsys.readouterr().out)

    for name in ("logits", "labels"):
        np.save(tmp_path / f"{name}.npy", session[name])
    for command in commands("smooth"):
        run(command, tmp_path)
    assert np.load(tmp_path / "soft.npy").shape == (1000, 3)


def test_commands_run_and_print_what_is_shown(tmp_path):
    """On the files of the example that the README names."""
    example = [sys.executable, ROOT / "examples/release_gate.py"]
    subprocess.run(example, cwd=tmp_path, check=True, capture_output=True)
    folder = tmp_path / "demo/release_gate"
    shutil.move(folder / "retrained.parquet", folder / "candidate.parquet")
    tried = commands("compare", "gate", "bench", "report")
    assert len(tried) == 4
    for command, shown in tried.items():
        is_study = command.startswith("unchurn bench")  # that it runs is shown by short trainings
        printed = run(f"{command} --epochs 1" if is_study else command, folder)
        if shown:
            assert_shown(shown, printed[: printed.index("\n\n")])
        if command.startswith("unchurn compare"):
            assert "It may be just another retraining" in " ".join(printed.split())


def commands(*verbs: str) -> dict[str, str]:
    """The README's commands of some verbs, each with the output that is shown below it."""
    return {
        line: shown
        for block, shown in SHELL
        for line in re.findall(r"^unchurn .*$", block, re.MULTILINE)
        if line.split()[1] in verbs
    }


def run(command: str, folder: Path) -> str:
    unchurn = Path(sys.executable).with_name("unchurn")
    done = subprocess.run(
        [unchurn, *shlex.split(command)[1:]], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def test_every_command_is_tried():
    known = set(commands("smooth", "compare", "gate", "bench", "report"))
    assert known == set(re.findall(r"^unchurn .*$", README, re.MULTILINE))
