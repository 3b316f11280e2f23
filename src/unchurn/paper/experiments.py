"""The experiments of the paper's studies, and how a smaller one differs from the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unchurn.core.errors import InputError
from unchurn.datasets import DATASETS, Dataset, load
from unchurn.datasets.base import SPLIT_SEED
from unchurn.paper.selection import name_of, some
from unchurn.paper.studies import RECIPES, RUNS, STUDIES, Recipe
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.settings import Setting
from unchurn.study.results.subject import Subject
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training


def experiments(
    what: str,
    dataset: str,
    *,
    runs: int = RUNS,
    epochs: int | None = None,
    subset: int | None = None,
    methods: Sequence[str] | None = None,
) -> dict[str, Experiment]:
    """The experiments of a study on one of its datasets, each by a name for its files.

    The name also says what differs from the study itself: methods, examples, runs or epochs.
    """
    study = STUDIES[what]
    if dataset not in study.datasets:
        raise InputError(f"{what} has no dataset {dataset!r}: it has {', '.join(study.datasets)}")
    settings = some(what, study.settings(dataset), methods)
    parts = [name_of(what, dataset, methods=methods)]
    data = load(dataset)
    recipes = study.variants(RECIPES[dataset])
    if subset is not None:
        if any(recipe.examples for recipe in recipes.values()):
            raise InputError(f"{what} tries several numbers of examples itself")
        data = take(data, subset)
        parts.append(f"{subset}examples")
    if runs != RUNS:
        parts.append(f"{runs}runs")
    if epochs is not None:
        if len({recipe.epochs for recipe in recipes.values()}) > 1:
            raise InputError(f"{what} tries several numbers of epochs itself")
        parts.append(f"{epochs}epochs")
    if epochs is not None:
        recipes = {variant: replace(recipe, epochs=epochs) for variant, recipe in recipes.items()}
    return {
        "-".join([*parts, *([variant] if variant else [])]): _experiment(
            _data(data, recipe), settings, recipe, runs
        )
        for variant, recipe in recipes.items()
    }


def _experiment(
    data: Dataset, settings: tuple[Setting, ...], recipe: Recipe, runs: int
) -> Experiment:
    """An experiment with `runs` of each setting, chosen on the test part, as in the paper."""
    learner = TorchLearner(recipe.model, Training(epochs=recipe.epochs))
    return Experiment(
        data=data, parts=make_parts(data), settings=settings, learner=learner, runs=runs
    )


def _data(data: Dataset, recipe: Recipe) -> Dataset:
    data = resplit(data, recipe.split)
    return data if recipe.examples is None else take(data, recipe.examples)


def resplit(data: Dataset, seed: int) -> Dataset:
    """The dataset split anew at random, into parts of the same sizes; unchanged for SPLIT_SEED."""
    if seed == SPLIT_SEED:
        return data
    n = len(data.y_train)
    order = np.random.default_rng(seed).permutation(n + len(data.y_test))
    x = np.concatenate([data.x_train, data.x_test])[order]
    y = np.concatenate([data.y_train, data.y_test])[order]
    note = f"split at random once more, with seed {seed}"
    return Dataset(
        name=data.name,
        x_train=x[:n],
        y_train=y[:n],
        x_test=x[n:],
        y_test=y[n:],
        classes=data.classes,
        notes=(*data.notes, note),
    )


def take(data: Dataset, n: int) -> Dataset:
    """The dataset with n of its training examples, always the same ones."""
    if not len(data.classes) <= n <= len(data.y_train):
        raise InputError(
            f"{data.name}: a subset has {len(data.classes)} to {len(data.y_train)} training "
            f"examples, not {n}"
        )
    rows = np.sort(np.random.default_rng(SPLIT_SEED).permutation(len(data.y_train))[:n])
    note = f"trained on {n:,} of {len(data.y_train):,} examples"
    return replace(
        data, x_train=data.x_train[rows], y_train=data.y_train[rows], notes=(*data.notes, note)
    )


def smaller(subject: Subject) -> list[str]:
    """How a study is smaller than the paper's, such as `3 of 5 runs`; empty if it is not."""
    source, recipe = DATASETS[subject.data.name], RECIPES[subject.data.name]
    counts = {
        "train": (subject.data.n_train, source.n_train),
        "test": (len(subject.labels["test"]), source.n_test),
        "epochs": (subject.learner["training"]["epochs"], recipe.epochs),
        "runs": (subject.runs, RUNS),
    }
    return [
        f"{ours:,} of {theirs:,} {name}" for name, (ours, theirs) in counts.items() if ours < theirs
    ]
