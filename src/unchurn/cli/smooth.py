"""`unchurn smooth`: make soft targets from files of logits and labels, for any framework."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unchurn.cli.options import Decimal, Delimiter, Encoding, make_form
from unchurn.report.formats import visible


def smooth(
    logits: Annotated[
        Path, typer.Argument(help="A trained model's logits for the training data, (n, L).")
    ],
    labels: Annotated[Path, typer.Argument(help="The n training labels.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the soft targets.")],
    k: Annotated[int, typer.Option("-k", help="Number of neighbours.")] = 10,
    a: Annotated[float, typer.Option("-a", help="Weight of smoothing against the label.")] = 0.9,
    b: Annotated[float, typer.Option("-b", help="Weight of global against local smoothing.")] = 0.9,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Move labels towards those of their neighbours by a model's logits (k-NN label smoothing).

    Input files are .npy, .npz (arrays `logits`, `labels`), or tables as text, Parquet, Arrow or a
    workbook; the output is .npy, .npz, .csv or .parquet.
    Integer labels are column numbers, from 0. Other labels name the columns of a table or, in
    sorted order, those of an array.
    """
    from unchurn import blend_knn_labels, knn_labels, off_label_mass
    from unchurn.cli.console import make_console
    from unchurn.core.arrays import as_fraction
    from unchurn.neighbors.logit_files import (
        check_output,
        look_like_probabilities,
        read_logits_and_labels,
        write_columns,
    )

    check_output(output, (logits, labels))  # before the search, which may take minutes
    as_fraction(a, "-a"), as_fraction(b, "-b")
    form = make_form({"delimiter": delimiter, "decimal": decimal, "encoding": encoding})
    data = read_logits_and_labels(logits, labels, form)
    n, n_classes = len(data.logits), len(data.classes)
    knn = knn_labels(data.logits, data.labels, k, n_classes=n_classes, progress=True)
    # Written before anything is printed: a closed pipe (| head) must not cost the result.
    write_columns(output, blend_knn_labels(knn, data.labels, a=a, b=b), data.classes)

    console = make_console()
    console.print(visible(f"logits  {logits}: {n:,} rows × {data.logits.shape[1]} columns"))
    console.print(visible(f"labels  {labels}: {n_classes} classes: {_preview(data.classes)}"))
    if unseen := sorted(set(range(n_classes)) - set(data.labels.tolist())):
        names = tuple(data.classes[number] for number in unseen)
        lacking = f"note    no example of class {_preview(names)}: check the logits' columns"
        console.print(visible(lacking))
    if look_like_probabilities(data.logits):
        console.print("note    these look like probabilities (0 to 1, rows sum to 1), not logits:")
        console.print("        distances differ between the two; give logits, or their logarithms")
    console.print(str(off_label_mass(knn, data.labels)))
    console.print(visible(f"wrote   {output}: {n:,} × {n_classes} soft targets"))


def _preview(names: tuple[str, ...], most: int = 10) -> str:
    """The first few names."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def warmup() -> None:
    """Compile the kernels of k-NN and LeNet5 ahead of their first use, and keep them on disk."""
    from unchurn.core.extras import missing_modules
    from unchurn.neighbors.warmup import warmup as compile_search

    seconds = compile_search()
    if not missing_modules(["train"]):  # without torch, nothing trains LeNet5
        from unchurn.training.loop.warmup import warmup as compile_training

        seconds += compile_training()
    typer.echo(f"compiled in {seconds:.1f} s (next time they are read from disk)")
