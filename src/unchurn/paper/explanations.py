"""The explanations of a folder's results: the blocks of its explanations.md.jinja, as text.

They lie beside the results that they explain, so that a page of somebody else's numbers does not
repeat our claims. The folder may be anybody's: blocks run in Jinja's sandbox, and see nothing but
quotes of the results, which are text.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from unchurn.core.errors import InputError
from unchurn.core.files import reading
from unchurn.paper.quotes import quotes
from unchurn.paper.records import Record

NAME = "explanations.md.jinja"


def explanations(folder: Path, records: list[Record]) -> Callable[..., str]:
    """A function that renders a block of the folder's explanations by name, "" if it has none.

    A block is one or more paragraphs, followed by an empty line.
    """
    path = folder / NAME
    if not path.exists():
        return lambda block, **values: ""
    environment = SandboxedEnvironment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    with reading(path, "explanations"):
        text = path.read_text("utf-8")
    try:
        template = environment.from_string(text)
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: {error.message}") from None
    quoted = quotes(records)

    def explained(block: str, **values: str) -> str:
        if block not in template.blocks:
            return ""
        try:
            parts = template.blocks[block](template.new_context({**quoted, **values}))
            text = "".join(parts).strip()
        except Exception as error:  # a template may raise anything
            raise InputError(f"{path}:{_line(template, error)}: {error}") from None
        return f"{text}\n\n" if text else ""

    return explained


def _line(template: jinja2.Template, error: Exception) -> int:
    """The line of the template that raised an error; 1 if it is unknown."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno or 0 for frame in frames if frame.filename == "<template>"]
    return template.get_corresponding_lineno(own[-1]) if own else 1
