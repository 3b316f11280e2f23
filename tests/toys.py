"""Small data and models that tests share: `import toys`."""

import datetime

import numpy as np
import polars as pl
import torch
from sklearn.ensemble import ExtraTreesClassifier
from torch import nn

from unchurn import Dataset, StableClassifier, weighted_rows
from unchurn.core.executors.local import Local
from unchurn.methods import Batch
from unchurn.metrics.registry import Runs
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import Setting
from unchurn.study.results.collect import collect
from unchurn.study.results.result import Result, SettingResult
from unchurn.study.results.subject import DataFacts, Subject
from unchurn.study.trainings import run
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.fit import fit_together


def blobs(n, *, distance=1.5, n_classes=3, seed=0):
    """Gaussian clouds in four dimensions, one a class, which overlap: inputs and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return (rng.normal(size=(n, 4)) + distance * np.eye(n_classes, 4)[y]).astype(np.float32), y


def dataset(n=200, *, name="toy", **options):
    """Half of the clouds to train on, half to test on."""
    x, y = blobs(n, **options)
    half = n // 2
    return Dataset(name, x[:half], y[:half], x[half:], y[half:], ("a", "b", "c"))


def frame(n=240, *, n_classes=3, **options):
    """The clouds as a table: an id, four numbers, and the target `y` in letters."""
    x, y = blobs(n, n_classes=n_classes, **options)
    numbers = {f"x{i}": x[:, i].astype(np.float64) for i in range(4)}
    return pl.DataFrame(
        {"row": [f"r{i}" for i in range(n)], **numbers, "y": np.array([*"abcdef"])[y]}
    )


def history(rng, n=200):
    """The clouds as a table of the first 150 days of 2024: five periods of 30, four releases."""
    when = rng.permutation(np.arange(n) * 150 // n)
    return frame(n, distance=1).drop("row").with_columns(pl.Series("day", days(when)))


def days(numbers):
    """Dates, each so many days after the start of 2024."""
    return [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(number)) for number in numbers]


def shop(n=40):
    """A table with a column of every kind, and the target `bought`."""
    return pl.DataFrame(
        {
            "age": [20 + i for i in range(n)],
            "height": [1.5 + 0.01 * i for i in range(n)],
            "colour": [("red", "green", "blue")[i % 3] for i in range(n)],
            "member": [i % 2 == 0 for i in range(n)],
            "constant": [7] * n,
            "bought": [("no", "yes")[i % 4 == 0] for i in range(n)],
        }
    )


def with_gap(table, column):
    """The table, with a value missing in its fourth row."""
    return table.with_columns(pl.when(pl.int_range(pl.len()) != 3).then(column).alias(column))


def batch_of(targets, x=None):
    """A batch with these targets, every example of weight 1."""
    n = len(targets)
    inputs = torch.zeros(n, 1) if x is None else x
    weights = torch.ones(n, dtype=targets.dtype)
    return Batch(x=inputs, targets=targets, weights=weights, rows=torch.arange(n), extras={})


def total_loss(method, logits, targets, step=0):
    """What a step of training minimises: loss and penalty, one value per example."""
    batch = batch_of(targets)
    penalty = method.penalty(logits, batch, step)
    loss = method.loss(logits, batch, step)
    return loss if penalty is None else loss + penalty


# A model's predictions of three examples, as a file has them.
PREDICTIONS = {
    "id": ["a", "b", "c"],
    "prediction": ["cat", "dog", "dog"],
    "label": ["cat", "dog", "eel"],
}


def write_table(path, columns):
    """A file of the kind that its name says."""
    frame = pl.DataFrame(columns)
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".xlsx":
        frame.write_excel(path)
    elif path.suffix == ".feather":
        frame.write_ipc(path)
    elif path.suffix == ".npz":
        np.savez(path, **{name: np.array(values) for name, values in columns.items()})
    elif path.suffix == ".json":
        frame.write_json(path)
    else:
        frame.write_ndjson(path)
    return path


def linear(shape, n_classes):
    """The smallest network."""
    return nn.Linear(shape[0], n_classes)


def with_dropout(shape, n_classes):
    """A network that draws random numbers at every step."""
    return nn.Sequential(nn.Linear(shape[0], 16), nn.Dropout(0.5), nn.Linear(16, n_classes))


def with_batch_norm(shape, n_classes):
    """A network with buffers, floating ones and a count."""
    return nn.Sequential(nn.Linear(shape[0], 16), nn.BatchNorm1d(16), nn.Linear(16, n_classes))


def fit_run(method, *arguments, **options):
    """One run of a method alone; the arguments are those of `fit_together`."""
    return fit_together([method], *arguments, **options)[0]


def classifier(**options):
    """A classifier that trains for a moment, plainly unless told otherwise."""
    options = {"method": "control", "epochs": 5, "batch_size": 32, "random_state": 0} | options
    return StableClassifier(**options)


def extra_trees(x, targets, seed):
    """A training function of another framework."""
    rows, labels, weights = weighted_rows(x, targets)
    model = ExtraTreesClassifier(5, max_depth=6, random_state=seed)
    return model.fit(rows, labels, sample_weight=weights).predict_proba


def result(rows, labels, *, name="toy", runs=None, n_train=0, notes=(), base=None, **about):
    """A Result of settings with predictions (R, n), or with the reasons why they failed.

    `base` is what an older model predicted, (n,), the same for all runs.
    """
    n_runs = runs or next(len(found) for _, found in rows if not isinstance(found, str))
    settings = [
        SettingResult(_facts(setting), {}, (found,))
        if isinstance(found, str)
        else SettingResult(_facts(setting), {"test": _runs(found, labels, base)})
        for setting, found in rows
    ]
    facts = DataFacts(
        name=name, classes=("no", "yes"), fingerprint="0", n_train=n_train, n_validation=0,
        notes=notes,
    )  # fmt: skip
    learner = TorchLearner()
    subject = Subject(
        data=facts, labels={"test": labels}, learner=learner.identity, learner_label=learner.label,
        learner_facts=learner.facts, length=learner.length, runs=n_runs, seed=0,
        **about,
    )  # fmt: skip
    return Result(subject, settings)


def _runs(predictions, labels, base):
    before = None if base is None else np.tile(base, (len(predictions), 1))
    return Runs(predictions=predictions, labels=labels, base=before)


def _facts(setting):
    return setting.facts() if isinstance(setting, Setting) else setting


def carry_out(experiment, folder, workers=1, **options):
    """The result of an experiment, its runs kept in a folder."""
    return collect(
        run.carry_out(make_schedule(experiment), Store(folder), Local(workers), **options)
    )


# Of each method that needs it, a setting that fits small data and short trainings.
SMALL = {
    "knn_ls": "knn_ls(k=5)",
    "codistill_ce": "codistill_ce(n_warm=1)",
    "codistill_kl": "codistill_kl(n_warm=1)",
    "codistill_symmetric": "codistill_symmetric(n_warm=1)",
    "ensemble": "ensemble(m=3)",
    "bagging": "bagging(m=3)",
    "distill": "distill(m=2)",
    "elodi": "elodi(m=2)",
    "medoid": "medoid(m=3)",
}
# The setting that does nothing, of each method that has one: a bootstrap is never all of the data.
NOTHING = {
    "control": "control",
    "label_smoothing": "label_smoothing(a=0)",
    "knn_ls": "knn_ls(a=0)",
    "anchor": "anchor(a=0, fixed_reference=False)",
    "l1_reg": "l1_reg(a=0)",
    "l2_reg": "l2_reg(a=0)",
    "bi_tempered": "bi_tempered(t1=1, t2=1)",
    "codistill_ce": "codistill_ce(a=0, n_warm=0)",
    "codistill_kl": "codistill_kl(a=0, n_warm=0)",
    "codistill_symmetric": "codistill_symmetric(a=0, n_warm=0)",
    "mixup": "mixup(a=0)",
    "ensemble": "ensemble(m=1)",
    "ema": "ema(decay=0)",
    "safe_ema": "safe_ema(decay=0)",
    "auto_ema": "auto_ema(decay=0)",
    "decay": "decay(final=1)",
    "swa": "swa(part=0)",
    "smelu": "smelu(beta=0)",
    "early": "early(part=0)",
    "weight_decay": "weight_decay(strength=0)",
    "distill": "distill(a=0)",
    "elodi": "elodi(a=0)",
    "medoid": "medoid(m=1)",
    "rcp": "rcp(a=0, wrong=1)",
    "focal": "focal(a=0)",
    "warm_start": "warm_start(a=0)",
    "project": "project(a=0, max_bad_flips=1)",
    "stay": "stay(ratio=0)",
    "longer": "longer(times=1)",
}
