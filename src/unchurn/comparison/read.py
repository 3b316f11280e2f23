"""Read and pair all inputs of a comparison: two models, labels, retrainings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unchurn.comparison.inputs.class_columns import check_predictions
from unchurn.comparison.inputs.column_options import asked_of
from unchurn.comparison.inputs.columns import Columns, as_columns
from unchurn.comparison.inputs.flip_list import is_flip_list, read_truth
from unchurn.comparison.inputs.ids.aliases import split_aliases, with_first_names
from unchurn.comparison.inputs.ids.joint import with_joint_id
from unchurn.comparison.inputs.ids.matching import (
    MIN_OVERLAP,
    check_overlap,
    how_joined,
)
from unchurn.comparison.inputs.pairs import Paired, pair
from unchurn.comparison.inputs.predictions import (
    Labels,
    Predictions,
    no_column,
    read_groups,
    read_predictions,
)
from unchurn.comparison.inputs.sources import Source, open_source
from unchurn.comparison.inputs.spelling import in_one_spelling
from unchurn.comparison.noise.floor import retraining_files
from unchurn.comparison.noise.kind_of_noise import kinds_of_noise, note_on
from unchurn.core.arrays import as_fraction, have_one_index
from unchurn.core.errors import InputError
from unchurn.core.frames import is_frame
from unchurn.core.tables import TextForm


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Two models' predictions, each as read and both paired, with labels and retrainings."""

    base: Predictions
    candidate: Predictions
    labels: Labels | None  # if given separately from the models
    is_flip_list: bool  # whether the labels are the labelled list of `--flips`
    retrains: tuple[Predictions, ...]
    of_kind: str  # a note on the kind of noise that the retrainings show
    is_one_file: bool  # whether base and candidate are the same columns of one file
    paired: Paired

    @property
    def taken(self) -> dict[str, dict[str, str]]:
        """The role of each file's columns; one entry for all retrainings if they are alike."""
        taken = {model.name: model.taken for model in (self.base, self.candidate)}
        if self.labels is not None:
            taken[self.labels.name] = self.labels.taken
        if len({str(one.taken) for one in self.retrains}) == 1:
            return {**taken, "retrainings": self.retrains[0].taken}
        return taken | {one.name: one.taken for one in self.retrains}


