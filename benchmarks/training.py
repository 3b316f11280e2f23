"""Five retrainings: ours against what one would write otherwise, in one run, alternating.

The peers are a plain PyTorch loop over a DataLoader with default threads, skorch, and Lightning,
each with the same network, optimiser, batches and epochs, one run after another. Every measurement
is a process of its own; the time is that of the five runs from data in memory to test accuracy,
ours with its worker processes started. The share of the machine's peak is that of the matrix
products that the training needs, against what one core does on large ones, times the cores.

Usage: UNCHURN_DATA=… python benchmarks/training.py [--rounds 3]
(peers: pip install skorch lightning)
"""

import argparse
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

RUNS = 5
TASKS = {"mnist mlp": ("mnist", "mlp", 4, 60_000), "svhn lenet5": ("svhn", "lenet5", 1, 20_000)}
GOALS = {"mnist mlp": (4, 0.75), "svhn lenet5": (2, 0.5)}
Measured = dict[str, float]


def task_data(task: str) -> tuple[Any, str, int]:
    """The dataset, cut to a size that peers finish, the network and the epochs."""
    from unchurn import load
    from unchurn.paper.studies import take

    name, model, epochs, n = TASKS[task]
    data = load(name)
    return (data if n == len(data.y_train) else take(data, n)), model, epochs


def ours(task: str) -> Measured:
    """`unchurn.bench` with control alone."""
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

        from unchurn.models import MODELS

        data, model, epochs = task_data(task)
        start = time.perf_counter()
        accuracy = []
        for run in range(RUNS):
            torch.manual_seed(run)
            net = MODELS[model](data.x_train.shape[1:], len(data.classes))
            accuracy.append(np.mean(fit(net, data, epochs, run) == data.y_test))
        return {"seconds": time.perf_counter() - start, "accuracy": float(np.mean(accuracy))}

    return measure


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


def peak() -> float:
    """Multiply–adds a second of all cores on large matrices, one thread each, as one core does."""
    import torch

    torch.set_num_threads(1)
    a, b = torch.rand(1024, 1024), torch.rand(1024, 1024)
    best = 0.0
    for _ in range(20):
        start = time.perf_counter()
        torch.mm(a, b)
        best = max(best, 1024**3 / (time.perf_counter() - start))
    return best * len(os.sched_getaffinity(0))


def products(task: str) -> float:
    """Multiply–adds of one run: forward, and twice that back but for the inputs' own gradient."""
    _, _, epochs, n = TASKS[task]
    if task == "mnist mlp":
        layers = [784 * 256, 256 * 256, 256 * 10]
    else:
        layers = [28 * 28 * 6 * 75, 10 * 10 * 16 * 150, 400 * 120, 120 * 84, 84 * 10]
    return float(epochs * n * (3 * sum(layers) - layers[0]))


def measured(name: str, task: str) -> Measured:
    """One contender on one task, in a process of its own."""
    command = [sys.executable, __file__, "--measure", name, task]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: Measured = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Alternate the contenders; print medians, ratios and the share of the peak."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "TASK"))
    options = parser.parse_args()
    if options.measure:
        name, task = options.measure
        print(json.dumps(CONTENDERS[name](task)))
        return
    limit = peak()
    for task, (goal, share_goal) in GOALS.items():
        rounds: dict[str, list[Measured]] = {name: [] for name in CONTENDERS}
        for _ in range(options.rounds):
            for name, found in rounds.items():
                found.append(measured(name, task))
        seconds = {n: statistics.median(m["seconds"] for m in f) for n, f in rounds.items()}
        best = min(value for name, value in seconds.items() if name != "unchurn")
        _, _, epochs, n = TASKS[task]
        print(f"\n{task}: {RUNS} runs of {epochs} epochs on {n:,} examples")
        for name, value in seconds.items():
            accuracy = statistics.median(m["accuracy"] for m in rounds[name])
            per_hour, share = 3600 * RUNS / value, products(task) * RUNS / value / limit
            print(f"  {name:13}{per_hour:7.0f} runs an hour  {share:4.0%} of peak  {accuracy:.2%}")
        ratio = best / seconds["unchurn"]
        share = products(task) * RUNS / seconds["unchurn"] / limit
        print(
            f"  {ratio:.1f} times the best of them, goal {goal}; {share:.0%}, goal {share_goal:.0%}"
        )


if __name__ == "__main__":
    main()
