"""What is tried beyond the paper: settings that were fixed before anything was measured.

`safe_ema` and what is in LATER came later: docs/beyond.md says when. On TABLES every setting but
those of LATER is tried, and CANDIDATE, with a part held out for validation, as `bench` does with
any table; on FRESH and NEWEST ones only what may be the default. On the paper's six tasks its
protocol holds (all training data, five runs). Nothing is chosen: each method is at the settings
that are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unchurn.core.errors import InputError
from unchurn.datasets import Dataset, load
from unchurn.methods.registry import named_method
from unchurn.paper.beyond.tables import (
    ALL_TABLES,
    BEYOND,
    BEYOND_RESAMPLED,
    BEYOND_SHORT,
    FRESH,
    NEWEST,
    TABLES,
    load_other,
)
from unchurn.paper.published import published
from unchurn.paper.selection import some
from unchurn.paper.studies import RECIPES, RUNS, Recipe
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.settings import Setting, combined_setting, make_setting
from unchurn.study.scenarios import Resample, Retrain, Scenario
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training

# One model is trained, and one served.
FREE = (
    "control",
    "ema(decay=0.99)",
    "ema(decay=0.999)",
    "safe_ema",
    "swa(part=0.25)",
    "swa(part=0.5)",
    "decay",
    "decay+ema",
    "early",
    "weight_decay(strength=0.01)",
    "weight_decay(strength=0.1)",
    "weight_decay(strength=0.1)+ema",
    "smelu(beta=0.5)",
    "smelu(beta=1)",
    "smelu(beta=1)+ema",
    "label_smoothing(a=0.02)",
    "label_smoothing(a=0.1)",
    "label_smoothing(a=0.02)+ema",
    "label_smoothing(a=0.1)+ema",
    "label_smoothing(a=0.1)+safe_ema",
    "label_smoothing(a=0.1)+decay+ema",
    "mixup(a=0.2)",
    "mixup(a=0.2)+ema",
    "mixup(a=0.2)+decay+ema",
)
# One model is served, of two or more that are trained.
SINGLE = (
    "knn_ls(k=10, a=0.1, b=0.1)",
    "knn_ls(k=10, a=0.1, b=0.1)+ema",
    "knn_ls(k=10, a=0.5, b=0.5)+ema",
    "knn_ls(k=10, a=0.5, b=0.5)+decay+ema",
    "codistill_symmetric(a=1)",
    "codistill_symmetric(a=1)+ema",
    "codistill_symmetric(a=1)+safe_ema",
    "codistill_symmetric(a=5)+ema",
    "distill(m=5, a=0.5)+ema",
    "distill(m=5, a=1)",
    "distill(m=5, a=1)+ema",
    "elodi(m=5, a=0.8)",
    "elodi(m=5, a=0.8)+ema",
    "medoid(m=5)",
    "medoid(m=5)+ema",
)
# Several are served.
SEVERAL = (
    "twin(a=1)",
    "twin(a=10)",
    "twin(a=10)+ema",
    "ensemble(m=5)",
    "ensemble(m=5)+ema",
    "ensemble(m=5)+decay+ema",
    "bagging(m=5)",
    "bagging(m=5)+ema",
)
# What is also compared when the data is drawn anew.
RESAMPLED = (
    "control", "safe_ema", "ema(decay=0.999)", "swa(part=0.25)", "decay+ema",
    "weight_decay(strength=0.1)+ema", "label_smoothing(a=0.1)+safe_ema", "mixup(a=0.2)+ema",
    "knn_ls(k=10, a=0.1, b=0.1)+ema", "codistill_symmetric(a=1)+safe_ema",
    "distill(m=5, a=1)+ema", "twin(a=10)", "ensemble(m=5)", "ensemble(m=5)+ema", "bagging(m=5)",
    "bagging(m=5)+ema",
)  # fmt: skip
# What unchurn's defaults were before this study, after the paper's choices.
FORMER = ("label_smoothing(a=0.8)", "knn_ls(k=10, a=0.9, b=0.9)")
# What had done best on MNIST, together: thought of when that, Phishing and the tables had been
# measured.
AFTERWARDS = (
    "weight_decay(strength=0.1)+label_smoothing(a=0.1)+ema",
    "weight_decay(strength=0.1)+codistill_symmetric(a=1)+ema",
)
# What may take `safe_ema`'s place as the default: thought of when all TABLES but Shuttle and the
# six tasks had been measured. On tables, weight decay does next to nothing, and no harm beyond
# chance that averaged weights do not; on images it does much. Before FRESH was trained on, it was
# settled that it is the default if
# (1) on at most one of FRESH its accuracy is lower than plain training's beyond chance, and on at
#     most one its churn is higher (of 17 tables, chance alone gives two or more in 7 %);
# (2) mean churn there, in percent of plain training's, is at most two points above `safe_ema`'s;
# (3) on the six tasks, mean churn in percent of plain training's is below `safe_ema`'s.
CANDIDATE = "weight_decay(strength=0.1)+safe_ema"
ON_FRESH = ("control", "safe_ema", CANDIDATE)
# What may take CANDIDATE's place, which is the default now: it costs accuracy where training is
# short or slow, as a stranger found on Vowel. `auto_ema` was thought of when 22 of TABLES and FRESH
# had been looked at for it, with 3, 5, 10 and 20 epochs and at a tenth of the rate. Before NEWEST
# was trained on, it was settled that it is the default if
# (1) on at most two of NEWEST its accuracy is lower than plain training's beyond chance, and on at
#     most two its churn is higher (of 29 tables, chance alone gives three or more in 4 %), with 20
#     epochs, and again with SHORT ones;
# (2) mean churn there, in percent of plain training's, is at most two points above CANDIDATE's
#     with 20 epochs;
# (3) on the six tasks, mean churn in percent of plain training's is at most one point above
#     CANDIDATE's. (It failed by the second: the tasks were not asked.)
SUCCESSOR = "weight_decay(strength=0.1)+auto_ema"
ON_NEWEST = ("control", CANDIDATE, SUCCESSOR)
SHORT = 5  # epochs
# With the smooth activation that does most on convolutions: thought of when CelebA (smiling) had
# been measured, the last when CelebA (high cheekbones) and Fashion-MNIST had been, too.
SMOOTH = (
    "smelu(beta=1)+mixup(a=0.2)+ema",
    "smelu(beta=1)+weight_decay(strength=0.1)+ema",
    "smelu(beta=1)+codistill_symmetric(a=1)+ema",
    "smelu(beta=1)+weight_decay(strength=0.1)+codistill_symmetric(a=1)+ema",
)
# What had done most at no cost and at twice it, together: thought of when SVHN had been measured
# with weight decay, and all other tasks with the last of SMOOTH or of AFTERWARDS.
TOGETHER = (
    "weight_decay(strength=0.1)+label_smoothing(a=0.1)+codistill_symmetric(a=1)+ema",
    "smelu(beta=1)+weight_decay(strength=0.1)+label_smoothing(a=0.1)+codistill_symmetric(a=1)+ema",
)
# The last of these with a rate that decays: thought of when `ensemble+decay+ema` had been steadier
# than `ensemble+ema` on both CelebA tasks, and trained on all six.
DECAYING = (
    "smelu(beta=1)+weight_decay(strength=0.1)+label_smoothing(a=0.1)+codistill_symmetric(a=1)"
    "+decay+ema",
)
# TOGETHER with mixup: thought of when the six tasks had been measured with those, and one model as
# steady as the ensemble of five was still missed on SVHN and CelebA. On a part held out of SVHN and
# of CelebA (smiling) for it, none of a dozen variants did clearly better.
MIXED = (
    "weight_decay(strength=0.1)+label_smoothing(a=0.1)+mixup(a=0.5)+codistill_symmetric(a=1)+ema",
    "smelu(beta=1)+weight_decay(strength=0.1)+label_smoothing(a=0.1)+mixup(a=0.5)"
    "+codistill_symmetric(a=1)+ema",
)
# What was thought of after the first measurements.
LATER = (*AFTERWARDS, *SMOOTH, *TOGETHER, *DECAYING, *MIXED, CANDIDATE)
# What the six tasks leave out of the above: settings of which another is tried, and those of
# several trainings where fewer tell the same.
ONLY_ON_TABLES = (
    "smelu(beta=0.5)", "weight_decay(strength=0.01)", "label_smoothing(a=0.02)", "mixup(a=0.2)",
    "label_smoothing(a=0.02)+ema", "distill(m=5, a=0.5)+ema", "twin(a=1)", "twin(a=10)+ema",
    "codistill_symmetric(a=5)+ema", "bagging(m=5)", "bagging(m=5)+ema", "medoid(m=5)",
    "medoid(m=5)+ema",
    *(text for text in SINGLE if text.startswith("knn_ls")),
)  # fmt: skip


def settings(dataset: str) -> tuple[Setting, ...]:
    """What is tried on a dataset; on the paper's tasks k-NN smoothing as the paper chose it."""
    everything = (*FREE, *SINGLE, *SEVERAL)
    for tables, few in ((FRESH, ON_FRESH), (NEWEST, ON_NEWEST)):
        if dataset in tables:
            return tuple(make_setting(text) for text in few)
    if dataset in TABLES:
        return tuple(make_setting(text) for text in (*everything, *FORMER, CANDIDATE))
    on_tasks = [text for text in everything if text not in ONLY_ON_TABLES]
    tried = [make_setting(text) for text in (*on_tasks, *LATER)]
    return (*tried, *(_papers_knn(dataset, *more) for more in ((), ("ema",), ("decay", "ema"))))


