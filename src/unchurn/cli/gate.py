"""`unchurn gate`: decide by a policy whether one model may replace another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unchurn.cli.compare import answer, check_outputs, compare_files, write_files
from unchurn.cli.options import (
    OF_BASE,
    OF_CANDIDATE,
    AsJson,
    AsMarkdown,
    Cluster,
    Decimal,
    Delimiter,
    Encoding,
    FlipsFile,
    HtmlFile,
    Id,
    Label,
    Labels,
    LabelsCover,
    MinOverlap,
    Positive,
    Prediction,
    Probabilities,
    Retrains,
    Slices,
    Threshold,
)
from unchurn.cli.pipes import from_pipe


def gate(
    base: Annotated[Path | None, typer.Argument(help=OF_BASE, callback=from_pipe)] = None,
    candidate: Annotated[Path | None, typer.Argument(help=OF_CANDIDATE, callback=from_pipe)] = None,
    policy: Annotated[Path | None, typer.Option(help="TOML file with the limits.")] = None,
    max_churn: Annotated[
        float | None, typer.Option(help="Share of predictions that may change.")
    ] = None,
    max_bad_flips: Annotated[
        float | None, typer.Option(help="Share of predictions that may turn from right to wrong.")
    ] = None,
    max_excess_churn: Annotated[
        float | None, typer.Option(help="Churn allowed beyond that of retraining alone.")
    ] = None,
    max_accuracy_loss: Annotated[
        float | None, typer.Option(help="Accuracy that may be lost.")
    ] = None,
    max_excess_loss: Annotated[
        float | None,
        typer.Option(help="Accuracy that may be lost beyond the loss of retraining alone."),
    ] = None,
    max_slice_churn: Annotated[
        float | None, typer.Option(help="Churn allowed in any slice.")
    ] = None,
    max_slice_bad_flips: Annotated[
        float | None, typer.Option(help="Bad flips allowed in any slice.")
    ] = None,
    max_slice_accuracy_loss: Annotated[
        float | None, typer.Option(help="Accuracy that may be lost in any slice.")
    ] = None,
    max_missing: Annotated[
        float | None,
        typer.Option(help="Share of base's rows that the candidate may fail to predict (0.01)."),
    ] = None,
    must_not_flip: Annotated[
        Path | None, typer.Option(help="File of ids that must not flip, one per line.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Print the policy in words.")] = False,
    junit: Annotated[
        Path | None, typer.Option(help="Write the verdict as JUnit XML to this file.")
    ] = None,
    labels: Labels = None,
    labels_cover: LabelsCover = None,
    retrains: Retrains = None,
    id_: Id = None,
    prediction: Prediction = None,
    label: Label = None,
    probabilities: Probabilities = None,
    positive: Positive = None,
    threshold: Threshold = None,
    slices: Slices = None,
    cluster: Cluster = None,
    min_slice: Annotated[
        int | None, typer.Option(min=1, help="Least number of examples in a slice.")
    ] = None,
    min_overlap: MinOverlap = 0.5,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    flips: FlipsFile = None,
    html: HtmlFile = None,
) -> None:
    """Decide whether a candidate may replace the model in use: promote, hold or reject.

    Promote: every measure's whole 95 % interval is inside its limit. Reject: a measure's whole
    interval is outside its limit. Hold: anything else. Exit code: promote 0, reject 1, bad input 2,
    hold 3.
    """
    options = locals()  # every limit of a policy is an option of the same name
    from unchurn.core.errors import InputError
    from unchurn.core.files import atomic_write, remove
    from unchurn.gate.decide import decide
    from unchurn.gate.policy import Policy, read_policy

    if (base is None or candidate is None) and not (explain and base is None):
        raise InputError("give two files: predictions of the model in use, and of the candidate")
    limits = {name: options[name] for name in Policy.model_fields}
    limits["must_not_flip"] = _ids(must_not_flip) if must_not_flip else None
    rules = read_policy(policy, limits)
    if explain:
        for line in rules.explain():
            typer.echo(line, err=as_json or as_markdown)
    if base is None or candidate is None:  # only the policy was to be explained
        return
    read = (base, candidate, labels, policy, must_not_flip, *(retrains or []))
    check_outputs(read, as_json=as_json, as_markdown=as_markdown, html=html, others=(flips, junit))
    if junit is not None:
        remove(junit)  # so that no earlier verdict remains if there is none now
    result = compare_files(base, candidate, labels, retrains, options, rules.min_slice)
    verdict = decide(result, rules)
    if junit is not None:
        with atomic_write(junit) as temporary:
            temporary.write_text(verdict.junit(), "utf-8")
    write_files(result, verdict, flips, html)
    answer(result, verdict, as_json=as_json, as_markdown=as_markdown)
    raise typer.Exit(verdict.exit_code)


def _ids(path: Path) -> list[str]:
    """The ids in a file, one per line."""
    from unchurn.core.errors import InputError
    from unchurn.core.files import reading

    with reading(path, "a text file"):
        ids = [line.strip() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    if not ids:
        raise InputError(f"{path}: no id is there")
    return ids
