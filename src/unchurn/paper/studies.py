"""What each table and figure of the paper trains, and the trials of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

from unchurn.datasets.base import SPLIT_SEED
from unchurn.paper.published import (
    ENSEMBLE,
    FIGURE2,
    PAPER_GRIDS,
    SINGLE_MODELS,
    ablation,
    along,
    published,
)
from unchurn.study.design.settings import Setting, make_setting

RUNS = 5  # of every setting, in the paper


@dataclass(frozen=True)
class Recipe:
    """The network of a task, how long it is trained, and on what.

    `split` is the seed of our split, for data that the publishers did not split; `examples` says
    how many to train on, None for all.
    """

    model: str
    epochs: int
    split: int = SPLIT_SEED
    examples: int | None = None


# Phishing's epochs are not in the paper: `trial-epochs` tries some.
RECIPES = {
    "svhn": Recipe("lenet5", 30),
    "mnist": Recipe("mlp", 20),
    "fashion_mnist": Recipe("mlp", 20),
    "celeba_smiling": Recipe("lenet5", 20),
    "celeba_high_cheekbones": Recipe("lenet5", 20),
    "phishing": Recipe("mlp", 20),
}


@dataclass(frozen=True)
class Study:
    """A table, a figure or a trial: its settings on each of its datasets, in one or more variants.

    A variant is another recipe, by a name that is added to the study's. The question says what a
    trial tries.
    """

    datasets: tuple[str, ...]
    settings: Callable[[str], tuple[Setting, ...]]
    variants: Callable[[Recipe], dict[str, Recipe]] = lambda recipe: {"": recipe}
    question: str = ""


def _table1(dataset: str) -> tuple[Setting, ...]:
    """The paper's choice of every method but the ensemble."""
    rows = [published()[dataset, name] for name in SINGLE_MODELS]
    return tuple(make_setting(row.method, **row.parameters) for row in rows)


def _table2(dataset: str) -> tuple[Setting, ...]:
    return (make_setting(ENSEMBLE, **published()[dataset, ENSEMBLE].parameters),)


def _table3(dataset: str) -> tuple[Setting, ...]:
    return tuple(make_setting(row.method, **row.parameters) for row in ablation())


def _figure2(dataset: str) -> tuple[Setting, ...]:
    shown = [row for parameter in FIGURE2 for row in along(parameter)]
    rows = [row for row in ablation() if row in shown]  # curves cross: a setting of two counts once
    return tuple(make_setting(row.method, **row.parameters) for row in rows)


def _figure3(dataset: str) -> tuple[Setting, ...]:
    """The appendix's grids of the single models, with k=100 and n_warm=1000."""
    fixed = {"k": (100,), "n_warm": (1000,)}
    settings = []
    for name in SINGLE_MODELS:
        grid = {p: fixed.get(p, values) for p, values in PAPER_GRIDS[name].items()}
        settings += [
            make_setting(name, **dict(zip(grid, values, strict=True)))
            for values in product(*grid.values())
        ]
    return tuple(settings)


def _varied(
    dataset: str, names: tuple[str, ...], parameter: str, values: tuple[object, ...]
) -> tuple[Setting, ...]:
    """The paper's choice of some methods, with one parameter set to each of the values."""
    return tuple(
        make_setting(name, **{**published()[dataset, name].parameters, parameter: value})
        for name in names
        for value in values
    )


def _of_table1(*names: str) -> Callable[[str], tuple[Setting, ...]]:
    """The paper's choice of these methods."""
    return lambda dataset: tuple(s for s in _table1(dataset) if s.name in names)


def _epochs(*numbers: int) -> Callable[[Recipe], dict[str, Recipe]]:
    return lambda recipe: {f"{n}epochs": replace(recipe, epochs=n) for n in numbers}


def _models(*names: str) -> Callable[[Recipe], dict[str, Recipe]]:
    return lambda recipe: {name: replace(recipe, model=name) for name in names}


def _light(dataset: str) -> tuple[Setting, ...]:
    """The paper's choice of three methods, and both kinds of smoothing with a small a."""
    small = (0.01, 0.02, 0.05, 0.1)
    return (
        *_of_table1("control", "label_smoothing", "knn_ls")(dataset),
        *(make_setting("label_smoothing", a=a) for a in small),
        *(make_setting("knn_ls", k=100, a=a, b=0.1) for a in small),
    )