def _papers_knn(dataset: str, *more: str) -> Setting:
    """k-NN smoothing as the paper chose it for a task, with other methods."""
    parameters = published()[dataset, "knn_ls"].parameters
    methods = [("knn_ls", named_method("knn_ls", **parameters))]
    return combined_setting([*methods, *((name, named_method(name)) for name in more)])


def experiment(dataset: str, methods: Sequence[str] | None = None) -> Experiment:
    """All that is trained on a dataset, or some of its methods by name, such as `knn_ls+ema`."""
    check_dataset(BEYOND, dataset)
    return _experiment(dataset, some(BEYOND, settings(dataset), methods), Retrain())


def resampled(dataset: str, methods: Sequence[str] | None = None) -> Experiment:
    """What is trained on bootstraps of a task or table, a new one in every run."""
    check_dataset(BEYOND_RESAMPLED, dataset)
    tried = [make_setting(text) for text in (*RESAMPLED, CANDIDATE)]
    return _experiment(dataset, some(BEYOND_RESAMPLED, tried, methods), Resample())


def short(dataset: str, methods: Sequence[str] | None = None) -> Experiment:
    """What is trained for a few epochs on a table."""
    check_dataset(BEYOND_SHORT, dataset)
    tried = [make_setting(text) for text in ON_NEWEST]
    return _experiment(dataset, some(BEYOND_SHORT, tried, methods), Retrain(), SHORT)


