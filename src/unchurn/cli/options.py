"""Options that `compare`, `gate`, `blend` and `plan` share: parsing, and wording of errors."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unchurn.cli.completion import COVERS, one_of
from unchurn.cli.help import Command
from unchurn.cli.pipes import from_pipe

if TYPE_CHECKING:
    from unchurn.comparison.inputs.columns import Columns
    from unchurn.core.tables import TextForm


def as_csv(value: Path | None) -> Path | None:
    """Where CSV is written, unless the name says that it is a table of another kind."""
    if value is None:
        return None
    from unchurn.comparison.inputs.sources import OTHER_KINDS
    from unchurn.core.tables import TABLES, ending
    from unchurn.core.workbooks import OTHER_WORKBOOKS

    if ending(value) in {*TABLES, *OTHER_WORKBOOKS, *OTHER_KINDS} - {".csv"}:
        raise typer.BadParameter(f"{value}: flips are written as CSV: the name must end in .csv")
    return value


OF_BASE = "Predictions of the model in use."
OF_CANDIDATE = "Predictions of the model that would replace it."
Base = Annotated[Path, typer.Argument(help=OF_BASE, callback=from_pipe)]
Candidate = Annotated[Path, typer.Argument(help=OF_CANDIDATE, callback=from_pipe)]
Labels = Annotated[Path | None, typer.Option(help="File with the true labels.", callback=from_pipe)]
LabelsCover = Annotated[
    str | None,
    typer.Option(
        help="Which examples are labelled: flips, or all (drawn without looking at flips).",
        autocompletion=one_of(COVERS),
    ),
]
Retrains = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="<paths>",
        help="Other retrainings of base's recipe: one or more files, or a bench folder.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", help="Column to join by; several by comma; or base's=other's name."),
]
Prediction = Annotated[
    str | None,
    typer.Option(help="Column of the predicted label; by comma base's and candidate's."),
]
Label = Annotated[str | None, typer.Option(help="Column of the true label.")]
Probabilities = Annotated[
    list[str] | None,
    typer.Option(help="Prefix or comma-separated names of probability columns, or the only one."),
]
Positive = Annotated[str | None, typer.Option(help="The class that one probability is of.")]
Threshold = Annotated[
    str | None,
    typer.Option(
        help="Predict the positive class from here on; by comma base's and candidate's, or one "
        "of them (0.3, is base's alone).",
    ),
]
Slices = Annotated[list[str] | None, typer.Option(help="Columns to slice by, comma-separated.")]
Cluster = Annotated[str | None, typer.Option(help="Column of what groups rows, such as a user.")]
MinSlice = Annotated[int, typer.Option(min=1, help="Examples that a slice needs.")]
MinOverlap = Annotated[
    float, typer.Option(min=0, max=1, help="Part of either file that must be in the other.")
]
Delimiter = Annotated[str | None, typer.Option(help="Column delimiter of text files: ';', or tab.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal point of text files: ','.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of text files: latin-1 …")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
FlipsFile = Annotated[
    Path | None, typer.Option("--flips", help="Write the flips as CSV.", callback=as_csv)
]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write a page with charts.")]
# Arguments that the library's errors tell to give, and that are options of the same name here.
ARGUMENT = re.compile(
    r"\b(give|with|for|say|or) (id|prediction|label|labels|probabilities|positive|slices|cluster"
    r"|retrains|target|labels_cover|delimiter|decimal|encoding|min_overlap"
    r"|max_bad_flips|max_churn|churn|ratio|time|split|every|base|aside|scenario|runs"
    r"|model_args)=(?!\w)",
    re.IGNORECASE,
)
TABS = ("tab", "\\t")  # how one is written where a key for it does something else


def in_options(message: str) -> str:
    """The library's words in those of the command line: `give positive=` becomes `--positive`."""
    return ARGUMENT.sub(lambda found: f"{found[1]} --{found[2].replace('_', '-')}", message)


def make_columns(options: dict[str, Any]) -> Columns:
    """Which column is what, from a command's options by their names."""
    from unchurn.comparison.inputs.columns import Columns

    given: dict[str, Any] = {field.name: options.get(field.name) for field in fields(Columns)}
    slices = (by_comma(given["slices"]) or "").split(",")
    given |= {
        "id": options["id_"],
        "probabilities": by_comma(given["probabilities"]),
        "threshold": as_threshold(given["threshold"]),
        "slices": tuple(name.strip() for name in slices if name),
    }
    return Columns(**given)


def as_threshold(given: str | None) -> float | tuple[float | None, float | None] | None:
    """One number for both models, or the base's and the candidate's; an empty side has none."""
    if given is None:
        return None
    try:
        found = [float(part) if part.strip() else None for part in given.split(",")]
    except ValueError:
        found = []
    numbers = [number for number in found if number is not None]
    if len(found) > 2 or not numbers or not all(0 <= number <= 1 for number in numbers):
        raise typer.BadParameter(
            f"{given!r} is not from 0 to 1, nor two such numbers by comma, of which one may be "
            "left out.",
            param_hint="'--threshold'",
        )
    return (found[0], found[1]) if len(found) == 2 else found[0]


def by_comma(given: list[str] | None) -> str | None:
    """An option that takes several by comma, also if it was written several times."""
    return ",".join(given) if given else None


def make_form(options: dict[str, Any]) -> TextForm:
    """How text files are written, from a command's options by their names."""
    from unchurn.core.tables import TextForm

    given: dict[str, Any] = {field.name: options[field.name] for field in fields(TextForm)}
    return TextForm(**{**given, "delimiter": as_delimiter(given["delimiter"])})


def as_delimiter(given: str | None) -> str | None:
    """What parts columns, a tab also by its name."""
    return "\t" if given in TABS else given


class FilesAfter(Command):
    """A command whose --retrains takes all files that follow it, up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write the option before each of them, as the parser wants it."""
        before = list(takewhile(lambda word: word != "--retrains", args))
        files = list(takewhile(lambda word: not word.startswith("--"), args[len(before) + 1 :]))
        if len(files) > 1:
            after = args[len(before) + 1 + len(files) :]
            spread = [word for file in files for word in ("--retrains", file)]
            args = [*before, *spread, *after]
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if len(files) < 2 or "Missing argument" not in error.format_message():
                raise
            reason = "all files after --retrains are retrainings: put the two to compare before it."
            raise typer.BadParameter(reason, ctx) from error
