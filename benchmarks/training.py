"""Five retrainings: ours against what one would write otherwise, in one run, alternating.

The peers are a plain PyTorch loop over a DataLoader with default threads, skorch, and Lightning,
each with the same network (LeNet5 as one would write it: channels first, pooling after activation),
optimiser, batches and epochs, one run after another. Every measurement is a process of its own; the
time is that of the five runs from data in memory to test accuracy, ours with its worker processes
started. The share of the machine's peak is that of the matrix products that the training needs,
against what one core does on large ones, times the cores. The `grid` preset's time is computed from
these: trainings with what is shared, and without.

Usage: UNCHURN_DATA=… python benchmarks/training.py [--rounds 3] [--only mnist]
(peers: pip install skorch lightning)
"""

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from page import keep, peak

RUNS = 5
TASKS = {"mnist mlp": ("mnist", "mlp", 10), "svhn lenet5": ("svhn", "lenet5", 2)}
GOALS = {"mnist mlp": (4, 0.75), "svhn lenet5": (2, 0.5)}  # times the best peer, share of the peak
GRID_GOAL = 5
Measured = dict[str, float]


def task_data(task: str) -> tuple[Any, str, int]:
    """The dataset, the network and the epochs."""
    from unchurn import load

    name, model, epochs = TASKS[task]
    return load(name), model, epochs


def ours(task: str) -> Measured:
    """`unchurn.bench` with control alone."""
    import torch  # noqa: F401  # as the peers do before their time starts

    from unchurn import bench

    data, model, epochs = task_data(task)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = bench(data, ["control"], model=model, runs=RUNS, epochs=epochs, out=folder)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "accuracy": result.settings[0].summary["test"].accuracy.mean}


def one_by_one(fit: Callable[[Any, Any, int, int], Any]) -> Callable[[str], Measured]:
    """Five runs of a peer: it trains a network in place and gives predicted classes."""

    def measure(task: str) -> Measured:
        import torch

        data, model, epochs = task_data(task)
        if model == "lenet5":
            x_train, x_test = (
                np.ascontiguousarray(x.transpose(0, 3, 1, 2)) for x in (data.x_train, data.x_test)
            )
            data = dataclasses.replace(data, x_train=x_train, x_test=x_test)
        start = time.perf_counter()
        accuracy = []
        for run in range(RUNS):
            torch.manual_seed(run)
            net = plain_net(model, data.x_train.shape[1:], len(data.classes))
            accuracy.append(np.mean(fit(net, data, epochs, run) == data.y_test))
        return {"seconds": time.perf_counter() - start, "accuracy": float(np.mean(accuracy))}

    return measure


def plain_net(model: str, shape: tuple[int, ...], n_classes: int) -> Any:
    """The network as one would write it."""
    from torch import nn

    from unchurn.training.networks.factories import MODELS, glorot

    if model == "mlp":
        return MODELS[model](shape, n_classes)
    net = nn.Sequential(
        nn.Conv2d(shape[0], 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, n_classes),
    )  # fmt: skip
    return glorot(net)


def loop(net: Any, data: Any, epochs: int, run: int) -> Any:
    """The loop of PyTorch's tutorials."""
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    x, y = torch.from_numpy(data.x_train), torch.from_numpy(data.y_train)
    loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.001, eps=1e-7)
    for _ in range(epochs):
        for inputs, labels in loader:
            optimiser.zero_grad()
            loss: Any = torch.nn.functional.cross_entropy(net(inputs), labels)
            loss.backward()
            optimiser.step()
    with torch.no_grad():
        return net(torch.from_numpy(data.x_test)).argmax(dim=1).numpy()


def skorch(net: Any, data: Any, epochs: int, run: int) -> Any:
    """Skorch's NeuralNetClassifier, its validation split and printing off."""
    import torch
    from skorch import NeuralNetClassifier

    model = NeuralNetClassifier(
        net, criterion=torch.nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=0.001,
        optimizer__eps=1e-7, batch_size=128, max_epochs=epochs, iterator_train__shuffle=True,
        train_split=None, verbose=0,
    )  # fmt: skip
    return model.fit(data.x_train, data.y_train).predict(data.x_test)


def lightning(net: Any, data: Any, epochs: int, run: int) -> Any:
    """Lightning's Trainer, its logger, bar and checkpoints off."""
    import logging
    import warnings

    import lightning as pl
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Module(pl.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = net

        def training_step(self, batch: Any, _: int) -> Any:
            return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), lr=0.001, eps=1e-7)

    x, y = torch.from_numpy(data.x_train), torch.from_numpy(data.y_train)
    loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
    trainer = pl.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    module = Module()
    trainer.fit(module, loader)
    with torch.no_grad():
        return module.net(torch.from_numpy(data.x_test)).argmax(dim=1).numpy()


CONTENDERS: dict[str, Callable[[str], Measured]] = {
    "unchurn": ours,
    "PyTorch loop": one_by_one(loop),
    "skorch": one_by_one(skorch),
    "Lightning": one_by_one(lightning),
}


