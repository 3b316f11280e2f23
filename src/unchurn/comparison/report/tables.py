"""Tables of a comparison: measures, slices and classes that flip most, thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unchurn.report.numbers import NONE, between, fine_signed, percent, points
from unchurn.report.table import Cell, Column, Note, Table

if TYPE_CHECKING:
    from unchurn.comparison.measures.slices import Slice
    from unchurn.comparison.result import Comparison
    from unchurn.metrics.intervals import Interval

NAMES = {
    "churn": "churn",
    "accuracy_base": "accuracy of base",
    "accuracy_candidate": "accuracy of candidate",
    "accuracy_difference": "difference in accuracy",
    "churn_correct": "churn where base is right",
    "churn_incorrect": "churn where base is wrong",
    "bad_flips": "bad flips (right → wrong)",
    "good_flips": "good flips (wrong → right)",
    "wrong_to_wrong": "wrong → another wrong",
}
N_SLICES = 10  # shown
N_CLASSES = 12
HALF = 0.5
SHOWN_THRESHOLDS = (0.1, 0.3, HALF, 0.7, 0.9)
EMPTY = Cell(text="")


def all_tables(comparison: Comparison) -> list[Table]:
    """All tables of a comparison that have rows."""
    found = [f(comparison) for f in (measures, slices, classes, thresholds)]
    return [table for table in found if table.rows]


def shown_estimates(comparison: Comparison) -> dict[str, Interval]:
    """The estimates; with two classes, without wrong to another wrong, which cannot occur."""
    found = comparison.estimates
    if len(comparison.paired.classes) > 2:
        return found
    return {name: one for name, one in found.items() if name != "wrong_to_wrong"}


def measures(comparison: Comparison) -> Table:
    """Every measure with its value, interval and remark."""
    rows = []
    for name, estimate in shown_estimates(comparison).items():
        is_difference = name == "accuracy_difference"
        shown = points(estimate.value) if is_difference else percent(estimate.value)
        ends = between(estimate, in_points=is_difference)
        rows.append(
            (
                Cell(text=NAMES[name]), Cell(text=shown, value=estimate.value), Cell(text=ends),
                Cell(text=estimate.note),
            )
        )  # fmt: skip
    if comparison.mcnemar is not None:
        exact, mid = comparison.mcnemar
        both = Cell(text=f"{exact:.3g}; {mid:.3g}", value=exact)
        rows.append((Cell(text="McNemar's p (exact; mid-p)"), both, EMPTY, EMPTY))
    if comparison.movement is not None:
        n, mean, bits = (comparison.movement[k] for k in ("n", "mean_absolute", "jensen_shannon"))
        of = Cell(text=f"of {n:,} examples" if n < comparison.n else "")
        change = Cell(text=f"{mean:.4f}", value=mean)
        divergence = Cell(text=f"{bits:.4f} bits", value=bits)
        rows.append((Cell(text="mean change of a probability"), change, EMPTY, of))
        rows.append((Cell(text="mean Jensen–Shannon divergence"), divergence, EMPTY, EMPTY))
    unknown = [shown for name, shown in NAMES.items() if name not in comparison.estimates]
    note = Note(text=f"Unknown, as only the flips are labelled: {', '.join(unknown)}.")
    return Table(
        columns=_columns("measure", "value", "95 % interval", ""),
        rows=tuple(rows),
        notes=(note,) if comparison.labels_cover == "flips" else (),
    )


def slices(comparison: Comparison, most: int = N_SLICES) -> Table:
    """The slices that differ most from the rest; with labels, their bad flips and accuracy."""
    shown = comparison.slices[:most]
    with_labels = any(one.bad_flips is not None for one in shown)
    judged = (Column(heading="bad flips", may_go=2), Column(heading="accuracy", may_go=1))
    columns = (
        Column(heading="slice", is_text=True, may_shorten=True),
        Column(heading="examples"),
        Column(heading="churn"),
        Column(heading="95 % interval", may_go=4),
        Column(heading="the rest"),
        *(judged if with_labels else ()),
        Column(heading="q", may_go=3),
        Column(heading="", is_text=True),
    )
    rows = tuple(
        (
            Cell(text=f"{one.column}={one.value}", is_foreign=True), _count(one.n),
            Cell(text=percent(one.churn.value), value=one.churn.value),
            Cell(text=between(one.churn), value=one.churn.low),
            Cell(text=percent(one.rest), value=one.rest),
            *(_for_the_worse(one) if with_labels else ()),
            Cell(text=f"{one.q:.2g}" if one.q else "<1e-300", value=one.q),
            Cell(text="differs" if one.is_notable else ""),
        )
        for one in shown
    )  # fmt: skip
    what = "accuracy: the candidate's less base's, in points."
    notes = (
        *_of_many(len(rows), len(comparison.slices), "slices that differ most from the rest"),
        *((Note(text=what, of=("accuracy",)),) if with_labels else ()),
    )
    return Table(columns=columns, rows=rows, notes=notes)


def _for_the_worse(one: Slice) -> tuple[Cell, Cell]:
    """Cells of a slice's bad flips and change in accuracy; dashes without labels."""
    if one.bad_flips is None or one.accuracy_difference is None:
        return Cell(text=NONE), Cell(text=NONE)
    change = one.accuracy_difference.value
    return (
        Cell(text=percent(one.bad_flips.value), value=one.bad_flips.value),
        Cell(text=fine_signed(change), value=change),
    )