def _experiment(
    dataset: str, tried: Sequence[Setting], scenario: Scenario, epochs: int | None = None
) -> Experiment:
    """An experiment of settings, with methods suited to the length of the training."""
    data, learner = subject(dataset, epochs)
    is_table = dataset in ALL_TABLES
    parts = make_parts(data, validation=is_table)
    runs = ALL_TABLES[dataset].runs if is_table else RUNS
    n_steps = learner.n_steps(len(parts.x_train)) or 0
    suited = tuple(replace(one, method=one.method.for_steps(n_steps)) for one in tried)
    return Experiment(
        data=data, parts=parts, settings=suited, learner=learner, runs=runs, scenario=scenario
    )


def check_dataset(study: str, dataset: str) -> None:
    """Refuse a dataset that the study does not have."""
    if dataset not in (there := datasets(study)):
        raise InputError(f"{study} has no dataset {dataset!r}: it has {', '.join(there)}")


def subject(dataset: str, epochs: int | None = None) -> tuple[Dataset, TorchLearner]:
    """A task or table and its learner; epochs are the usual number unless given."""
    is_table = dataset in ALL_TABLES
    recipe = Recipe("mlp", 20) if is_table else RECIPES[dataset]
    data = load_other(dataset) if is_table else load(dataset)
    return data, TorchLearner(recipe.model, Training(epochs=epochs or recipe.epochs))


def datasets(study: str) -> list[str]:
    """The datasets of a study: the paper's tasks, then tables; of BEYOND_SHORT only NEWEST."""
    if study == BEYOND_SHORT:
        return list(NEWEST)
    return [*RECIPES, *(TABLES if study == BEYOND_RESAMPLED else ALL_TABLES)]
