"""The training loop: all steps of one fit. The top of `fit.py` shows where each hook is called."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.methods import Batch, Extras, Method, cross_entropy
from unchurn.methods.base import Rows
from unchurn.training.learners.base import DivergedError, RemarkWarning, levels_up
from unchurn.training.loop.adam import Adam
from unchurn.training.loop.config import Training
from unchurn.training.loop.determinism import (
    RandomState,
    own_randomness,
    random_state,
    seed_generators,
    set_random_state,
)
from unchurn.training.loop.streams import Stream

OnEpoch = Callable[[], None]
SCORING_BATCH = 2048


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The examples of a fit."""

    x: Float32
    targets: Float32
    weights: Float32
    extras: Extras
    seen: Rows  # the examples to train on
    held: Rows  # the examples held out


class _Tensors:
    """Examples on a device, from which batches are taken."""

    def __init__(self, examples: Examples, device: str) -> None:
        self.x, self.targets, self.weights = (
            as_tensor(a).to(device) for a in (examples.x, examples.targets, examples.weights)
        )
        self.extras = {n: as_tensor(array).to(device) for n, array in examples.extras.items()}

    def loss(self, rows: Rows, nets: Sequence[nn.Module]) -> float:
        """Total cross-entropy of networks on some examples, in evaluation mode, above the minimum.

        The minimum is the targets' own entropy: 0 for labels, large for smoothed ones.
        """
        total, was_training = 0.0, [net.training for net in nets]
        with torch.no_grad():
            for part in torch.split(torch.from_numpy(rows).to(self.x.device), SCORING_BATCH):
                batch = self.batch(part)
                least = torch.xlogy(batch.targets, batch.targets).sum(dim=1)
                for net in nets:
                    above = cross_entropy(net.eval()(batch.x), batch.targets) + least
                    total += float((above * batch.weights).double().sum())
        for net, mode in zip(nets, was_training, strict=True):
            net.train(mode)
        return total

    def batch(self, rows: Tensor) -> Batch:
        """The examples with these numbers."""
        return Batch(
            x=self.x.index_select(0, rows),
            targets=self.targets.index_select(0, rows),
            weights=self.weights.index_select(0, rows),
            rows=rows,
            extras={name: extra.index_select(0, rows) for name, extra in self.extras.items()},
        )


def train_networks(
    methods: Sequence[Method],
    make_net: Callable[[], nn.Module],
    examples: Examples,
    training: Training,
    streams: list[Stream],
    on_epoch: OnEpoch,
) -> list[list[nn.Module]]:
    """Train the networks of one fit; for each method, the networks that serve.

    All methods share this training. Stream i initialises network i; the first stream also gives the
    order of examples.
    """
    method = methods[0]
    order, mixing = streams[0].generator("order"), streams[0].generator("mixing")
    device, seen = training.device, examples.seen
    training = replace(training, epochs=method.epochs(training.epochs))
    tensors = _Tensors(examples, device)
    is_held = examples.weights[examples.held].any()
    held_loss = partial(tensors.loss, examples.held) if is_held else None
    with own_randomness(device), torch.enable_grad():
        nets: list[nn.Module] = []
        states: list[RandomState] = []
        for stream in streams:
            seed_generators(device, int(stream.generator("weights").integers(2**63)))
            nets.append(make_net().to(device).train())
            states.append(random_state(device))  # each network draws its own dropout from here on
        set_random_state(device, states[0])
        n_steps = training.epochs * len(
            _batches(torch.arange(len(seen)), training.batch_size, nets)
        )
        if (remark := method.remark(n_steps)) is not None:
            warnings.warn(remark, RemarkWarning, stacklevel=levels_up())
        parameters = [parameter for net in nets for parameter in net.parameters()]
        optimizer = Adam(parameters, epsilon=training.epsilon, decay=method.weight_decay())
        fits = [one.begin(nets, n_steps) for one in methods]
        step = 0
        for epoch in range(training.epochs):
            permutation = torch.from_numpy(seen[order.permutation(len(seen))]).to(device)
            for rows in _batches(permutation, training.batch_size, nets):
                batch = method.batch(tensors.batch(rows), mixing)
                one = len(nets) == 1
                logits = [nets[0](batch.x)] if one else _forward(nets, states, batch.x, device)
                if step == 0:
                    _check_logits(logits, batch.targets)
                losses = method.loss(logits, batch, step)
                if (penalty := method.penalty(logits, batch, step)) is not None:
                    losses = losses + penalty
                # A batch of zero weight has no loss; it still counts as a step.
                total = batch.weights.sum().clamp(min=torch.finfo(torch.float32).tiny)
                loss = (losses * batch.weights).sum() / total
                if not math.isfinite(loss.item()):
                    raise DivergedError(f"loss is {loss.item()} at step {step} (epoch {epoch + 1})")
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step(training.learning_rate * method.learning_rate(step / n_steps))
                for fit in fits:
                    fit.after_step(step)
                step += 1
            for fit in fits:
                fit.after_epoch(held_loss)
            on_epoch()
    for fit in fits:
        fit.finish(partial(tensors.loss, seen))
    served = [fit.served() for fit in fits]
    if not all(bool(p.isfinite().all()) for own in served for net in own for p in net.parameters()):
        raise DivergedError(f"weights are not finite after step {step - 1}, the last")
    return [[net.eval() for net in own] for own in served]


def _batches(rows: Tensor, size: int, nets: list[nn.Module]) -> Sequence[Tensor]:
    """Split an epoch's rows into batches; batch norm skips a last batch of one example.

    A single example has no deviation, and torch refuses it. In each epoch it is a different one.
    """
    batches = torch.split(rows, size)
    is_alone = len(batches) > 1 and len(batches[0]) > 1 and len(batches[-1]) == 1
    normalises = (isinstance(part, _BatchNorm) for net in nets for part in net.modules())
    return batches[:-1] if is_alone and any(normalises) else batches


def _forward(
    nets: list[nn.Module], states: list[RandomState], x: Tensor, device: str
) -> list[Tensor]:
    """Logits of networks in tandem; each draws its dropout as if trained on its own."""
    logits = []
    for number, net in enumerate(nets):
        set_random_state(device, states[number])
        logits.append(net(x))
        states[number] = random_state(device)
    return logits


def _check_logits(logits: list[Tensor], targets: Tensor) -> None:
    """Refuse a network whose output has the wrong shape, which might be broadcast silently."""
    for output in logits:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        if shape != tuple(targets.shape):
            raise InputError(
                f"the network must give logits of shape {tuple(targets.shape)} "
                f"(batch, classes), not {shape}"
            )


def as_tensor(array: Array) -> Tensor:
    """A tensor that shares an array's memory; it is only read, so the array may be read-only."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)