ALL = tuple(RECIPES)
CODISTILLATION = ("codistill_ce", "codistill_kl")
FAST = ("mnist", "fashion_mnist", "phishing")
STUDIES = {
    "table1": Study(ALL, _table1),
    "table2": Study(ALL, _table2),
    "table3": Study(("svhn",), _table3),
    "figure2": Study(("svhn",), _figure2),
    "figure3": Study(ALL, _figure3),
    "trial-epochs": Study(
        ("phishing",),
        _table1,
        _epochs(5, 10, 20, 50, 100),
        question="Phishing's epochs, of which the paper gives none.",
    ),
    "trial-split": Study(
        ("phishing",),
        _of_table1("control", "label_smoothing", "knn_ls"),
        lambda recipe: {f"split{n}": replace(recipe, split=n) for n in range(5)},
        question="Phishing's split, of which the paper gives the sizes, not the rows: five random "
        "ones.",
    ),
    "trial-length": Study(
        ("fashion_mnist",),
        _of_table1("control", "label_smoothing", "knn_ls"),
        _epochs(10, 20, 40),
        question="Fashion-MNIST's epochs: the paper gives MNIST's network for it, and leaves open "
        "whether MNIST's 20 epochs too.",
    ),
    "trial-runs": Study(
        ("fashion_mnist",),
        _of_table1("control"),
        question="How far five runs can be trusted: Fashion-MNIST's control, with more of them.",
    ),
    "trial-mlp": Study(
        ("mnist", "fashion_mnist"),
        _of_table1("control", "label_smoothing", "knn_ls"),
        _models("mlp", "mlp_three_hidden"),
        question="What a three-layer MLP with 256 hidden units is: two hidden layers and the "
        "output, or three hidden ones.",
    ),
    "trial-lenet5": Study(
        ("svhn",),
        _of_table1("control", "knn_ls"),
        _models("lenet5", "lenet5_relu_average", "lenet5_tanh_max", "lenet5_tanh_average"),
        question="Which LeNet5: ReLU or tanh, maximum or average pooling (lenet5: ReLU and maximum "
        "pooling).",
    ),
    "trial-pooling": Study(
        ("svhn",),
        _of_table1(
            "label_smoothing", "anchor", "bi_tempered", "codistill_ce", "codistill_kl", "mixup"
        ),
        _models("lenet5_relu_average"),
        question="LeNet5 with ReLU and average pooling in the rows of Table 1 that trial-lenet5 "
        "leaves out, but for the ℓ1 and ℓ2 penalties, which keep most runs from learning.",
    ),
    "trial-size": Study(
        ("celeba_smiling",),
        _of_table1("control", "knn_ls"),
        lambda recipe: {
            "6000examples": replace(recipe, examples=6000),
            "12000examples": replace(recipe, examples=12000),
            "all": recipe,
        },
        question="What fewer images do to CelebA's numbers.",
    ),
    "trial-light": Study(
        FAST,
        _light,
        question="Lighter smoothing than the paper chose, which Figure 3 finds better on MNIST.",
    ),
    "trial-reference": Study(
        ("svhn", *FAST),
        lambda dataset: _varied(dataset, ("knn_ls",), "fixed_reference", (False, True)),
        question="k-NN smoothing's reference: trained anew in every run, or once for all runs "
        "(fixed_reference=1).",
    ),
    "trial-anchor": Study(
        FAST,
        lambda dataset: _varied(dataset, ("anchor",), "fixed_reference", (True, False)),
        question="Anchor's preliminary model: one for all runs, or trained anew in every run "
        "(fixed_reference=0).",
    ),
    "trial-warm-up": Study(
        ("svhn", *FAST),
        lambda dataset: _varied(dataset, CODISTILLATION, "n_warm", (0, 1000, 2000)),
        question="The steps before co-distillation begins, which the paper does not give for SVHN.",
    ),
    "trial-penalty": Study(
        ("svhn", *FAST),
        lambda dataset: _varied(dataset, ("l2_reg",), "squared", (False, True)),
        question="The ℓ2 penalty: the norm, or its square (squared=1).",
    ),
    "trial-gradient": Study(
        FAST,
        lambda dataset: _varied(dataset, CODISTILLATION, "stop_gradient", (False, True)),
        question="Co-distillation with gradients through both networks' predictions, or with each "
        "drawn towards the other's, held fixed (stop_gradient=1).",
    ),
}
