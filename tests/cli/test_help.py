"""`--help` of every command, at 80 columns."""

import shlex

import pytest
from typer.main import get_command

from unchurn import cli
from unchurn.cli.help import EXAMPLES

ROOT = get_command(cli.app)
DATA = ROOT.commands["data"]
COMMANDS = {
    (): ROOT,
    **{(name,): command for name, command in ROOT.commands.items()},
    **{("data", name): command for name, command in DATA.commands.items()},
}


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "unchurn")
def test_help_has_examples_and_whole_names_and_no_type_of_a_switch(run, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*words, "--help")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "bool" not in out
    shown = set(out.split())
    options = [name for param in COMMANDS[words].params for name in param.opts if name[:1] == "-"]
    assert shown.issuperset(options)
    after = [line.strip() for line in lines[lines.index(" Examples:".ljust(80)) :]]
    examples = EXAMPLES[words[-1] if words else ""]
    assert set(after).issuperset(examples)


@pytest.mark.parametrize(
    "example", dict.fromkeys(one for some in EXAMPLES.values() for one in some)
)
def test_an_example_is_what_its_command_takes(example):
    """Parsed, not run: a wrong option or argument would raise."""
    program, name, *arguments = shlex.split(example)
    assert program == "unchurn"
    command = ROOT.commands[name]
    if command is DATA:
        command = DATA.commands[arguments.pop(0)]
    command.make_context(name, arguments)
