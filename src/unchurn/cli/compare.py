"""`unchurn compare`: compare two files of predictions."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from unchurn.cli.console import make_patient_console
from unchurn.cli.options import (
    AsJson,
    AsMarkdown,
    Base,
    Candidate,
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
    MinSlice,
    Positive,
    Prediction,
    Probabilities,
    Retrains,
    Slices,
    Threshold,
    make_columns,
    make_form,
)
from unchurn.report.formats import visible

if TYPE_CHECKING:
    from unchurn.comparison.result import Comparison
    from unchurn.gate.verdict import Verdict

FOR_PAGES = ("altair", "jinja2", "vl_convert")  # packages of the extra `charts`


def compare(
    base: Base,
    candidate: Candidate,
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
    min_slice: MinSlice = 50,
    min_overlap: MinOverlap = 0.5,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    flips: FlipsFile = None,
    html: HtmlFile = None,
) -> None:
    """Compare two models' predictions: what flips, is it better or worse, where, beyond noise?

    Files are CSV, Parquet, Arrow, .xlsx, JSON, NPZ or .npy with a row per example, joined by id. A
    pipe, or - for standard input, is read as CSV.
    """
    options = locals()
    read = (base, candidate, labels, *(retrains or []))
    check_outputs(read, as_json=as_json, as_markdown=as_markdown, html=html, others=(flips,))
    result = compare_files(base, candidate, labels, retrains, options, min_slice)
    write_files(result, None, flips, html)
    answer(result, None, as_json=as_json, as_markdown=as_markdown)


def check_outputs(
    read: tuple[Path | None, ...],
    *,
    as_json: bool,
    as_markdown: bool,
    html: Path | None,
    others: tuple[Path | None, ...],
) -> None:
    """Refuse, before any work, outputs that cannot be written or that need a missing package."""
    from unchurn.core.errors import InputError
    from unchurn.core.files import check_place

    if as_json and as_markdown:
        raise InputError("--json or --markdown, not both")
    taken = [path for path in read if path is not None]
    for path in (html, *others):
        if path is not None:
            check_place(path, taken)
            taken.append(path)
    if html is not None:
        for package in FOR_PAGES:
            import_module(package)


def compare_files(
    base: Path,
    candidate: Path,
    labels: Path | None,
    retrains: list[Path] | None,
    options: dict[str, Any],
    min_slice: int,
) -> Comparison:
    """Compare two files according to a command's options."""
    from unchurn.comparison.compare import compare

    return compare(
        base,
        candidate,
        labels,
        retrains=retrains or [],
        columns=make_columns(options),
        form=make_form(options),
        min_slice=min_slice,
        labels_cover=options["labels_cover"],
        min_overlap=options["min_overlap"],
        names=file_names(base, candidate),
    )


def file_names(base: Path, candidate: Path) -> tuple[str, str]:
    """The shortest names of two files that tell them apart."""
    if base.name != candidate.name:
        return base.name, candidate.name
    if str(base) != str(candidate):
        return str(base), str(candidate)
    return f"{base} (base)", f"{candidate} (candidate)"  # a file compared with itself


def write_files(
    result: Comparison, verdict: Verdict | None, flips: Path | None, html: Path | None
) -> None:
    """Write the file of flips and the page, if they are wanted."""
    if flips is not None:
        from unchurn.comparison.result import write_flipped

        count = write_flipped(result, flips)
        typer.echo(visible(f"wrote {flips}: {count:,} flips"), err=True)
    if html is not None:
        result.html(html, verdict)
        typer.echo(visible(f"wrote {html}"), err=True)


def answer(
    result: Comparison, verdict: Verdict | None, *, as_json: bool, as_markdown: bool
) -> None:
    """Print the comparison as JSON, Markdown or text."""
    from unchurn.comparison.report import words

    console = make_patient_console()
    if as_json:
        decided = {} if verdict is None else {"verdict": verdict.to_dict()}
        console.out(json.dumps({**result.to_dict(), **decided}, indent=1, allow_nan=False))
    elif as_markdown:
        console.out(result.markdown(verdict), end="")
    else:
        words.show(console, result, None if verdict is None else verdict.banner())
