"""`blend`: serve the base's answers, and the candidate's where it is surer by a ratio."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.compare import compare_given, estimates
from unchurn.comparison.inputs.columns import PREFIX, Columns, as_columns
from unchurn.comparison.inputs.ids.lookup import alike, find
from unchurn.comparison.inputs.ids.matching import MIN_OVERLAP
from unchurn.comparison.inputs.predictions import Predictions
from unchurn.comparison.inputs.scores import WHICH_CLASS
from unchurn.comparison.measures.outcomes import Counting, Outcomes
from unchurn.comparison.read import Inputs, read_inputs
from unchurn.comparison.result import Comparison
from unchurn.core.arrays import Float64, IntArray
from unchurn.core.errors import InputError
from unchurn.core.tables import TextForm, write_table
from unchurn.gate.stay import NO_BUDGET, Mask, Switches, as_ratio, doubt_ratios, doubts
from unchurn.metrics.intervals import Interval

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "unchurn.blend/1"
# The measures shown for the candidate alone and for the served answers: our names, a comparison's.
SHOWN = {
    "accuracy": "accuracy_candidate", "accuracy_difference": "accuracy_difference",
    "churn": "churn", "bad_flips": "bad_flips", "good_flips": "good_flips",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)  # == of arrays gives no bool
class Blend:
    """The answers served from two models, and how they differ from the base's."""

    ratio: float
    is_chosen: bool  # whether these rows chose the ratio; their numbers are then optimistic
    table: pl.DataFrame  # served: ids if there are any, predictions, probabilities
    switched: Mask  # the rows with the candidate's answer instead of the base's
    comparison: Comparison  # of the candidate alone with the base
    estimates: dict[str, Interval]  # the same measures of the served answers

    @property
    def candidate(self) -> dict[str, Interval]:
        """Measures of the candidate alone against the base, as far as labels allow."""
        return _shown(self.comparison.estimates)

    @property
    def served(self) -> dict[str, Interval]:
        """Measures of the served answers against the base, as far as labels allow."""
        return _shown(self.estimates)

    def __repr__(self) -> str:
        from unchurn.gate.blend_words import headline

        return headline(self)

    def write(self, path: str | Path) -> None:
        """Write the served answers as .parquet, .csv or .jsonl, which `compare` reads."""
        # Unlike the list of flips, they do not go through `safe_cell`: its docstring says why.
        write_table(self.table, Path(path))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows as plain values; docs/compare.md describes it."""
        whole = self.comparison.to_dict()
        same = ("n", "n_labelled", "labels_cover", "accuracy_base")
        return {
            "schema": SCHEMA,
            "ratio": self.ratio if math.isfinite(self.ratio) else None,
            "is_chosen": self.is_chosen,
            "new_answers": int(self.switched.sum()),
            **{name: whole[name] for name in same},
            **{
                who: {name: found[name].to_dict() if name in found else None for name in SHOWN}
                for who, found in (("candidate", self.candidate), ("served", self.served))
            },
            **{name: whole[name] for name in ("excluded", "columns", "notes", "warnings")},
        }


def blend(
    base: Any,
    candidate: Any,
    labels: Any = None,
    *,
    max_bad_flips: float | None = None,
    max_churn: float | None = None,
    ratio: float | None = None,
    columns: Columns | Mapping[str, Any] | None = None,
    cluster: Any = None,
    labels_cover: str | None = None,
    min_overlap: float = MIN_OVERLAP,
    form: TextForm | None = None,
    names: tuple[str, str] = ("base", "candidate"),
) -> Blend:
    """Keep the base's answers, and take the candidate's where it is surer by a ratio.

    The ratio is the base's doubt over the candidate's; a doubt is 1 − the probability of the
    model's own answer.

    Parameters
    ----------
    base, candidate, labels, columns, cluster, labels_cover, min_overlap, form
        As `compare` takes them; both models need probabilities.
    max_bad_flips, max_churn
        The budget by which the ratio is chosen: the most bad flips, which need labels, and the most
        answers other than the base's, each as a share, as in `compare`. Within it, the ratio gives
        the most accurate answers; without labels, the most answers of the candidate.
    ratio
        A ratio chosen before, instead of a budget: the candidate answers where the ratio of the
        doubts is above it. 0 takes all of the candidate's answers, infinity none.

    Examples
    --------
    >>> import numpy as np
    >>> base = np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8]])
    >>> candidate = np.array([[0.1, 0.9], [0.3, 0.7], [0.6, 0.4]])
    >>> found = blend(base, candidate, labels=[1, 0, 0], max_bad_flips=0.0)
    >>> found.ratio, found.table["prediction"].to_list()
    (0.4, [1, 0, 0])
    """
    has_budget = max_bad_flips is not None or max_churn is not None
    if has_budget == (ratio is not None):  # checked before anything is read
        what = f"{NO_BUDGET}, or ratio= as it was chosen before"
        raise InputError("give ratio= or a budget, not both" if has_budget else what)
    given = read_inputs(
        base, candidate, labels, columns=columns, cluster=cluster, min_overlap=min_overlap,
        form=form, names=names,
    )  # fmt: skip
    sides = [_Side.of(model, given) for model in (given.base, given.candidate)]
    comparison = compare_given(given, labels_cover=labels_cover)
    switches = _switches(comparison, *sides)
    chosen = (
        as_ratio(ratio)
        if ratio is not None
        else switches.choose(max_bad_flips=max_bad_flips, max_churn=max_churn)
    )
    switched = comparison.outcomes.flipped.copy()
    switched[switched] = switches.ratios > chosen
    return Blend(
        ratio=chosen,
        is_chosen=ratio is None,
        table=_table(given, switched, as_columns(columns), *sides),
        switched=switched,
        comparison=comparison,
        estimates=_estimates(comparison, switched),
    )


@dataclass(frozen=True)
class _Side:
    """A model, and the row of each example in it; None if they are in order."""

    model: Predictions
    rows: IntArray | None

    @classmethod
    def of(cls, model: Predictions, given: Inputs) -> _Side:
        """One of the two models; InputError if it has no probabilities."""
        if not model.probabilities:
            why = model.taken.get("probabilities", "none")
            how = "positive=" if WHICH_CLASS in why else "probabilities= (their columns)"
            raise InputError(
                f"{model.name}: probabilities are needed, and there are {why}: give {how}"
            )
        return cls(model, find(*alike(given.paired.ids, model.ids)))

    def at(self, column: pl.Series) -> pl.Series:
        """A column of the model's in the order of the examples."""
        return column if self.rows is None else column.gather(self.rows)

    def doubts(self, examples: IntArray, ids: pl.Series) -> Float64:
        """The model's doubts in its own answers to some examples."""
        rows = examples if self.rows is None else self.rows[examples]
        columns = [column.gather(rows).to_numpy() for column in self.model.probabilities.values()]
        probabilities = np.column_stack(columns)
        gaps = np.isnan(probabilities).any(axis=1)
        if gaps.any():
            raise InputError(
                f"{self.model.name}: {int(gaps.sum()):,} answers that differ have no "
                f"probabilities, such as that of id {ids[int(examples[gaps.argmax()])]!r}"
            )
        return doubts(probabilities, self._answers(rows))

    def _answers(self, rows: IntArray) -> IntArray:
        """The model's answers as positions of its columns of probabilities."""
        import polars as pl

        model, said = self.model, self.model.predicted.gather(rows).cast(pl.String)
        classes = pl.Series(list(model.probabilities), dtype=pl.String)
        # If only one class has a probability, column 0 stands for all others, whatever their names.
        other = None if model.only_class is None else 0
        numbers = pl.int_range(len(classes), eager=True)
        found = said.replace_strict(classes, numbers, default=other, return_dtype=pl.Int64)
        if found.null_count():
            unknown = said.filter(found.is_null())[0]
            raise InputError(f"{model.name} predicts {unknown!r}, and has no probability of it")
        return found.to_numpy()


