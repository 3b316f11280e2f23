"""Make the outputs in docs/compare.md anew: run its commands in order and put in what they print.

Of a block marked `console short`, what follows an output's first empty line is left out.

Usage: python docs/walkthrough.py
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/compare.md"
BLOCK = re.compile(r"^```console( short)?\n(.*?)^```", re.DOTALL | re.MULTILINE)


def play(page: str, folder: Path) -> str:
    """The page with its console blocks as they come out, run in a folder beside the examples."""
    (folder / "examples").symlink_to(ROOT / "examples")
    at = folder

    def run(block: re.Match[str]) -> str:
        nonlocal at
        mark, lines = block[1] or "", []
        for command in re.findall(r"^\$ (.*)$", block[2], re.MULTILINE):
            lines.append(f"$ {command}")
            if command.startswith("cd "):
                at = at / command[3:]
                continue
            code, out = _run(command, at)
            shown = [line.rstrip() for line in out.splitlines()]
            if mark and "" in shown:
                shown = [*shown[: shown.index("")], "…"]
            lines += [*shown, *([f"(exit code {code})"] if code else [])]
        return f"```console{mark}\n" + "\n".join(lines) + "\n```"

    return BLOCK.sub(run, page)


def _run(command: str, folder: Path) -> tuple[int, str]:
    """The exit code and what is printed, on a terminal of 100 columns."""
    here = Path(sys.executable).parent
    settings = {"PATH": f"{here}:{os.environ['PATH']}", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | settings,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.returncode, done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        PAGE.write_text(play(PAGE.read_text("utf-8"), Path(temporary)), "utf-8")
