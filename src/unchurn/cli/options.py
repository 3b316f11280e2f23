"""Options that `compare`, `gate`, `blend` and `plan` share: their help, parsing and errors."""

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
    """The path of a CSV file to write; refuses a name that ends like another kind of table."""
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
        help="Which examples have labels: only flips, or all (drawn without looking at flips).",
        autocompletion=one_of(COVERS),
    ),
]
Retrains = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="<paths>",
        help="Other retrainings by base's recipe: one or more files, or a bench folder.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column to join by, or several, comma-separated; base's name=other name if they "
        "differ.",
    ),
]
Prediction = Annotated[
    str | None,
    typer.Option(help="Column of the predicted label; base's,candidate's if they differ."),
]
Label = Annotated[str | None, typer.Option(help="Column of the true label.")]
Probabilities = Annotated[
    list[str] | None,
    typer.Option(help="Probability columns: their prefix, their names, comma-separated, or one."),
]
Positive = Annotated[
    str | None, typer.Option(help="The class whose probability a single column holds.")
]
Threshold = Annotated[
    str | None,
    typer.Option(
        help="Predict the positive class from this probability on; base's,candidate's if they "
        "differ, and either may be left out (0.3, is base's alone).",
    ),
]
Slices = Annotated[list[str] | None, typer.Option(help="Columns to slice by, comma-separated.")]
Cluster = Annotated[
    str | None, typer.Option(help="Column that groups rows that belong together, such as a user.")
]
MinSlice = Annotated[int, typer.Option(min=1, help="Least number of examples in a slice.")]
MinOverlap = Annotated[
    float, typer.Option(min=0, max=1, help="Least share of each file that the other must have.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="Column delimiter of text files, such as ';' or tab.")
]
Decimal = Annotated[str | None, typer.Option(help="Decimal point of text files, such as ','.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of text files, such as latin-1.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
FlipsFile = Annotated[
    Path | None,
    typer.Option("--flips", help="Write the flips to this CSV file.", callback=as_csv),
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", help="Write a page with charts to this file.")
]
# Arguments that the library's errors mention, and that are options of the same name here.
ARGUMENT = re.compile(
    r"\b(give|with|for|say|or) (id|prediction|label|labels|probabilities|positive|slices|cluster"
    r"|retrains|target|labels_cover|delimiter|decimal|encoding|min_overlap"
    r"|max_bad_flips|max_churn|churn|ratio|time|split|every|base|aside|scenario"
    r"|model_args)=(?!\w)",
    re.IGNORECASE,
)
TABS = ("tab", "\\t")  # ways to write a tab in a shell, where its key completes words


def in_options(message: str) -> str:
    """A library's message in the command line's terms: `positive=` becomes `--positive`."""
    return ARGUMENT.sub(lambda found: f"{found[1]} --{found[2].replace('_', '-')}", message)


def make_columns(options: dict[str, Any]) -> Columns:
    """The `Columns` that a command's options describe."""
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
    """The threshold of both models, or (base's, candidate's); an empty side is None."""
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
    """All values of an option that was given several times, joined by commas."""
    return ",".join(given) if given else None


def make_form(options: dict[str, Any]) -> TextForm:
    """The `TextForm` that a command's options describe."""
    from unchurn.core.tables import TextForm

    given: dict[str, Any] = {field.name: options[field.name] for field in fields(TextForm)}
    return TextForm(**{**given, "delimiter": as_delimiter(given["delimiter"])})


def as_delimiter(given: str | None) -> str | None:
    """The column delimiter; "tab" becomes a tab."""
    return "\t" if given in TABS else given


class FilesAfter(Command):
    """A command whose --retrains takes all files up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat --retrains before each of its files, as the parser expects."""
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