def read_inputs(
    base: Any,
    candidate: Any,
    labels: Any = None,
    slices: str | Sequence[str] | dict[str, Any] | None = None,
    retrains: Sequence[Any] | str | Path | None = None,
    *,
    columns: Columns | Mapping[str, Any] | None = None,
    cluster: Any = None,
    min_overlap: float = MIN_OVERLAP,
    form: TextForm | None = None,
    names: tuple[str, str] = ("base", "candidate"),
) -> Inputs:
    """Read the arguments of `compare`, and pair the models' rows by id or position."""
    slices = (slices,) if isinstance(slices, str) else slices
    if hasattr(slices, "dtype"):  # an array of values, or a series
        name = getattr(slices, "name", None) or "slice"
        raise InputError(f"slices must have a name: give slices={{{str(name)!r}: …}}")
    if not isinstance(slices, Iterable | None):
        raise InputError(f"slices must be names of columns, or arrays by name, not {slices!r}")
    own_slices = slices if isinstance(slices, dict) else {}
    own_cluster = None if isinstance(cluster, str) else cluster
    asked = as_columns(columns)
    asked = replace(
        asked,
        slices=asked.slices if slices is None or own_slices else tuple(map(str, slices)),
        cluster=cluster if isinstance(cluster, str) else asked.cluster,
    )
    if len({*names}) < len(names):  # results, too, tell the models apart by them
        raise InputError(
            f"names must be two, both are {names[0]!r}: call one of the models otherwise"
        )
    as_fraction(min_overlap, "min_overlap")
    retrained = _retrainings(retrains, base, candidate)

    base_source = open_source(base, names[0], form)
    asked, aliases = split_aliases(asked, base_source)

    def with_ids(source: Source) -> Source:
        return with_joint_id(with_first_names(source, aliases), asked.id)

    def opened(source: Any, name: str) -> Source:
        return with_ids(open_source(source, name, form))

    one_source, two_source = with_ids(base_source), opened(candidate, names[1])
    truth_source = None if labels is None else open_source(labels, "labels", form)
    sources = [opened(x, _called(x, i)) for i, x in enumerate(retrained, 1)]
    truths = []
    # A list of flips has the models' ids, under a column name of its own.
    if truth_source is not None and not is_flip_list(truth_source, asked):
        truth_source = with_ids(truth_source)
        truths = [truth_source]
    asked, by_index = how_joined([one_source, two_source, *truths, *sources], asked)
    models = [one_source, two_source, *sources]
    check_predictions(models, truth_source, asked)

    def read(source: Source, name: str, asked: Columns) -> Predictions:
        own = asked_of(source, models, asked)
        return read_predictions(source, name, own, by_index=by_index)

    one = read(one_source, names[0], asked)
    two = read(two_source, names[1], asked)
    truth, is_list = None, False
    if truth_source is not None:
        asked_of_labels = _not_in(asked, one, two)
        truth, is_list = read_truth(truth_source, asked_of_labels, one, by_index=by_index)
    elif asked.label is not None and one.labels is None and two.labels is None:
        raise no_column(asked.label, "label", one, two)
    groups = read_groups(own_slices, own_cluster)
    alone = replace(asked, slices=(), cluster=None)
    others = [read(source, source.name, alone) for source in sources]
    if not (one.has_ids or two.has_ids or (truth is not None and truth.has_ids)):
        _check_indexes(base, candidate, labels, *retrained, *own_slices.values(), own_cluster)
    (one, two, *others), truth = in_one_spelling([one, two, *others], truth)
    paired = pair(one, two, truth, asked, groups)
    check_overlap(one, two, paired.n, min_overlap)
    return Inputs(
        base=one,
        candidate=two,
        labels=truth,
        is_flip_list=is_list,
        retrains=tuple(others),
        of_kind=note_on(kinds_of_noise(retrained)),
        is_one_file=_are_one_file(base, candidate) and one.taken == two.taken,
        paired=paired,
    )


def _not_in(asked: Columns, *models: Predictions) -> Columns:
    """Drop slice and cluster columns that these models have already provided."""
    there = {column for model in models for column in model.slices}
    return replace(
        asked,
        slices=tuple(column for column in asked.slices if column not in there),
        cluster=asked.cluster if all(model.cluster is None for model in models) else None,
    )


def _retrainings(given: Any, base: Any, candidate: Any) -> list[Any]:
    """The retrainings, one by one; a bench's folder gives its runs of plain training."""
    if given is None:
        return []
    if not isinstance(given, Iterable | Path):
        raise InputError(f"retrains must be a list of retrainings, or a folder, not {given!r}")
    several = [given] if isinstance(given, str | Path) or _is_one(given) else list(given)
    paths = [Path(one) for one in several if isinstance(one, str | Path)]
    models = [Path(one) if isinstance(one, str | Path) else None for one in (base, candidate)]
    others = [one for one in several if not isinstance(one, str | Path)]
    return [*(retraining_files(paths, *models) if paths else []), *others]


def _is_one(given: Any) -> bool:
    """Whether these are predictions of a single model: a frame, an Arrow table or a column."""
    is_column = len(getattr(given, "shape", ())) == 1
    return is_column or is_frame(given) or hasattr(given, "column_names")


def _called(retraining: Any, number: int) -> str:
    """The name of a retraining in messages, with its file's name if it has one."""
    file = f" ({Path(retraining).name})" if isinstance(retraining, str | Path) else ""
    return f"retraining {number}{file}"


def _are_one_file(base: Any, candidate: Any) -> bool:
    """Whether two paths lead to the same file."""
    if not (isinstance(base, str | Path) and isinstance(candidate, str | Path)):
        return False
    return Path(base).samefile(candidate)


def _check_indexes(*given: Any) -> None:
    """Refuse pandas objects that would be paired by position though their indexes differ."""
    if not have_one_index(*given):
        raise InputError(
            "the pandas indexes differ: if they are ids, make them a column, "
            "rename_axis('id').reset_index(); if they only number rows, give every table a column "
            "of ids, or bring all into one order and drop the indexes, reset_index(drop=True)"
        )
