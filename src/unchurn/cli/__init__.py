"""The command line: parse, call the library, print. `main` handles every error."""

from __future__ import annotations

import errno
import io
import signal
import sys
import traceback
from types import FrameType
from typing import Annotated

import typer

from unchurn.cli import bench, blend, compare, data, demo, gate, plan, reproduce, smooth
from unchurn.cli.guard import NO_MEMORY, run_watched
from unchurn.cli.help import Command, Group
from unchurn.cli.manual import DATA, DECIDE, MEASURE, REDUCE, START, STUDY, examples
from unchurn.cli.options import FilesAfter, in_options
from unchurn.cli.pipes import without_folders
from unchurn.core.errors import InputError
from unchurn.core.extras import what_is_missing
from unchurn.core.version import __version__
from unchurn.report.formats import visible

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130  # Typer's code for Ctrl-C
EXIT_CRASH = 70  # EX_SOFTWARE of sysexits.h
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

app = typer.Typer(
    name="unchurn",
    cls=Group,
    epilog=examples(""),
    help="Measure and reduce predictive churn: predictions that flip when a model is retrained.",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # docstrings are reflowed to the terminal's width
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, kind, panel, function in (
    ("demo", Command, START, demo.demo),
    ("compare", FilesAfter, MEASURE, compare.compare),
    ("gate", FilesAfter, DECIDE, gate.gate),
    ("blend", Command, DECIDE, blend.blend),
    ("plan", FilesAfter, DECIDE, plan.plan),
    ("smooth", Command, REDUCE, smooth.smooth),
    ("warmup", Command, REDUCE, smooth.warmup),
    ("bench", Command, STUDY, bench.bench),
    ("report", Command, STUDY, bench.report),
    ("reproduce", Command, STUDY, reproduce.reproduce),
):
    app.command(name, cls=kind, epilog=examples(name), rich_help_panel=panel)(function)
app.add_typer(data.app, rich_help_panel=DATA)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Handle options before a command, and `unchurn` without a command."""
    if version:
        typer.echo(f"unchurn {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line; commands that may run out of memory are watched."""
    run_watched(_main)


def _main() -> None:
    """Run the command; turn every expected error into one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character the terminal lacks must not crash
            stream.reconfigure(errors="replace")
    interrupts: list[int] = []
    usual = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        signal.default_int_handler(number, frame)

    if usual is signal.default_int_handler:  # a script's background job must ignore it
        signal.signal(signal.SIGINT, interrupt)
    try:
        code = app(standalone_mode=False)
        if code == EXIT_INTERRUPTED:
            _fail("interrupted", code)
    except typer.TyperException as error:  # a wrong option or argument
        context = getattr(error, "ctx", None)
        said = error.format_message().rstrip(".")
        stop = "" if said.endswith("?") else "."
        hint = f"{stop} See {context.command_path} --help" if context else ""
        code = _fail(said + hint, EXIT_BAD_INPUT)
    except InputError as error:
        code = _fail(in_options(str(error)), EXIT_BAD_INPUT)
    except MemoryError:
        code = _fail(NO_MEMORY, EXIT_BAD_INPUT)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        if not where and error.errno in FULL:  # stdout, which the shell may send to a full disk
            where = "cannot write the output: "
        code = _fail(f"{where}{error.strerror or error}", EXIT_BAD_INPUT)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # Polars' panics are no Exceptions; exit code 1 means reject
        if missing := what_is_missing(error, "this"):
            code = _fail(missing, EXIT_BAD_INPUT)
        elif interrupts:  # a library may have turned Ctrl-C into an error of its own
            code = _fail("interrupted", EXIT_INTERRUPTED)
        else:
            traceback.print_exc()
            code = _fail("this is a bug in unchurn: please report the lines above", EXIT_CRASH)
    finally:
        signal.signal(signal.SIGINT, usual)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    """Print what went wrong in one line on stderr; returns the exit code."""
    said = " ".join(visible(without_folders(message)).split())
    typer.echo(f"unchurn: {said}", err=True)
    return code
