"""Pages of docs/: their blocks run and print what the pages show; the commands they name exist."""

import importlib.util
import re
from pathlib import Path

import pytest
import typer

from outputs import NEAR, assert_shown, numbers, words
from unchurn import cli

ROOT = Path(__file__).parents[2]
ELSEWHERE = ("compare.md", "gallery.md")  # tried by test_compare.py and test_examples.py

spec = importlib.util.spec_from_file_location("walkthrough", ROOT / "docs/walkthrough.py")
assert spec is not None and spec.loader is not None  # noqa: PT018
walkthrough = importlib.util.module_from_spec(spec)
spec.loader.exec_module(walkthrough)
PAGES = [page for page in walkthrough.pages() if page.name not in ELSEWHERE]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT / "docs"))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_print_what_the_page_shows(tmp_path, page):
    """Words are the same; numbers are near, as another processor may change the last digits."""
    text = page.read_text("utf-8")
    assert_shown(text, walkthrough.play(text, tmp_path), "python docs/walkthrough.py")


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = "```python\nprint(2, 'x')\n```\n\n```text\n{}\n```\n"
    played = walkthrough.play(page.format("?"), tmp_path)
    assert played == page.format("2 x")
    assert words(played) == words(page.format("2.1 x"))
    assert words(played) != words(page.format("2 y"))
    assert numbers(played) != pytest.approx(numbers(page.format("5 x")), **NEAR)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "docs/gallery.md"], ids=name)
def test_commands_and_their_options_exist(page):
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    for code in re.findall(r"`{1,3}([^`]+)`{1,3}", page.read_text("utf-8")):
        for line in code.replace("\n--", " --").splitlines():
            for command, rest in re.findall(r"(?:^|\$ )\s*unchurn ([a-z]+)\b([^#]*)", line):
                known = {flag for option in commands[command].params for flag in option.opts}
                assert set(re.findall(r"(?<=\s)--?[a-z][a-z-]*", rest)) <= known, line
