"""Make the outputs in the pages of docs/ anew: run their blocks in order, put in what they print.

The blocks of a page are one session in one folder. Of a block marked `console short`, what follows
an output's first empty line is left out. What a `python` block prints goes into the `text` block
that follows it, if one does.

Usage: python docs/walkthrough.py [PAGE…]
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PLAYED = ("index.md", "tutorial.md", "compare.md", "gallery.md", "how-to/*.md", "concepts/*.md")
BLOCK = re.compile(
    r"^```(?P<kind>console(?: short)?|python)\n(?P<code>.*?)^```(?P<out>\n\n```text\n.*?^```)?",
    re.DOTALL | re.MULTILINE,
)


def pages() -> list[Path]:
    """The pages whose blocks run."""
    return sorted(page for pattern in PLAYED for page in DOCS.glob(pattern))


def play(page: str, folder: Path) -> str:
    """The page with its outputs as they come out, run in a folder beside the examples."""
    (folder / "examples").symlink_to(ROOT / "examples")
    at, names = folder, {"__name__": "__main__"}

    def run(block: re.Match[str]) -> str:
        nonlocal at
        if block["kind"] == "python":
            printed = _run_python(block["code"], names, at)
            out = f"\n\n```text\n{printed}```" if block["out"] else ""
            return f"```python\n{block['code']}```{out}"
        lines = []
        for command in re.findall(r"^\$ (.*)$", block["code"], re.MULTILINE):
            lines.append(f"$ {command}")
            if command.startswith("cd "):
                at = at / command[3:]
                continue
            code, out = _run(command, at)
            shown = [line.rstrip() for line in out.splitlines()]
            if block["kind"].endswith("short") and "" in shown:
                shown = [*shown[: shown.index("")], "…"]
            lines += [*shown, *([f"(exit code {code})"] if code else [])]
        return f"```{block['kind']}\n" + "\n".join(lines) + "\n```" + (block["out"] or "")

    return BLOCK.sub(run, page)


def _run_python(code: str, names: dict[str, Any], folder: Path) -> str:
    """What a block prints; it sees the names of the blocks before it."""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(code, names)  # noqa: S102
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


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
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else pages():
        with tempfile.TemporaryDirectory() as temporary:
            path.write_text(play(path.read_text("utf-8"), Path(temporary)), "utf-8")