def _shown(found: dict[str, Interval]) -> dict[str, Interval]:
    """The known measures, by their names in SHOWN."""
    return {name: found[theirs] for name, theirs in SHOWN.items() if theirs in found}


def _switches(comparison: Comparison, base: _Side, candidate: _Side) -> Switches:
    """The flips, and the ratio below which each takes the candidate's answer."""
    outcomes, ids = comparison.outcomes, comparison.paired.ids
    flips = np.flatnonzero(outcomes.flipped)
    has_labels = comparison.labels_cover is not None
    return Switches(
        ratios=doubt_ratios(base.doubts(flips, ids), candidate.doubts(flips, ids)),
        bad=outcomes.bad[flips] if has_labels else None,
        good=outcomes.good[flips] if has_labels else None,
        n=comparison.n,
        n_judged=comparison.counts.number(comparison.counts.judged),
    )


def _estimates(comparison: Comparison, switched: Mask) -> dict[str, Interval]:
    """The measures of the served answers against the base."""
    paired = comparison.paired
    served = replace(paired, candidate=np.where(switched, paired.candidate, paired.base))
    counting = Counting(paired.clusters, comparison.counts.judged)
    return estimates(counting.all(Outcomes.of(served)), comparison.labels_cover)


def _name_of_predictions(base: Predictions, asked: Columns) -> str:
    """The name of the served column of predictions: as asked for; of two names, the base's."""
    named = asked.prediction or "prediction"
    return named if named in base.all_columns else named.split(",")[0].strip()


def _table(
    given: Inputs, switched: Mask, asked: Columns, base: _Side, candidate: _Side
) -> pl.DataFrame:
    """The table of served answers, which `compare` reads with the options of the two models."""
    import polars as pl

    mask = pl.Series(switched)

    def served(old: pl.Series, new: pl.Series) -> pl.Series:
        if old.dtype != new.dtype:  # numbers and names
            old, new = old.cast(pl.String), new.cast(pl.String)
        return candidate.at(new).zip_with(mask, base.at(old))

    def of(side: _Side, name: str) -> pl.Series:
        """A class's probabilities; 0 if the model does not know the class."""
        model = side.model
        zeros = pl.repeat(0.0, len(model.ids), dtype=pl.Float64, eager=True)
        return model.probabilities.get(name, zeros)

    table = {}
    if (n := base.model.n_rows_if_no_ids) is None:
        table[str(base.model.id_column)] = given.paired.ids
    elif n != given.paired.n:
        raise InputError(
            f"{n - given.paired.n:,} of {n:,} rows are left out, and without ids the others "
            "cannot be told: join them with id="
        )
    table[_name_of_predictions(given.base, asked)] = served(
        base.model.predicted, candidate.model.predicted
    )
    for name in {**base.model.probabilities, **candidate.model.probabilities}:
        table[PREFIX + name] = served(of(base, name), of(candidate, name))
    return pl.DataFrame(table)
