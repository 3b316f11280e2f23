"""The only training loop. It knows no method by name; `[hook]` marks what a method may change.

fit_run, one run of a setting:
    for member in [hook] method.members():
        targets = [hook] member.targets(one-hot labels, reference)
        extras  = [hook] member.extras(reference)
                  where reference.logits are those of a plain fit, trained only if asked for
        rows    = [hook] member.sample(rng, n), or all
        train [hook] member.n_nets networks on them:
            fit = [hook] member.begin(networks, number of steps)
            for each epoch, for each batch of a fresh permutation:
                batch = [hook] member.batch(x, targets, weights, rows, extras)
                loss  = [hook] member.loss(logits, batch, step) + [hook] member.penalty(…)
                one step of Adam on the weighted mean, at [hook] member.learning_rate(progress)
                [hook] fit.after_step(step)
            networks = [hook] fit.served()
    probabilities = mean over the members of [hook] member.probabilities(logits of their networks)

Where random numbers come from: `streams.py`. Everything runs on one thread: the same bytes on any
number of cores, and the fastest way on a CPU is one process per core anyway.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.methods import Batch, Control, Method, Reference
from unchurn.training.config import Training
from unchurn.training.determinism import (
    RandomState,
    one_thread,
    own_randomness,
    random_state,
    seed_generators,
    set_random_state,
)
from unchurn.training.learners.base import (
    DivergedError,
    RemarkWarning,
    check_neighbours,
    score_distinct,
)
from unchurn.training.networks import Factory
from unchurn.training.streams import Stream, member_fits, reference_stream

SCORING_BATCH = 2048
OnEpoch = Callable[[], None]


@dataclass(frozen=True)
class Fitted:
    """A trained run: the networks of every member, ready to predict."""

    method: Method
    members: list[list[nn.Module]]
    device: str = "cpu"

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities, averaged over the members."""
        with one_thread(), torch.no_grad():
            each = [
                method.probabilities(_score(nets, x, self.device))
                for method, nets in zip(self.method.members(), self.members, strict=True)
            ]
            # Added one by one: a sum over a stack would depend on a row's place in it.
            mean: Float32 = (reduce(torch.add, each) / len(each)).cpu().numpy()
        return mean

    def logits(self, x: Array) -> Float32:
        """(n, L) logits of the network that serves; of several members, the log of their mean."""
        if len(self.members) > 1:
            tiny = np.finfo(np.float32).tiny
            return np.asarray(np.log(self.probabilities(x).clip(min=tiny)), np.float32)
        with one_thread(), torch.no_grad():
            logits: Float32 = _score(self.members[0][:1], x, self.device)[0].cpu().numpy()
        return logits


def fit_run(
    method: Method,
    factory: Factory,
    x: Float32,
    y: npt.NDArray[np.integer],
    n_classes: int,
    *,
    training: Training,
    seed: int,
    run: int = 0,
    fit: int = 0,
    weights: Float32 | None = None,
    reference: Reference | None = None,
    on_epoch: OnEpoch = lambda: None,
) -> Fitted:
    """Train one run of a method; see the top of this file.

    Parameters
    ----------
    x, y, n_classes
        Inputs (n, *shape) as the network takes them, and their class numbers.
    seed, run, fit
        Decide every random draw; runs of one seed share none, except a fixed reference. `fit` is
        that of the first stream, other than 0 only for a further fit of the run.
    weights
        Of the examples; all equal if not given.
    reference
        What is known of the reference. If not given, a plain fit, if the method asks for one.
    on_epoch
        Called after every epoch of every network trained.
    """
    n, shape = len(x), tuple(x.shape[1:])
    weights = np.ones(n, np.float32) if weights is None else weights.astype(np.float32)
    one_hot = np.eye(n_classes, dtype=np.float32)[y]

    made: list[nn.Module] = []

    def make() -> nn.Module:
        net = factory(shape, n_classes)
        if any(net is other for other in made):
            raise InputError(
                "module gave the same network twice: it must make a new one at each call"
            )
        made.append(net)
        return net

    def train(what: Method, known: Reference, streams: list[Stream]) -> list[nn.Module]:
        data = _Data(x, what.targets(one_hot, known), weights, what.extras(known))
        rows = what.sample(streams[0].generator("sample"), n)
        return _train(what, make, data, rows, training, streams, on_epoch)

    def reference_logits() -> Float32:
        plain, stream = Control(), reference_stream(method, seed, run)
        nets = train(plain, known, [stream])
        return score_distinct(Fitted(plain, [nets], training.device), x)

    check_neighbours(method, n)  # before training a reference
    known = reference or Reference(reference_logits, y)
    fits = member_fits(method, fit)
    with one_thread():
        members = [
            train(member, known, [Stream(seed, run, number) for number in numbers])
            for member, numbers in zip(method.members(), fits, strict=True)
        ]
    return Fitted(method, members, training.device)


