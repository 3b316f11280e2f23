"""Read TOML and JSON files, whatever they contain, or refuse them with an error of one line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from unchurn.core.errors import InputError

DEEPEST = 50  # levels of nesting: later printing and checking recurse as deep


def read_plain(path: Path) -> dict[str, Any]:
    """The fields of a TOML file, or of a JSON file if its name ends in .json."""
    kind = "JSON" if path.suffix == ".json" else "TOML"
    try:
        text = path.read_text("utf-8-sig")
        content = json.loads(text) if kind == "JSON" else tomllib.loads(text)
        too_deep = _is_deeper(content, DEEPEST)
    except RecursionError:
        too_deep = True
    except ValueError as error:
        raise InputError(f"{path}: not a {kind} file: {error}") from error
    if too_deep:
        raise InputError(f"{path}: nested more than {DEEPEST} deep")
    if not isinstance(content, dict):
        raise InputError(f"{path}: not a table of fields")
    return content


def _is_deeper(content: Any, most: int) -> bool:
    """Whether lists and tables are nested more than `most` deep."""
    level = [content]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(outer, dict | list) for outer in level)
