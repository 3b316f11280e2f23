"""`Comparison`: what was found of two models, and the forms it can be had in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from unchurn.comparison.inputs.pairs import Paired
from unchurn.comparison.noise_floor import Floor
from unchurn.comparison.outcomes import LABELLED, Outcomes
from unchurn.comparison.slices import Slice, SliceCounts
from unchurn.metrics.intervals import Interval

if TYPE_CHECKING:
    from unchurn.comparison.words import Banner
    from unchurn.gate.policy import Policy
    from unchurn.gate.verdict import Verdict

SCHEMA = "unchurn.compare/1"
# The estimates, in the order in which they are shown; all but the first need true labels.
MEASURES = ("churn", "accuracy_base", "accuracy_candidate", "accuracy_difference", "churn_correct",
            "churn_incorrect", "bad_flips", "good_flips", "wrong_to_wrong")  # fmt: skip


class HasBanner(Protocol):
    """A verdict, as far as it is shown above a comparison."""

    def banner(self) -> Banner:
        """What is shown of it."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison:
    """Two models compared; `estimates` are by the names in MEASURES, as far as there are labels."""

    paired: Paired
    outcomes: Outcomes
    estimates: dict[str, Interval]
    mcnemar: tuple[float, float] | None  # exact and mid p; None without labels, or with clusters
    movement: dict[str, float] | None
    classes: list[dict[str, Any]]  # flips from and to each class, a row for each
    slices: list[Slice]
    slice_counts: list[SliceCounts]  # of every value, also of the rare ones
    thresholds: list[dict[str, float]]
    floor: Floor | None
    taken: dict[str, dict[str, str]]  # by file, what each of its columns was taken for
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many examples were compared."""
        return self.paired.n

    @property
    def n_labelled(self) -> int:
        """How many of them have a true label."""
        return self.outcomes.number(LABELLED)

    @property
    def thresholds_for(self) -> str | None:
        """The class that the thresholds are for, where there are two."""
        return self.paired.scored_classes[1] if self.thresholds else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; docs/compare.md describes it."""
        exact, mid = self.mcnemar or (None, None)
        return {
            "schema": SCHEMA,
            "n": self.n,
            "n_labelled": self.n_labelled,
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
        }

    def gate(self, policy: Policy | dict[str, Any] | str | Path) -> Verdict:
        """Decide by a policy: promote, hold or reject."""
        from unchurn.gate.decide import decide

        return decide(self, policy)

    def markdown(self, verdict: HasBanner | None = None) -> str:
        """All tables as Markdown, a gate's verdict above them if given."""
        from unchurn.comparison import words

        return words.markdown(self, None if verdict is None else verdict.banner())

    def __repr__(self) -> str:
        from unchurn.comparison import words

        return " ".join(words.sentences(self))

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return self.markdown()

    def html(self, path: str | Path, verdict: HasBanner | None = None) -> None:
        """Write it as one HTML page that needs no network, a gate's verdict above it if given."""
        from unchurn.comparison.page import write_comparison

        write_comparison(self, Path(path), None if verdict is None else verdict.banner())