def products(task: str) -> float:
    """Multiply–adds of one example: forward, and twice that backward, less the inputs' gradient."""
    if task == "mnist mlp":
        layers = [784 * 256, 256 * 256, 256 * 10]
    else:
        layers = [28 * 28 * 6 * 75, 10 * 10 * 16 * 150, 400 * 120, 120 * 84, 84 * 10]
    return float(3 * sum(layers) - layers[0])


def step_parts(task: str, steps: int = 200) -> dict[str, float]:
    """Milliseconds of the parts of one training step, on one thread."""
    import torch

    from unchurn.methods.base import cross_entropy
    from unchurn.training.networks.factories import MODELS

    data, model, _ = task_data(task)
    torch.set_num_threads(1)
    net = MODELS[model](data.x_train.shape[1:], len(data.classes))
    x, y = torch.from_numpy(data.x_train), torch.eye(len(data.classes))[data.y_train]
    optimiser = torch.optim.Adam(net.parameters(), fused=True)
    times: dict[str, list[float]] = {}
    for batch in torch.split(torch.randperm(len(x))[: steps * 128], 128):
        last = time.perf_counter()

        def tick(name: str) -> None:
            nonlocal last
            times.setdefault(name, []).append(time.perf_counter() - last)
            last = time.perf_counter()

        inputs, targets = x.index_select(0, batch), y.index_select(0, batch)
        tick("taking the batch")
        loss: Any = cross_entropy(net(inputs), targets).mean()
        tick("forward")
        loss.backward()
        tick("backward")
        optimiser.step()
        optimiser.zero_grad()
        tick("Adam")
    return {name: 1000 * statistics.median(values) for name, values in times.items()}


def grid(task: str, ours_each: float, best_each: float) -> dict[str, Any]:
    """The hours of the `grid` preset, with shared trainings and without, at these seconds each."""
    from unchurn.paper.published import PAPER_METHODS
    from unchurn.study.api import make_experiment
    from unchurn.study.design.schedule import make_schedule
    from unchurn.training.learners.make import make_learner
    from unchurn.training.loop.config import Training

    data, model, epochs = task_data(task)
    learner = make_learner(model, Training(epochs=epochs))
    experiment = make_experiment(data, PAPER_METHODS, preset="grid", learner=learner, runs=RUNS)
    schedule = make_schedule(experiment)
    trainings, separate = schedule.n_trainings, schedule.n_separate
    hours = [n * each / 3600 for n, each in ((trainings, ours_each), (separate, best_each))]
    return {
        "key": "grid", "task": task, "settings": len(experiment.settings), "runs": RUNS,
        "trainings": trainings, "separate": separate, "our_hours": hours[0],
        "naive_hours": hours[1], "ratio": hours[1] / hours[0], "goal": GRID_GOAL,
    }  # fmt: skip


def measured(name: str, task: str) -> Measured:
    """One contender on one task, in a process of its own."""
    command = [sys.executable, __file__, "--measure", name, task]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: Measured = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Alternate the contenders; keep medians, ratios, the share of the peak, a step's parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "TASK"))
    options = parser.parse_args()
    if options.measure:
        name, task = options.measure
        print(json.dumps(CONTENDERS[name](task)))
        return
    limit = peak()
    for task in (task for task in GOALS if options.only in task):
        goal, share_goal = GOALS[task]
        rounds: dict[str, list[Measured]] = {name: [] for name in CONTENDERS}
        for number in range(options.rounds):
            turn = [*CONTENDERS][number % len(CONTENDERS) :] + [*CONTENDERS][
                : number % len(CONTENDERS)
            ]
            for name in turn:
                rounds[name].append(measured(name, task))
                print(task, name, rounds[name][-1], flush=True)
        seconds = {n: statistics.median(m["seconds"] for m in f) for n, f in rounds.items()}
        best = min(value for name, value in seconds.items() if name != "unchurn")
        data, _, epochs = task_data(task)
        n = len(data.y_train)
        work = RUNS * epochs * n * products(task)
        keep(
            {
                "key": f"training {task}",
                "task": f"{task}, {epochs} epochs of {n:,}",
                "runs": RUNS,
                "cores": len(os.sched_getaffinity(0)),
                "steps": epochs * -(-n // 128),
                "rounds": options.rounds,
                "medians": seconds,
                "accuracy": {
                    k: statistics.median(m["accuracy"] for m in f) for k, f in rounds.items()
                },
                "share": {name: work / value / limit for name, value in seconds.items()},
                "ratio": best / seconds["unchurn"],
                "goal": goal,
                "share_goal": share_goal,
                "step": step_parts(task),
                "products_ms": 1000 * 128 * products(task) / (limit / len(os.sched_getaffinity(0))),
            }
        )
        if task == "mnist mlp":
            keep(grid(task, seconds["unchurn"] / RUNS, best / RUNS))


if __name__ == "__main__":
    main()
