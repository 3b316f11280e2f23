"""What pyproject.toml declares: its extras, and the oldest versions that its bounds allow."""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OWN = re.compile(r"unchurn\[([\w,]+)\]")  # an extra that brings others
BOUND = re.compile(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)")


def project() -> dict[str, Any]:
    """The part of it that is about the package."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return dict(told["project"])


def extras() -> dict[str, set[str]]:
    """What users can ask for, each with all that it brings, itself too; not what builds it."""
    given = {name: needs for name, needs in project()["optional-dependencies"].items()
             if name not in ("dev", "docs")}  # fmt: skip
    return {name: _brought(name, given) for name in given}


def _brought(name: str, given: dict[str, list[str]]) -> set[str]:
    others = [other for need in given[name] if (own := OWN.fullmatch(need))
              for other in own[1].split(",")]  # fmt: skip
    return {name}.union(*(_brought(other, given) for other in others))


def oldest() -> dict[str, str]:
    """The lowest version of everything that a user may install with unchurn, by its name."""
    needs = [*project()["dependencies"]]
    for name in extras():
        needs += project()["optional-dependencies"][name]
    bounds = {}
    for need in needs:
        if OWN.fullmatch(need):
            continue
        found = BOUND.fullmatch(need)
        if found is None:
            raise ValueError(f"pyproject.toml: no lower bound: {need}")
        bounds[found[1]] = found[2]
    return bounds
