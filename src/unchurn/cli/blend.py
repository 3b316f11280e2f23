"""`unchurn blend`: combine two models' predictions into the answers to serve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unchurn.cli.compare import check_outputs, file_names
from unchurn.cli.console import make_patient_console
from unchurn.cli.options import (
    AsJson,
    Base,
    Candidate,
    Cluster,
    Decimal,
    Delimiter,
    Encoding,
    Id,
    Label,
    Labels,
    LabelsCover,
    MinOverlap,
    Positive,
    Prediction,
    Probabilities,
    Threshold,
    make_columns,
    make_form,
)
from unchurn.report.formats import visible

if TYPE_CHECKING:
    from unchurn.comparison.inputs.columns import Columns
    from unchurn.gate.blend import Blend


def blend(
    base: Base,
    candidate: Candidate,
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the served answers.")],
    max_bad_flips: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of answers that may turn from right to wrong."),
    ] = None,
    max_churn: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of answers that may change.")
    ] = None,
    ratio: Annotated[
        float | None, typer.Option(min=0, help="A ratio chosen earlier, on other rows.")
    ] = None,
    labels: Labels = None,
    labels_cover: LabelsCover = None,
    id_: Id = None,
    prediction: Prediction = None,
    label: Label = None,
    probabilities: Probabilities = None,
    positive: Positive = None,
    threshold: Threshold = None,
    cluster: Cluster = None,
    min_overlap: MinOverlap = 0.5,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Serve the old model's answers, unless the new model is surer by a ratio.

    A model's doubt is 1 minus the probability of its own answer. Where the two answers differ, the
    new one is served if the old model's doubt is more than the ratio times the new model's. Choose
    the ratio by a budget on labelled rows, then apply it to other rows with --ratio. The estimate
    keeps the budget; gate may still say hold at the same limit, because it wants the whole
    interval within the limit. Files are as for compare, with probabilities; the output is
    .parquet, .csv or .jsonl.
    """
    options = locals()
    from unchurn.core.tables import check_written
    from unchurn.gate import blend as blending

    check_written(output)
    read = (base, candidate, labels)
    check_outputs(read, as_json=as_json, as_markdown=False, html=None, others=(output,))
    columns = make_columns(options)
    result = blending.blend(
        base,
        candidate,
        labels,
        max_bad_flips=max_bad_flips,
        max_churn=max_churn,
        ratio=ratio,
        columns=columns,
        labels_cover=labels_cover,
        min_overlap=min_overlap,
        form=make_form(options),
        names=file_names(base, candidate),
    )
    result.write(output)
    if as_json:
        make_patient_console().out(json.dumps(result.to_dict(), indent=1, allow_nan=False))
    else:
        _show(result, columns)
    typer.echo(visible(f"wrote {output}: {result.comparison.n:,} rows"), err=True)


def _show(result: Blend, columns: Columns) -> None:
    """Print the measures, the ratio, how reliable they are, and how to read the served file."""
    from rich.text import Text

    from unchurn.comparison.report import words
    from unchurn.gate.blend_words import headline, hint, how_to_read, measures

    console = make_patient_console()
    words.show_warnings(console, result.comparison)
    console.print(Text(headline(result), style="bold"))
    words.show_table(console, measures(result))
    console.print()
    for said in (hint(result), how_to_read(columns.thresholds[0])):
        if said:
            console.print(Text(said))
    words.show_remarks(console, result.comparison)
