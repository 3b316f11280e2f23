"""What pages of the site take from the code when it is built: commands, methods, kept files.

A page says where by a comment of its own: `<!-- commands -->`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from unchurn.cli import app as unchurn
from unchurn.methods import METHODS

DOCS = Path(__file__).parent
FOLDERS = ("reproduction", "beyond", "upgrade")  # where pages keep what was measured


def fill(app: Any, name: str, source: list[str]) -> None:
    """Put into a page what it asks for; a link to a folder goes to the list of its files."""
    text = re.sub(rf"\]\(({'|'.join(FOLDERS)})\)", r"](/records.md#\1)", source[0])
    made = {"commands": commands, "methods": methods}
    made |= {f"files of {folder}": lambda folder=folder: files(folder) for folder in FOLDERS}
    for what, make in made.items():
        mark = f"<!-- {what} -->"
        if mark in text:
            text = text.replace(mark, make())
    source[0] = text


def commands() -> str:
    """Every command of the command line, as Markdown."""
    root = typer.main.get_command(unchurn)
    return "\n".join(_command(root, "unchurn"))


def _command(command: Any, path: str) -> Iterator[str]:
    """One command and those below it: how it is called, what it does, options, examples."""
    context = typer.Context(command, info_name=path)
    yield f"{'#' * max(path.count(' ') + 1, 2)} {path}\n"
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{path} {pieces}\n```\n"
    yield f"{command.help}\n"
    yield f"```{{program}} {path}\n```\n"
    for parameter in command.get_params(context):
        if parameter.name == "help":
            continue
        names, says = parameter.get_help_record(context)
        yield f"````{{option}} {names}\n{says}\n````\n"
    if command.epilog:
        yield f"{command.epilog}\n"
    for name, below in getattr(command, "commands", {}).items():
        yield from _command(below, f"{path} {name}")


def methods() -> str:
    """Every method under the name it is written with, as Markdown around its docstring."""
    return "".join(
        f"## {name}\n\n```{{eval-rst}}\n.. autoclass:: unchurn.methods.{kind.__name__}\n```\n\n"
        for name, kind in METHODS.items()
    )


def files(folder: str) -> str:
    """A table of what a folder keeps: one line a record, its files as downloads."""
    records: dict[str, list[Path]] = {}
    for path in sorted((DOCS / folder).iterdir()):
        if path.suffix in (".csv", ".json", ".npz"):
            records.setdefault(path.stem, []).append(path)
    lines = ["| record | files |", "| --- | --- |"]
    for stem, paths in records.items():
        links = ", ".join(f"[{path.suffix[1:]}](/{folder}/{path.name})" for path in paths)
        lines.append(f"| {stem} | {links} |")
    return "\n".join(lines)
