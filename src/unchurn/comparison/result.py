"""`Comparison`: the result of comparing two models, as values, Markdown, page or list of flips."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from unchurn.comparison.checks.doubts import Doubt
from unchurn.comparison.inputs.pairs import Paired
from unchurn.comparison.measures.label_coverage import Cover
from unchurn.comparison.measures.outcomes import LABELLED, Counts, Outcomes
from unchurn.comparison.measures.slices import Slice, SliceCounts
from unchurn.comparison.noise.floor import Floor
from unchurn.core.arrays import IntArray
from unchurn.core.files import atomic_write, safe_cell
from unchurn.metrics.intervals import Interval

if TYPE_CHECKING:
    import polars as pl

    from unchurn.comparison.report.words import Banner
    from unchurn.gate.policy import Policy
    from unchurn.gate.verdict import Verdict

SCHEMA = "unchurn.compare/1"
# The estimates, in the order in which they are shown; all but the first need true labels.
MEASURES = ("churn", "accuracy_base", "accuracy_candidate", "accuracy_difference", "churn_correct",
            "churn_incorrect", "bad_flips", "good_flips", "wrong_to_wrong")  # fmt: skip
KINDS = ("bad", "wrong to wrong", "good", "unlabelled")  # of flips, most important first


class HasBanner(Protocol):
    """A verdict that can be shown above a comparison."""

    def banner(self) -> Banner:
        """The decision and its reasons, to show."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)  # arrays are not equal or unequal
class Comparison:
    """Two models compared; `estimates` has the names in MEASURES that the labels allow."""

    paired: Paired
    outcomes: Outcomes
    counts: Counts  # of the outcomes; by cluster if there are clusters
    labels_cover: Cover | None  # which examples have labels; None without labels
    estimates: dict[str, Interval]
    mcnemar: tuple[float, float] | None  # exact and mid p; None without labels, or with clusters
    movement: dict[str, float] | None
    classes: list[dict[str, Any]]  # flips from and to each class, a row for each
    slices: list[Slice]
    slice_counts: list[SliceCounts]  # of every value, rare ones included
    thresholds: list[dict[str, float]]
    floor: Floor | None
    taken: dict[str, dict[str, str]]  # by file, the role of each of its columns
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # why it may not answer what was meant; shown first
    thresholds_given: tuple[float | None, float | None] = (None, None)  # base's, the candidate's
    doubts: tuple[Doubt, ...] = ()  # warnings that keep a gate from promoting

    @property
    def n(self) -> int:
        """Number of examples compared."""
        return self.paired.n

    @property
    def n_labelled(self) -> int:
        """Number of compared examples with a true label."""
        return self.outcomes.number(LABELLED)

    @property
    def thresholds_for(self) -> str | None:
        """The class that the thresholds are for; None unless there are two classes."""
        return self.paired.scored_classes[1] if self.thresholds else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; docs/compare.md describes it."""
        exact, mid = self.mcnemar or (None, None)
        return {
            "schema": SCHEMA,
            "n": self.n,
            "n_labelled": self.n_labelled,
            "labels_cover": self.labels_cover,
            **{m: self.estimates[m].to_dict() if m in self.estimates else None for m in MEASURES},
            "mcnemar_p": exact,
            "mcnemar_mid_p": mid,
            "movement": self.movement,
            "classes": self.classes,
            "slices": [one.to_dict() for one in self.slices],
            "thresholds_for": self.thresholds_for,
            "thresholds": self.thresholds,
            "noise_floor": None if self.floor is None else self.floor.to_dict(),
            "excluded": self.paired.excluded,
            "columns": self.taken,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def gate(
        self, policy: Policy | dict[str, Any] | str | Path | None = None, **limits: Any
    ) -> Verdict:
        """Decide by a policy, the TOML file of one, or limits as keywords: promote, hold or reject.

        Limits given as keywords, as in `gate(max_churn=0.05)`, override those of the policy.
        """
        from unchurn.gate.decide import decide

        return decide(self, policy, **limits)

    def flips(self) -> pl.DataFrame:
        """The flipped examples, as `--flips` writes them: bad ones first, the most confident first.

        A row has the id, both predictions, the label and its kind, confidence and slices.
        """
        return flipped(self)

    def markdown(self, verdict: HasBanner | None = None) -> str:
        """All tables as Markdown, with a gate's verdict at the top if given."""
        from unchurn.comparison.report import words

        return words.markdown(self, None if verdict is None else verdict.banner())

    def __repr__(self) -> str:
        from unchurn.comparison.report import words

        return " ".join(words.sentences(self))

    def _repr_markdown_(self) -> str:
        """The comparison as a notebook shows it."""
        return self.markdown()

    def html(self, path: str | Path, verdict: HasBanner | None = None) -> None:
        """Write one HTML page that needs no network, with a gate's verdict at the top if given."""
        from unchurn.comparison.report.page import write_comparison

        write_comparison(self, Path(path), None if verdict is None else verdict.banner())


