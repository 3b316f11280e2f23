"""`unchurn compare` and `unchurn gate`: two files of predictions in, a clear answer out."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unchurn.comparison.compare import Comparison
    from unchurn.gate.decide import Verdict

Base = Annotated[Path, typer.Argument(help="Predictions of the model in use.")]
Candidate = Annotated[Path, typer.Argument(help="Predictions of the model to replace it.")]
Labels = Annotated[Path | None, typer.Option(help="File with the true labels.")]
Retrains = Annotated[
    list[Path] | None,
    typer.Option(help="Other retrainings of base's recipe: one or more files, or a bench folder."),
]
Id = Annotated[str | None, typer.Option("--id", help="Column to join by.")]
Prediction = Annotated[str | None, typer.Option(help="Column of the predicted label.")]
Label = Annotated[str | None, typer.Option(help="Column of the true label.")]
Probabilities = Annotated[
    str | None, typer.Option(help="How the columns of probabilities begin, or the one there is.")
]
Positive = Annotated[str | None, typer.Option(help="The class that one probability is of.")]
Threshold = Annotated[
    float | None, typer.Option(min=0, max=1, help="Predict the positive class from here on.")
]
Slices = Annotated[str | None, typer.Option(help="Columns to slice by, by comma.")]
Cluster = Annotated[str | None, typer.Option(help="Column of what groups rows, such as a user.")]
MinSlice = Annotated[int, typer.Option(min=1, help="Examples that a slice needs.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
FlipsFile = Annotated[Path | None, typer.Option("--flips", help="Write the flips as CSV.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write a page with charts.")]


def compare(
    base: Base,
    candidate: Candidate,
    labels: Labels = None,
    retrains: Retrains = None,
    id_: Id = None,
    prediction: Prediction = None,
    label: Label = None,
    probabilities: Probabilities = None,
    positive: Positive = None,
    threshold: Threshold = None,
    slices: Slices = None,
    cluster: Cluster = None,
    min_slice: MinSlice = 50,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    flips: FlipsFile = None,
    html: HtmlFile = None,
) -> None:
    """Compare two models' predictions: what flips, for better or worse, where, beyond noise?

    CSV, Parquet, JSON lines or NPZ; a row per example, joined by id.
    """
    _check_outputs(
        (as_json, as_markdown), (base, candidate, labels, *(retrains or [])), html, flips
    )
    columns = _columns(id_, prediction, label, probabilities, positive, threshold, slices, cluster)
    result = _compare(base, candidate, labels, retrains or [], columns, min_slice)
    _answer(result, None, as_json, as_markdown, flips, html)


def gate(
    base: Annotated[Path | None, typer.Argument(help="Predictions of the model in use.")] = None,
    candidate: Annotated[
        Path | None, typer.Argument(help="Predictions of the model to replace it.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="TOML file of limits.")] = None,
    max_churn: Annotated[float | None, typer.Option(help="Fraction that may change.")] = None,
    max_bad_flips: Annotated[
        float | None, typer.Option(help="Fraction that may turn from right to wrong.")
    ] = None,
    max_excess_churn: Annotated[
        float | None, typer.Option(help="Churn beyond that of retraining alone.")
    ] = None,
    max_accuracy_loss: Annotated[float | None, typer.Option(help="Accuracy to lose.")] = None,
    max_slice_churn: Annotated[float | None, typer.Option(help="Churn of any slice.")] = None,
    max_slice_bad_flips: Annotated[
        float | None, typer.Option(help="Bad flips of any slice.")
    ] = None,
    max_slice_accuracy_loss: Annotated[
        float | None, typer.Option(help="Accuracy loss of any slice.")
    ] = None,
    must_not_flip: Annotated[
        Path | None, typer.Option(help="File of ids, one a line, that must not flip.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Print the policy in words.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML.")] = None,
    labels: Labels = None,
    retrains: Retrains = None,
    id_: Id = None,
    prediction: Prediction = None,
    label: Label = None,
    probabilities: Probabilities = None,
    positive: Positive = None,
    threshold: Threshold = None,
    slices: Slices = None,
    cluster: Cluster = None,
    min_slice: Annotated[int | None, typer.Option(min=1, help="Examples of a slice.")] = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    flips: FlipsFile = None,
    html: HtmlFile = None,
) -> None:
    """Decide whether a candidate may replace the model in use: promote, hold or reject.

    Promote: what is measured lies inside every limit, with its whole 95 % interval; reject: wholly
    outside one; hold otherwise. Exit code: promote 0, reject 1, bad input 2, hold 3.
    """
    from unchurn.core.errors import InputError
    from unchurn.core.files import atomic_write, remove
    from unchurn.gate.decide import decide, read_policy

    limits: dict[str, Any] = {
        "max_churn": max_churn, "max_bad_flips": max_bad_flips,
        "max_excess_churn": max_excess_churn, "max_accuracy_loss": max_accuracy_loss,
        "max_slice_churn": max_slice_churn, "max_slice_bad_flips": max_slice_bad_flips,
        "max_slice_accuracy_loss": max_slice_accuracy_loss, "min_slice": min_slice,
        "must_not_flip": _ids(must_not_flip) if must_not_flip else None,
    }  # fmt: skip
    rules = read_policy(policy, limits)
    if explain:
        for line in rules.explain():
            typer.echo(line, err=as_json or as_markdown)
        if base is None:
            return
    if base is None or candidate is None:
        raise InputError("give two files: predictions of the model in use, and of the candidate")
    read = (base, candidate, labels, policy, must_not_flip, *(retrains or []))
    _check_outputs((as_json, as_markdown), read, html, flips, junit)
    if junit is not None:
        remove(junit)  # of an earlier candidate, should there be no verdict
    columns = _columns(id_, prediction, label, probabilities, positive, threshold, slices, cluster)
    result = _compare(base, candidate, labels, retrains or [], columns, rules.min_slice)
    verdict = decide(result, rules)
    if junit is not None:
        with atomic_write(junit) as temporary:
            temporary.write_text(verdict.junit(), "utf-8")
    _answer(result, verdict, as_json, as_markdown, flips, html)
    raise typer.Exit(verdict.exit_code)


def _check_outputs(
    forms: tuple[bool, bool], read: tuple[Path | None, ...], html: Path | None, *more: Path | None
) -> None:
    """Say before the work what would keep the answer from being given: a place, or an extra."""
    from unchurn.core.errors import InputError
    from unchurn.core.files import check_place

    if all(forms):
        raise InputError("--json or --markdown, not both")
    taken = [path for path in read if path is not None]
    for path in (html, *more):
        if path is not None:
            check_place(path, taken)
            taken.append(path)
    if html is not None:
        from unchurn.comparison import page  # noqa: F401


def _ids(path: Path) -> list[str]:
    """Ids from a file, one a line."""
    from unchurn.core.errors import InputError
    from unchurn.core.files import reading

    with reading(path, "a text file"):
        ids = [line.strip() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    if not ids:
        raise InputError(f"{path}: no id is there")
    return ids


def _columns(*given: Any) -> Any:
    from unchurn.comparison.inputs.predictions import Columns

    id_, prediction, label, probabilities, positive, threshold, slices, cluster = given
    names = tuple(name.strip() for name in slices.split(",")) if slices else ()
    return Columns(id_, prediction, label, probabilities, positive, threshold, names, cluster)


def _compare(
    base: Path,
    candidate: Path,
    labels: Path | None,
    retrains: list[Path],
    columns: Any,
    min_slice: int,
) -> Comparison:
    from unchurn.comparison.compare import compare

    names = (base.name, candidate.name)
    if names[0] == names[1]:
        names = (str(base), str(candidate))
    if names[0] == names[1]:  # a file with itself
        names = (f"{base} (base)", f"{candidate} (candidate)")
    return compare(
        base,
        candidate,
        labels,
        retrains=retrains,
        columns=columns,
        min_slice=min_slice,
        names=names,
    )


def _answer(
    result: Comparison,
    verdict: Verdict | None,
    as_json: bool,
    as_markdown: bool,
    flips: Path | None,
    html: Path | None,
) -> None:
    """Write what was asked for, then print in the form that was asked for."""
    from rich.console import Console

    from unchurn.comparison import words
    from unchurn.comparison.flips import write_flipped

    class _Console(Console):
        """A reader that has seen enough, such as `head`, does not change the verdict."""

        def on_broken_pipe(self) -> None:
            with suppress(SystemExit):
                super().on_broken_pipe()

    if flips is not None:
        count = write_flipped(result, flips)
        typer.echo(f"wrote {flips}: {count:,} flips", err=True)
    if html is not None:
        result.html(html, verdict)
        typer.echo(f"wrote {html}", err=True)
    console = _Console(highlight=False)
    if as_json:
        decided = {} if verdict is None else {"verdict": verdict.to_dict()}
        console.out(json.dumps({**result.to_dict(), **decided}, indent=1, allow_nan=False))
    elif as_markdown:
        console.out(words.markdown(result, verdict), end="")
    else:
        words.show(console, result, verdict)
