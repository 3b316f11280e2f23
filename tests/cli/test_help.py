"""`--help` of every command, at 80 columns."""

import re
import shlex

import pytest
from typer.main import get_command

from unchurn import cli
from unchurn.cli.manual import EXAMPLES, PANELS

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
    assert "\x1b" not in out
    assert "bool" not in out
    shown = set(out.split())
    options = [name for param in COMMANDS[words].params for name in param.opts if name[:1] == "-"]
    assert shown.issuperset(options)
    after = [line.strip() for line in lines[lines.index(" Examples:".ljust(80)) :]]
    examples = EXAMPLES[words[-1] if words else ""]
    assert set(after).issuperset(examples)


@pytest.mark.parametrize("name", PANELS)
def test_every_option_has_its_panel(run, name):
    _, out, _ = run(name, "--help")
    titles = re.findall(r"^╭─ (.+?) ─+╮$", out, re.MULTILINE)
    assert [title for title in titles if title != "Arguments"] == list(PANELS[name])
    named = " ".join(PANELS[name].values()).split()
    assert len(named) == len(set(named))
    for param in ROOT.commands[name].params:
        if param.param_type_name == "option":
            assert len(set(param.opts) & set(named)) == 1, f"{param.opts} in no panel of manual.py"


def test_a_command_without_panels_has_no_options():
    for words, command in COMMANDS.items():
        if words and words[-1] not in PANELS:
            assert [p for p in command.params if p.param_type_name == "option"] == []


def test_commands_are_grouped_by_use(run):
    _, out, _ = run("--help")
    parts = re.findall(r"^╭─ (\w+).*?╮$(.*?)^╰", out, re.MULTILINE | re.DOTALL)
    shown = {title: re.findall(r"^│ ([a-z]+)  ", text, re.MULTILINE) for title, text in parts}
    del shown["Options"]
    assert list(shown) == ["Start", "Measure", "Decide", "Reduce", "Study", "Data"]
    assert sorted(name for names in shown.values() for name in names) == sorted(ROOT.commands)


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


@pytest.mark.parametrize("name", ["bench", "blend", "demo", "report", "reproduce", "smooth"])
def test_where_output_goes_has_one_short_name(name):
    (found,) = (one for one in ROOT.commands[name].params if one.name in ("out", "output"))
    assert "-o" in found.opts