def flipped(comparison: Comparison, most: int | None = None) -> pl.DataFrame:
    """A row per flipped example, ranked for a labeller: bad first, then the most confident.

    Columns are the id, both predictions, label, kind, confidence and slices; without labels, an
    empty column of labels to fill in. Confidence is the candidate's probability of the class that
    it predicts, if there are probabilities.
    """
    import polars as pl

    paired, outcomes = comparison.paired, comparison.outcomes
    rows = np.flatnonzero(outcomes.flipped)
    kind = np.full(len(rows), KINDS.index("unlabelled"))
    for name, mask in (
        ("bad", outcomes.bad), ("wrong to wrong", outcomes.wrong_to_wrong), ("good", outcomes.good),
    ):  # fmt: skip
        kind[mask[rows]] = KINDS.index(name)
    confidence = np.zeros(len(rows))
    if paired.probabilities is not None:
        confidence = _of_prediction(paired, rows)
    order = np.lexsort((-np.nan_to_num(confidence), kind))[:most]
    rows, kind, confidence = rows[order], kind[order], confidence[order]
    names = pl.Series([*paired.classes, None], dtype=pl.String)  # the last stands for no label
    columns = {
        "id": paired.ids.gather(rows),
        "base": names.gather(paired.base[rows]),
        "candidate": names.gather(paired.candidate[rows]),
    }
    if paired.labels is not None:
        at = np.where(paired.labels[rows] < 0, len(paired.classes), paired.labels[rows])
        columns["label"] = names.gather(at)
        columns["kind"] = pl.Series(KINDS).gather(kind)
    else:
        columns["label"] = pl.Series([None] * len(rows), dtype=pl.String)
    if paired.probabilities is not None:
        columns["confidence"] = pl.Series(confidence).fill_nan(None)
    for name, column in paired.slices.items():
        columns.setdefault(name, column.gather(rows))
    return pl.DataFrame(columns)


def _of_prediction(paired: Paired, rows: IntArray) -> npt.NDArray[np.float64]:
    """The candidate's probability of its predicted class, which need not be the largest."""
    assert paired.probabilities is not None  # noqa: S101
    scored = paired.scored_classes
    place = np.array([scored.index(c) if c in scored else -1 for c in paired.classes])
    at = place[paired.candidate[rows]]
    found = paired.probabilities[1][rows][np.arange(len(rows)), at]
    return np.where(at < 0, np.nan, found)


def write_flipped(comparison: Comparison, path: Path) -> int:
    """Write the flips as CSV, safe from spreadsheet formulas; return their number."""
    import polars as pl

    table = flipped(comparison)
    texts = [
        c
        if c.dtype.is_numeric() or c.dtype.is_temporal() or c.dtype == pl.Boolean
        else pl.Series(c.name, [v if v is None else safe_cell(str(v)) for v in c], pl.String)
        for c in table
    ]
    safe = pl.DataFrame(texts).rename({c: safe_cell(c) for c in table.columns})
    with atomic_write(path) as temporary:
        safe.write_csv(temporary)
    return table.height