@dataclass(frozen=True)
class _Data:
    """What a fit trains on, a row per example."""

    x: Float32
    targets: Float32
    weights: Float32
    extras: dict[str, Float32]


def _train(
    method: Method,
    make_net: Callable[[], nn.Module],
    data: _Data,
    rows: npt.NDArray[np.integer] | None,
    training: Training,
    streams: list[Stream],
    on_epoch: OnEpoch,
) -> list[nn.Module]:
    """Train the networks of one member, network i initialised by stream i; order by the first."""
    order, mixing = streams[0].generator("order"), streams[0].generator("mixing")
    device = training.device
    seen = np.arange(len(data.x)) if rows is None else np.asarray(rows)
    n_steps = training.n_steps(len(seen))
    if (remark := method.remark(n_steps)) is not None:
        warnings.warn(remark, RemarkWarning, stacklevel=3)
    x, targets, weights = (_tensor(a).to(device) for a in (data.x, data.targets, data.weights))
    extras = {name: _tensor(array).to(device) for name, array in data.extras.items()}
    with own_randomness(device), torch.enable_grad():
        nets: list[nn.Module] = []
        states: list[RandomState] = []
        for stream in streams:
            seed_generators(device, int(stream.generator("weights").integers(2**63)))
            nets.append(make_net().to(device).train())
            states.append(random_state(device))  # each network goes on with its own dropout
        set_random_state(device, states[0])
        parameters = [p for net in nets for p in net.parameters()]
        optimizer = torch.optim.Adam(
            parameters, lr=training.learning_rate, eps=training.epsilon, fused=True
        )
        fit = method.begin(nets, n_steps)
        step = 0
        for epoch in range(training.epochs):
            permutation = torch.from_numpy(seen[order.permutation(len(seen))]).to(device)
            for numbers in torch.split(permutation, training.batch_size):
                batch = Batch(
                    x=x.index_select(0, numbers),
                    targets=targets.index_select(0, numbers),
                    weights=weights.index_select(0, numbers),
                    rows=numbers,
                    extras={name: e.index_select(0, numbers) for name, e in extras.items()},
                )
                batch = method.batch(batch, mixing)
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
                rate = training.learning_rate * method.learning_rate(step / n_steps)
                optimizer.param_groups[0]["lr"] = rate
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                fit.after_step(step)
                step += 1
            on_epoch()
    served = fit.served()
    if not all(bool(p.isfinite().all()) for net in served for p in net.parameters()):
        raise DivergedError(f"weights are not finite after step {step - 1}, the last")
    return [net.eval() for net in served]


def _forward(
    nets: list[nn.Module], states: list[RandomState], x: Tensor, device: str
) -> list[Tensor]:
    """Logits of networks in tandem, each drawing its dropout as it would on its own."""
    logits = []
    for number, net in enumerate(nets):
        set_random_state(device, states[number])
        logits.append(net(x))
        states[number] = random_state(device)
    return logits


def _check_logits(logits: list[Tensor], targets: Tensor) -> None:
    """Refuse a network whose output would be broadcast into nonsense."""
    for output in logits:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        if shape != tuple(targets.shape):
            raise InputError(
                f"the network must give logits of shape {tuple(targets.shape)} "
                f"(batch, classes), not {shape}"
            )


def _score(nets: list[nn.Module], x: Array, device: str) -> list[Tensor]:
    """Logits of each network, in batches."""
    inputs = _tensor(np.ascontiguousarray(x, np.float32))
    batches = [batch.to(device) for batch in torch.split(inputs, SCORING_BATCH)]
    logits = [torch.cat([net(batch) for batch in batches]) for net in nets]
    if not all(bool(output.isfinite().all()) for output in logits):
        raise DivergedError("the trained network gives logits that are not finite")
    return logits


def _tensor(array: Array) -> Tensor:
    """A tensor on an array's own memory; it is only read, so it may be a read-only memory map."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)
