"""Write what a script measured into its own section of a page."""

import platform
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs/scaling.md"


def section(name: str, path: Path = PAGE) -> str:
    """The text between a section's two marks."""
    page = path.read_text("utf-8")
    start, end = f"<!-- {name}: made by benchmarks/{name}.py -->\n", f"<!-- /{name} -->"
    return page[page.index(start) + len(start) : page.index(end)]


def fill(name: str, text: str, path: Path = PAGE) -> None:
    """Replace the text of a section."""
    page, end = path.read_text("utf-8"), f"<!-- /{name} -->"
    old = section(name, path) + end
    path.write_text(page.replace(old, f"{text.strip()}\n{end}"), "utf-8")


def machine() -> str:
    """The machine's cores, processor and Python version, as text."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{len(names)} cores, {names[0]}, Python {platform.python_version()}"