def classes(comparison: Comparison, most: int = N_CLASSES) -> Table:
    """The classes with the most flips."""
    headings = {"predicted_base": "by base", "flips_from": "flips from", "flips_to": "flips to"}
    if comparison.n_labelled > 0:
        headings |= {"labelled": "labelled", "bad_flips": "bad flips", "good_flips": "good flips"}
    ranked = sorted(comparison.classes, key=lambda row: -(row["flips_from"] + row["flips_to"]))
    rows = tuple(
        (Cell(text=row["class"], is_foreign=True), *(_count(row[name]) for name in headings))
        for row in ranked[:most]
    )
    notes = _of_many(len(rows), len(ranked), "classes with the most flips")
    name = Column(heading="class", is_text=True, may_shorten=True)
    columns = (name, *(Column(heading=heading) for heading in headings.values()))
    return Table(columns=columns, rows=rows, notes=notes)


def _of_many(shown: int, total: int, which: str) -> tuple[Note, ...]:
    """A note that a table shows only some of all rows."""
    return (Note(text=f"The {shown:,} of {total:,} {which}."),) if shown < total else ()


def thresholds(comparison: Comparison) -> Table:
    """For two classes: churn, and both accuracies if known, at some other thresholds."""
    shown = [
        row
        for row in comparison.thresholds
        if row["threshold"] in SHOWN_THRESHOLDS or _whose(row["threshold"], comparison)
    ]
    names = [name for name in ("churn", "accuracy_base", "accuracy_candidate")
             if shown and name in shown[-1]]  # fmt: skip
    is_given = None not in comparison.thresholds_given
    rows = tuple(
        (
            Cell(text=f"{row['threshold']:g}", value=row["threshold"]),
            *(Cell(text=percent(row[name]), value=row[name]) for name in names),
            *([Cell(text=_whose(row["threshold"], comparison))] if is_given else []),
        )
        for row in shown
    )
    heading = f"threshold for {comparison.thresholds_for}"
    first = Column(heading=heading, is_text=True, is_foreign=True)
    marks = [Column(heading="", is_text=True)] if is_given else []
    why = _given_thresholds(comparison) if is_given else _not_at_half(comparison, shown)
    return Table(
        columns=(first, *(Column(heading=NAMES[name]) for name in names), *marks),
        rows=rows,
        notes=() if why is None else (Note(text=why),),
    )


def _whose(threshold: float, comparison: Comparison) -> str:
    """The model to which this threshold was given, in words; empty if to neither."""
    base, candidate = (
        given is not None and math.isclose(given, threshold)
        for given in comparison.thresholds_given
    )
    if base and candidate:
        return "as above"
    return "base's" if base else "candidate's" if candidate else ""


def _given_thresholds(comparison: Comparison) -> str | None:
    """A note on the thresholds of the predictions above; None if this table shows them."""
    base, candidate = comparison.thresholds_given
    if base != candidate:
        return (
            f"Above, base's threshold is {base:g} and the candidate's {candidate:g}; here both "
            "have the same."
        )
    is_shown = any(_whose(row["threshold"], comparison) for row in comparison.thresholds)
    return None if is_shown else f"Above, the threshold is {base:g}."


def _not_at_half(comparison: Comparison, shown: list[dict[str, float]]) -> str | None:
    """A note on why the row at 0.5 differs from the numbers above; None if it does not."""
    at_half = next((row for row in shown if row["threshold"] == HALF), {})
    differs = any(
        not math.isclose(at_half[name], estimate.value)
        for name, estimate in comparison.estimates.items()
        if name in at_half
    )
    if not differs:
        return None
    return (
        "At 0.5 it is not as above: here every prediction goes by its probability, and one of just "
        "0.5 reaches the threshold."
    )


def _columns(*headings: str) -> tuple[Column, ...]:
    """Columns; the first, and one without a heading, have text, all others numbers."""
    return tuple(Column(heading=h, is_text=i == 0 or not h) for i, h in enumerate(headings))


def _count(number: int) -> Cell:
    return Cell(text=f"{number:,}", value=number)
