"""Write what a script measured into its own section of a page."""

import platform
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs/scaling.md"


def section(name: str, path: Path = PAGE) -> str:
    """What stands between the section's two marks."""
    page = path.read_text("utf-8")
    start, end = f"<!-- {name}: made by benchmarks/{name}.py -->\n", f"<!-- /{name} -->"
    return page[page.index(start) + len(start) : page.index(end)]


def fill(name: str, text: str, path: Path = PAGE) -> None:
    """Replace it."""
    page, end = path.read_text("utf-8"), f"<!-- /{name} -->"
    old = section(name, path) + end
    path.write_text(page.replace(old, f"{text.strip()}\n{end}"), "utf-8")


def machine() -> str:
    """Where it was measured."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{len(names)} cores, {names[0]}, Python {platform.python_version()}"
