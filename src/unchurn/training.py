"""The only training loop. It knows no method by name; `[hook]` marks what a method may change.

fit_run, one run of a setting:
    targets = [hook] method.targets(one-hot labels, reference)
              where reference.logits are those of a plain fit, trained only if asked for
    for member in range([hook] method.n_members):
        train [hook] method.n_nets networks on the targets:
            [hook] method.plan(number of steps)
            for each epoch, for each batch of a fresh permutation:
                x, t, w = [hook] method.batch(x, t, w, rng)
                losses = [hook] method.loss([net(x) for net in nets], t, step)
                one step of Adam on the mean of the losses, weighted by w
    probabilities = mean over the members of [hook] method.probabilities(logits of their nets)

Randomness comes from streams. Stream (r, j) is the initialisation and batch order of one plain fit,
the j-th of run r. Every setting's own fit in run r is stream (r, 0), so settings are paired by run.
The reference of run r is stream (r, 1); a fixed one is (0, 1). Member j of an ensemble is stream
(r, j), and so are the weights of co-distillation's j-th network. Everything runs on one thread: the
same bytes on any number of cores, and the fastest way on a CPU is one process per core anyway.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from unchurn.arrays import Array, distinct_rows
from unchurn.errors import InputError
from unchurn.methods import Control, Method, Reference
from unchurn.models import Factory

Float32 = npt.NDArray[np.float32]
SCORING_BATCH = 2048
OnEpoch = Callable[[], None]


class DivergedError(RuntimeError):
    """The loss of a run became infinite or NaN."""


@dataclass(frozen=True)
class Training:
    """How networks are trained; the defaults are the paper's where it gives them."""

    epochs: int = 20
    batch_size: int = 128
    learning_rate: float = 0.001
    epsilon: float = 1e-7  # of Adam; the paper's framework's default, not torch's
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch_size < 1:
            raise InputError("epochs and batch_size must be at least 1")
        if not (self.learning_rate > 0 and self.epsilon > 0):
            raise InputError("learning_rate and epsilon must be above 0")

    def n_steps(self, n: int) -> int:
        """Steps that training on n examples takes; the last, partial batch of an epoch counts."""
        return self.epochs * math.ceil(n / self.batch_size)


@dataclass(frozen=True)
class Stream:
    """The random numbers of one plain fit: the `fit`-th of run `run` under a seed."""

    seed: int
    run: int
    fit: int

    def generator(self, purpose: str) -> np.random.Generator:
        """Independent random numbers for each purpose: weights, order or mixing."""
        key = (self.run, self.fit, ("weights", "order", "mixing").index(purpose))
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


@dataclass(frozen=True)
class Fitted:
    """A trained run: the networks of every member, ready to predict."""

    method: Method
    members: list[list[nn.Module]]
    device: str = "cpu"

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities, averaged over the members."""
        with one_thread(), torch.no_grad():
            total = sum(
                self.method.probabilities(_score(nets, x, self.device)) for nets in self.members
            )
            mean: Float32 = (total / len(self.members)).cpu().numpy()  # type: ignore[union-attr]
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
        that of the first stream, other than 0 only for a further plain fit of the run.
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

    def train(what: Method, targets: Float32, streams: list[Stream]) -> list[nn.Module]:
        make = lambda: factory(shape, n_classes)  # noqa: E731
        return _train(what, make, x, targets, weights, training, streams, on_epoch)

    def reference_logits() -> Float32:
        stream = reference_stream(method, seed, run)
        plain = Control()
        return score_distinct(Fitted(plain, [train(plain, one_hot, [stream])], training.device), x)

    with one_thread():
        targets = method.targets(one_hot, reference or Reference(reference_logits, y))
        members = [
            train(
                method, targets, [Stream(seed, run, fit + m + net) for net in range(method.n_nets)]
            )
            for m in range(method.n_members)
        ]
    return Fitted(method, members, training.device)


def reference_stream(method: Method, seed: int, run: int) -> Stream:
    """The stream of the plain fit that is a method's reference in a run."""
    return Stream(seed, 0 if method.reference_is_fixed else run, 1)


class Predictor(Protocol):
    """What is trained, of whatever framework."""

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities."""

    def logits(self, x: Array) -> Float32:
        """(n, L) logits."""


def score_distinct(fitted: Predictor, x: Float32) -> Float32:
    """Logits of x, each distinct input scored once: equal inputs have equal logits, to the bit."""
    distinct, which = distinct_rows(x.reshape(len(x), -1))
    return fitted.logits(distinct.reshape(-1, *x.shape[1:]))[which]


def _train(
    method: Method,
    make_net: Callable[[], nn.Module],
    x: Float32,
    targets: Float32,
    weights: Float32,
    training: Training,
    streams: list[Stream],
    on_epoch: OnEpoch,
) -> list[nn.Module]:
    """Train the networks of one member, network i initialised by stream i; order by the first."""
    order, mixing = streams[0].generator("order"), streams[0].generator("mixing")
    method.plan(training.n_steps(len(x)))
    inputs, labels, importance = (
        torch.from_numpy(array).to(training.device) for array in (x, targets, weights)
    )
    with torch.random.fork_rng(_cuda_devices(training.device)):
        nets: list[nn.Module] = []
        for stream in reversed(streams):  # the first is built last: its seed governs any dropout
            torch.manual_seed(int(stream.generator("weights").integers(2**63)))
            nets.insert(0, make_net().to(training.device).train())
        parameters = [p for net in nets for p in net.parameters()]
        optimizer = torch.optim.Adam(
            parameters, lr=training.learning_rate, eps=training.epsilon, fused=True
        )
        step = 0
        for epoch in range(training.epochs):
            permutation = torch.from_numpy(order.permutation(len(x))).to(training.device)
            for batch in torch.split(permutation, training.batch_size):
                xb, tb, wb = method.batch(inputs[batch], labels[batch], importance[batch], mixing)
                losses = method.loss([net(xb) for net in nets], tb, step)
                # A batch of zero weight has no loss; it still counts as a step.
                loss = (losses * wb).sum() / wb.sum().clamp(min=torch.finfo(wb.dtype).tiny)
                if not math.isfinite(loss.item()):
                    raise DivergedError(f"loss is {loss.item()} at step {step} (epoch {epoch + 1})")
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                step += 1
            on_epoch()
    return [net.eval() for net in nets]


def _score(nets: list[nn.Module], x: Array, device: str) -> list[Tensor]:
    """Logits of each network, in batches."""
    inputs = torch.from_numpy(np.ascontiguousarray(x, np.float32))
    batches = [batch.to(device) for batch in torch.split(inputs, SCORING_BATCH)]
    return [torch.cat([net(batch) for batch in batches]) for net in nets]


def _cuda_devices(device: str) -> list[int]:
    """The GPUs whose random state is ours to restore."""
    kind = torch.device(device)
    return [kind.index or 0] if kind.type == "cuda" else []


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold torch to one thread, then give back what was set."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
